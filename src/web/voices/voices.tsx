/** The voices that this key may use: looked through, listened to, made, changed and deleted. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { announce } from '../parts/announce.tsx'
import { CloneDialog } from './clone.tsx'
import { type Loaded, useLoaded, useSettled } from '../parts/loading.ts'
import { Choice, Head, Progressing } from '../parts/controls.tsx'
import type { Voice } from '../speak/options.tsx'
import { VoiceCard } from './card.tsx'
import { count, counted } from '../parts/format.ts'
import type { PageProps } from '../parts/page.ts'

/** Cards per page: each has a picture and a sound. */
const pageSize = 60
const maxVoices = 1000
const typingMs = 250
/** While any of them is being made, all are requested together. */
const lookMs = 2000

interface VoiceList {
  data: Voice[]
  has_more: boolean
  total_count: number
}

export function VoicesPage(_props: PageProps) {
  const [owner, setOwner] = useState<'all' | 'me' | 'public'>('all')
  const [search, setSearch] = useState('')
  const [cloning, setCloning] = useState(false)
  const [limit, setLimit] = useState(pageSize)
  const sought = useSettled(search.trim(), typingMs)
  const loaded = useVoices(owner, sought, limit)
  const { value, reload } = loaded
  const voices = value?.data ?? []
  return (
    <div class="page">
      <Head title="Voices" about="Voices from your installed models, shared voices, and your own.">
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
            dir="auto"
            onInput={({ currentTarget }) => setSearch(currentTarget.value)}
          />
        </div>
      </div>
      <Progressing of={[loaded]} />
      <p class={value !== null && voices.length === 0 ? 'empty' : 'hint'} role="status">
        {value === null ? '' : foundOf(value, owner, sought)}
      </p>
      <div class="grid">
        {voices.map((voice) => (
          <VoiceCard key={voice.voice_id} voice={voice} onChanged={reload} />
        ))}
      </div>
      {value?.has_more && limit < maxVoices ? (
        <div class="row">
          <button onClick={() => setLimit(Math.min(maxVoices, limit + pageSize))}>Show more</button>
        </div>
      ) : null}
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

/** Reloaded while any of them is being made; announces the result. */
function useVoices(owner: string, sought: string, limit: number): Loaded<VoiceList> {
  const query = new URLSearchParams({ owner, limit: String(limit), ...(sought === '' ? {} : { search: sought }) })
  const [isMaking, setIsMaking] = useState(false)
  const loaded = useLoaded<VoiceList>(`/v1/voices?${query}`, isMaking ? lookMs : 0)
  const { value } = loaded
  const before = useRef<readonly Voice[]>([])
  useEffect(() => {
    const now = value?.data ?? []
    const changes = changesIn(before.current, now)
    if (changes.length > 0) announce(changes.join(' '))
    before.current = now
    setIsMaking(now.some(({ status }) => status === 'processing'))
  }, [value])
  return loaded
}

/** The results for voices that were being made, in words. */
function changesIn(before: readonly Voice[], now: readonly Voice[]): string[] {
  const made = before.filter(({ status }) => status === 'processing')
  return now.flatMap(({ voice_id: id, name, status }) => {
    if (status === 'processing' || !made.some((voice) => voice.voice_id === id)) return []
    return [status === 'ready' ? `${name} is ready.` : `${name} could not be created.`]
  })
}

function foundOf({ data, total_count: total }: VoiceList, owner: 'all' | 'me' | 'public', sought: string): string {
  if (data.length > 0) return data.length < total ? `${count(data.length)} of ${count(total)}` : counted(total, 'voice')
  if (sought !== '') return `No voice matches “${sought}”.`
  return owner === 'me' ? 'You have no voices of your own yet. A clip of about ten seconds makes one.' : 'No voices.'
}
