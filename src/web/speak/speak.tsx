/** The studio: a text, a voice, one button; what was spoken before stays beside it. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { BookDesk } from '../book/book-desk.tsx'
import { Head, Progressing } from '../parts/controls.tsx'
import { defaultVoice, takeChosenVoice } from '../parts/first-voice.ts'
import { count } from '../parts/format.ts'
import { Icon } from '../parts/icon.tsx'
import { useLoaded } from '../parts/loading.ts'
import type { PageProps } from '../parts/page.ts'
import { draftOf, keepDraft } from './draft.ts'
import type { Take } from './history.ts'
import { SpeechOptions, type Voice } from './options.tsx'
import { Past } from './past.tsx'
import { ReadingProgress } from './progress.tsx'
import { refusalOf } from './reading.ts'
import type { SpeechAsk } from './speech.ts'
import { useStudio } from './studio.ts'
import { charsOf, directionOf } from './typed.ts'
import { VoicePicker } from './voice-picker.tsx'

export interface ModelRecord {
  id: string
  name: string
  task: string
  root: string
  languages: string[]
  max_input_chars?: number
  /** Into English; only models that listen have it. */
  translates?: boolean
}

const none: readonly Voice[] = []
/** Of requests, unless the server says something else. */
const usualMaxChars = 4096

/** As it was left, by the voice that was chosen on another page. */
function firstAsk(accountId: string): SpeechAsk {
  const voice = takeChosenVoice()
  return voice === null ? draftOf(accountId) : { ...draftOf(accountId), voice, model: null }
}

export function SpeakPage({ who }: PageProps) {
  const voices = useLoaded<{ data: Voice[] }>('/v1/audio/voices?limit=1000')
  const models = useLoaded<{ data: ModelRecord[] }>('/v1/models')
  const [ask, setAsk] = useState<SpeechAsk>(() => firstAsk(who.account.id))
  const [isChoosing, setIsChoosing] = useState(false)
  const studio = useStudio(who.account.id)
  const change = (next: SpeechAsk) => {
    keepDraft(who.account.id, next)
    setAsk(next)
  }
  const speaking = (models.value?.data ?? []).filter(({ task, id, root }) => task === 'text-to-speech' && id === root)
  const maxChars = (speaking.find(({ id }) => id === ask.model) ?? speaking[0])?.max_input_chars ?? usualMaxChars
  const ready = useMemo(
    () => (voices.value?.data ?? none).filter(({ status, usable }) => status === 'ready' && usable),
    [voices.value],
  )
  const known = ready.filter(({ model }) => ask.model === null || model === ask.model)
  const chosen = ask.voice ?? defaultVoice(who.account.id)
  const refusal = refusalOf(ask, maxChars)
  const isReady = ask.input.trim() !== '' && refusal === null
  const voice = known.find(({ voice_id: id }) => id === chosen)
  const asked = { ...ask, voice: voice?.voice_id ?? null }
  const voiceName = voice?.name ?? 'Default voice'
  const start = () => {
    if (isReady) studio.speak(asked, voiceName, maxChars)
  }
  const again = (take: Take) => {
    change({ ...ask, input: take.text, voice: take.voiceId })
    setIsChoosing(true)
    scrollTo(0, 0)
  }
  useEscape(() => studio.cancel())
  return (
    <div class="page">
      <Head title="Speak" about="Any text, of any length. It plays while it is made." />
      <div class="split">
        <div class="page">
          <form class="card composer" onSubmit={submitting(start)}>
            <TextField ask={ask} maxChars={maxChars} onChange={change} onSpeak={start} />
            <VoicePicker
              voices={known}
              chosen={chosen}
              onChoose={(id) => change({ ...ask, voice: id })}
              isOpen={isChoosing}
              onOpen={setIsChoosing}
            />
            <SpeechOptions ask={ask} onChange={change} voices={ready} models={speaking} />
            {voices.error === null && models.error === null ? null : <Progressing of={[voices, models]} />}
            {refusal === null ? null : <p class="note">{refusal}</p>}
            <Actions isReady={isReady} isSpeaking={studio.isSpeaking} onCancel={() => studio.cancel()} />
            {studio.reading === null ? null : (
              <ReadingProgress reading={studio.reading} isPrepaid={who.account.balance_micros !== null} />
            )}
          </form>
          <BookDesk
            accountId={who.account.id}
            manner={{ voice: asked.voice, model: ask.model, speed: ask.speed }}
            voiceName={voiceName}
            maxChars={maxChars}
            onText={(input) => change({ ...ask, input })}
          />
        </div>
        <Past takes={studio.takes} onAgain={again} />
      </div>
    </div>
  )
}

const submitting = (act: () => void) => (event: SubmitEvent) => {
  event.preventDefault()
  act()
}

interface ActionsProps {
  isReady: boolean
  isSpeaking: boolean
  onCancel: () => void
}

const Actions = ({ isReady, isSpeaking, onCancel }: ActionsProps) => (
  <div class="row composer-acts">
    <button class="primary" disabled={!isReady} aria-disabled={isSpeaking}>
      <Icon name="speak" /> {isSpeaking ? 'Speaking…' : 'Speak'}
    </button>
    <button type="button" disabled={!isSpeaking} onClick={onCancel}>
      Cancel
    </button>
    <span class="hint keys">
      <kbd>Ctrl</kbd> <kbd>Enter</kbd>
    </span>
  </div>
)

interface TextProps {
  ask: SpeechAsk
  maxChars: number
  onChange: (ask: SpeechAsk) => void
  onSpeak: () => void
}

function TextField({ ask, maxChars, onChange, onSpeak }: TextProps) {
  const chars = charsOf(ask.input)
  const speakAtOnce = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    onSpeak()
  }
  return (
    <div class="field">
      <label class="unseen" for="text">
        Text
      </label>
      <textarea
        id="text"
        class="script"
        value={ask.input}
        placeholder="Type or paste what should be said, or drop a text file here."
        onInput={({ currentTarget }) => onChange({ ...ask, input: currentTarget.value })}
        onKeyDown={speakAtOnce}
        aria-describedby="chars"
        dir={directionOf(ask.input)}
      />
      <span id="chars" class="hint numbers">
        {count(chars)} {chars === 1 ? 'character' : 'characters'}
        {chars > maxChars ? ', spoken in parts and joined' : ''}
      </span>
    </div>
  )
}

/**
 * Escape ends what is running, unless a dialog takes it for itself. It is heard from the beginning: a listener that
 * came with the player would come a moment after it.
 */
function useEscape(onEscape: () => void): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && document.querySelector('dialog[open]') === null) onEscape()
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [])
}
