/** The page that speaks: a text, a voice, and what came of it in figures. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { useLoaded } from '../parts/loading.ts'
import { Head, Progressing } from '../parts/controls.tsx'
import { SpeechResult } from './result.tsx'
import { cancel, type Format, type Progress, type SpeechAsk, speak, type Spoken } from './speech.ts'
import { SpeechOptions, type Voice } from './options.tsx'
import { defaultVoice, takeChosenVoice } from '../parts/first-voice.ts'
import { count } from '../parts/format.ts'
import type { PageProps } from '../parts/page.ts'

const sample = 'The myna learns the sounds that it hears, and says them again in its own time.'

export interface ModelRecord {
  id: string
  name: string
  task: string
  root: string
  languages: string[]
  max_input_chars?: number
}

/** Typed text is kept while other pages are open, for the same key. */
let kept: { keyId: string; ask: SpeechAsk } | null = null

const fresh: SpeechAsk = { input: sample, voice: null, model: null, format: 'wav', speed: 1 }

const none: readonly Voice[] = []

/** What was typed before, by the voice that was chosen elsewhere or is the default. */
function firstAsk({ account, key }: PageProps['who']): SpeechAsk {
  const before = kept?.keyId === key.id ? kept.ask : null
  const chosen = takeChosenVoice()
  if (chosen !== null) return { ...(before ?? fresh), voice: chosen, model: null }
  return before ?? { ...fresh, voice: defaultVoice(account.id) }
}

export function SpeakPage({ who }: PageProps) {
  const voices = useLoaded<{ data: Voice[] }>('/v1/audio/voices?limit=1000')
  const models = useLoaded<{ data: ModelRecord[] }>('/v1/models')
  const [ask, setAsk] = useState<SpeechAsk>(() => firstAsk(who))
  const change = (next: SpeechAsk) => {
    kept = { keyId: who.key.id, ask: next }
    setAsk(next)
  }
  const { progress, spoken, running, start, stop } = useSpeaking()
  const speaking = (models.value?.data ?? []).filter(({ task, id, root }) => task === 'text-to-speech' && id === root)
  const maxChars = (speaking.find(({ id }) => id === ask.model) ?? speaking[0])?.max_input_chars ?? Infinity
  const chars = [...ask.input].length
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    if (!running) start(ask)
  }
  return (
    <div class="page">
      <Head title="Speak" about="Type something and listen; it plays while it is generated." />
      <form class="card" onSubmit={submit}>
        <div class="field">
          <label for="text">Text</label>
          <textarea
            id="text"
            value={ask.input}
            onInput={({ currentTarget }) => change({ ...ask, input: currentTarget.value })}
            aria-describedby="chars"
            aria-invalid={chars > maxChars}
            dir="auto"
          />
          <span id="chars" class={chars > maxChars ? 'error' : 'hint numbers'}>
            {count(chars)} {chars === 1 ? 'character' : 'characters'}
            {maxChars === Infinity ? '' : ` of ${count(maxChars)}`}
            {chars > maxChars ? `: ${count(chars - maxChars)} too many for one request` : ''}
          </span>
        </div>
        <SpeechOptions ask={ask} onChange={change} voices={voices.value?.data ?? none} models={speaking} />
        {voices.error === null && models.error === null ? null : <Progressing of={[voices, models]} />}
        <div class="row">
          <button class="primary" disabled={ask.input.trim() === '' || chars > maxChars} aria-disabled={running}>
            {running ? (spoken === null ? 'Speaking…' : 'Playing…') : 'Speak'}
          </button>
          <button type="button" disabled={!running} onClick={stop}>
            {running && spoken !== null ? 'Stop' : 'Cancel'}
          </button>
          <span class="hint">{formatHint(ask.format)}</span>
        </div>
      </form>
      <SpeechResult progress={progress} spoken={spoken} />
    </div>
  )
}

const formatHint = (format: Format): string =>
  format === 'opus' || format === 'flac' || format === 'aac'
    ? 'Browsers play this format only once it is complete.'
    : ''

/** One request at a time; leaving the page ends it. */
function useSpeaking() {
  const [progress, setProgress] = useState<Progress | null>(null)
  const [spoken, setSpoken] = useState<Spoken | null>(null)
  const [running, setRunning] = useState(false)
  const abort = useRef<AbortController | null>(null)
  useEffect(() => () => abort.current?.abort(), [])
  const start = (ask: SpeechAsk) => {
    const own = new AbortController()
    abort.current = own
    setSpoken(null)
    setProgress(null)
    setRunning(true)
    void speak(ask, (known) => setProgress({ ...known }), setSpoken, own.signal).then(() => setRunning(false))
  }
  const stop = async () => {
    if (progress?.operationId) await cancel(progress.operationId)
    abort.current?.abort()
  }
  return { progress, spoken, running, start, stop: () => void stop() }
}
