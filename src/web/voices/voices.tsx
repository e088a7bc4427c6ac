/** The voices that this key may use: looked through, listened to, made, changed and deleted. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { announce } from '../parts/announce.tsx'
import { Head, Progressing } from '../parts/controls.tsx'
import { DropAnywhere } from '../parts/drop.tsx'
import { Empty } from '../parts/empty.tsx'
import { defaultVoice, setDefaultVoice } from '../parts/first-voice.ts'
import { count, counted } from '../parts/format.ts'
import { type Loaded, useLoaded, useSettled } from '../parts/loading.ts'
import type { PageProps } from '../parts/page.ts'
import type { Clip } from '../recording/recorder.ts'
import { allows } from '../session.ts'
import type { Voice } from '../speak/options.tsx'
import { VoiceCard } from './card.tsx'
import { CloneDialog } from './clone.tsx'
import { Compare } from './compare.tsx'
import { type Owner, VoiceFilters } from './filters.tsx'
import { anyVoice, fits } from './voice.ts'

/** Cards at a time: each has a picture and a sound. */
const pageSize = 60
const maxVoices = 1000
const typingMs = 250
/** While any of them is being made, all are requested together. */
const lookMs = 2000

interface VoiceList {
  data: Voice[]
  total_count: number
}

export function VoicesPage({ who }: PageProps) {
  const [owner, setOwner] = useState<Owner>('all')
  const [search, setSearch] = useState('')
  const [filters, setFilters] = useState(anyVoice)
  const [cloning, setCloning] = useState<{ clip: Clip | null } | null>(null)
  const mayChange = allows(who, 'voices')
  const sought = useSettled(search.trim(), typingMs)
  const loaded = useVoices(mayChange ? '/v1/voices' : '/v1/audio/voices', owner, sought)
  const { value, reload } = loaded
  const all = value?.data ?? []
  const voices = all.filter((voice) => fits(voice, filters))
  const open = (clip: Clip | null) => setCloning({ clip })
  return (
    <div class="page">
      <Head title="Voices" about="Voices from your installed models, shared voices, and your own.">
        {mayChange ? (
          <button class="primary" onClick={() => open(null)}>
            Clone a voice
          </button>
        ) : null}
      </Head>
      <VoiceFilters
        owner={owner}
        onOwner={setOwner}
        search={search}
        onSearch={setSearch}
        filters={filters}
        onFilters={setFilters}
        voices={all}
      />
      <Progressing of={[loaded]} />
      {value !== null && voices.length === 0 ? (
        <None isOwn={owner === 'me'} sought={sought} onClone={mayChange ? () => open(null) : null} />
      ) : null}
      <Cards who={who} voices={voices} isLoaded={value !== null} onChanged={reload} />
      {mayChange && cloning === null ? (
        <DropAnywhere says="Drop a recording to clone its voice" onFile={(file) => open({ file, name: file.name })} />
      ) : null}
      {cloning === null ? null : (
        <CloneDialog
          given={cloning.clip}
          onClose={() => {
            setCloning(null)
            reload()
          }}
        />
      )}
    </div>
  )
}

interface CardsProps extends PageProps {
  voices: readonly Voice[]
  isLoaded: boolean
  onChanged: () => void
}

/** Those that were found, some at a time, with the two that are compared above them. */
function Cards({ who, voices, isLoaded, onChanged }: CardsProps) {
  const [limit, setLimit] = useState(pageSize)
  const [first, setFirst] = useState(defaultVoice(who.account.id))
  const [compared, setCompared] = useState<readonly Voice[]>([])
  const makeDefault = ({ voice_id: id, name }: Voice) => {
    setDefaultVoice(who.account.id, id)
    setFirst(id)
    announce(`${name} is the voice that Speak begins with, in this browser.`)
  }
  const isCompared = (voice: Voice) => compared.some(({ voice_id: id }) => id === voice.voice_id)
  const compare = (voice: Voice) =>
    setCompared((before) =>
      isCompared(voice) ? before.filter(({ voice_id: id }) => id !== voice.voice_id) : [...before.slice(-1), voice],
    )
  const shown = Math.min(limit, voices.length)
  return (
    <>
      {compared.length === 0 ? null : <Compare voices={compared} onClose={() => setCompared([])} />}
      <p class="hint" role="status">
        {isLoaded && shown > 0 ? foundOf(shown, voices.length) : ''}
      </p>
      <div class="grid">
        {voices.slice(0, limit).map((voice) => (
          <VoiceCard
            key={voice.voice_id}
            voice={voice}
            mayUse={allows(who, 'tts')}
            mayChange={allows(who, 'voices')}
            mayPublish={who.account.is_admin}
            isDefault={voice.voice_id === first}
            onDefault={() => makeDefault(voice)}
            isCompared={isCompared(voice)}
            onCompare={() => compare(voice)}
            onChanged={onChanged}
          />
        ))}
      </div>
      {voices.length > limit ? (
        <div class="row">
          <button onClick={() => setLimit(limit + pageSize)}>Show more</button>
        </div>
      ) : null}
    </>
  )
}

interface NoneProps {
  isOwn: boolean
  sought: string
  onClone: (() => void) | null
}

const None = ({ isOwn, sought, onClone }: NoneProps) =>
  isOwn && sought === '' ? (
    <Empty
      title="You have no voices of your own yet"
      action={onClone === null ? undefined : <button onClick={onClone}>Clone a voice</button>}
    >
      A clip of about ten seconds makes one. Record it here, or drop a file on this page.
    </Empty>
  ) : (
    <Empty title={sought === '' ? 'No voice fits' : `No voice matches “${sought}”`}>
      Try another word, or fewer filters.
    </Empty>
  )

/** Reloaded while any of them is being made; announces the result. */
function useVoices(path: string, owner: string, sought: string): Loaded<VoiceList> {
  const all = { owner, limit: String(maxVoices), compat: '0', ...(sought === '' ? {} : { search: sought }) }
  const query = new URLSearchParams(all)
  const [isMaking, setIsMaking] = useState(false)
  const loaded = useLoaded<VoiceList>(`${path}?${query}`, isMaking ? lookMs : 0)
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

const foundOf = (shown: number, all: number): string =>
  `${shown < all ? `${count(shown)} of ` : ''}${counted(all, 'voice')}`
