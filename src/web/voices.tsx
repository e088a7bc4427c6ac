/** The voices that this key may use: looked through, listened to, made, changed and deleted. */
import { useState } from 'preact/hooks'
import { CloneDialog } from './clone.tsx'
import type { PageProps } from './frame.tsx'
import { useLoaded } from './loading.ts'
import { Choice, Head, Problem } from './parts.tsx'
import type { Voice } from './speak-options.tsx'
import { VoiceCard } from './voice-card.tsx'

const pageSize = 200

export function VoicesPage(_props: PageProps) {
  const [owner, setOwner] = useState<'all' | 'me' | 'public'>('all')
  const [search, setSearch] = useState('')
  const [cloning, setCloning] = useState(false)
  const query = new URLSearchParams({ owner, limit: String(pageSize), ...(search === '' ? {} : { search }) })
  const { value, error, reload } = useLoaded<{ data: Voice[]; total_count?: number }>(`/v1/voices?${query}`)
  const voices = value?.data ?? []
  return (
    <div class="page">
      <Head title="Voices" about="Those of the installed models, public ones, and yours.">
        <button class="primary" onClick={() => setCloning(true)}>
          Clone a voice
        </button>
      </Head>
      <div class="row apart">
        <Choice
          label="Whose voices"
          value={owner}
          options={[
            ['all', 'All'],
            ['me', 'Yours'],
            ['public', 'Public'],
          ]}
          onChange={setOwner}
        />
        <div class="search">
          <input
            type="search"
            placeholder="Search names and labels"
            aria-label="Search voices"
            value={search}
            onInput={({ currentTarget }) => setSearch(currentTarget.value)}
          />
        </div>
      </div>
      <Problem error={error} />
      {value !== null && voices.length === 0 ? <p class="empty">{nothing(owner, search)}</p> : null}
      <div class="grid">
        {voices.map((voice) => (
          <VoiceCard key={voice.voice_id} voice={voice} onChanged={reload} />
        ))}
      </div>
      {cloning ? (
        <CloneDialog
          onClose={() => {
            setCloning(false)
            reload()
          }}
        />
      ) : null}
    </div>
  )
}

function nothing(owner: 'all' | 'me' | 'public', search: string): string {
  if (search !== '') return `No voice matches “${search}”.`
  return owner === 'me' ? 'You have no voice of your own yet. A clip of some ten seconds makes one.' : 'No voices.'
}
