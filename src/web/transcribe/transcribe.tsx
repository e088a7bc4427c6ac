/** The page that listens: a file or the microphone, and its words as they come. */
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks'
import { useLoaded } from '../parts/loading.ts'
import { Field, Head, Problem } from '../parts/controls.tsx'
import { DropAnywhere } from '../parts/drop.tsx'
import { Empty } from '../parts/empty.tsx'
import { mayAdminister } from '../session.ts'
import { SoundSource } from '../recording/sound-source.tsx'
import type { ModelRecord } from '../speak/speak.tsx'
import { TranscriptView } from './view.tsx'
import { emptyTranscript, transcribe, type Transcript } from './transcription.ts'
import type { PageProps } from '../parts/page.ts'
import type { Clip } from '../recording/recorder.ts'

const maxSeconds = 600

export function TranscribePage({ who }: PageProps) {
  const models = useLoaded<{ data: ModelRecord[] }>('/v1/models')
  const [clip, setClip] = useState<Clip | null>(null)
  const [options, setOptions] = useState({ model: '', language: '', translate: false })
  const { transcript, error, running, start, stop } = useTranscribing()
  const [heardClip, setHeardClip] = useState<Clip | null>(null)
  const listening = (models.value?.data ?? []).filter(({ task, id, root }) => isListener(task) && id === root)
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    if (clip === null || running) return
    setHeardClip(clip)
    const translate = options.translate && canTranslate(options, listening)
    start({ ...options, translate, clip, model: options.model === '' ? null : options.model })
  }
  return (
    <div class="page">
      <Head title="Transcribe" about="Turn recordings into text with timestamps." />
      {models.value !== null && listening.length === 0 ? <NoModel who={who} /> : null}
      <form class="card" onSubmit={submit}>
        <SoundSource
          clip={clip}
          onClip={setClip}
          maxSeconds={maxSeconds}
          advice="Any audio or video, even hours long."
        />
        <Options options={options} onChange={setOptions} models={listening} who={who} />
        <div class="row">
          <button class="primary" disabled={clip === null} aria-disabled={running}>
            {running ? 'Listening…' : 'Transcribe'}
          </button>
          <button type="button" disabled={!running} onClick={stop}>
            Cancel
          </button>
        </div>
        <Problem error={error} />
      </form>
      {running ? null : (
        <DropAnywhere says="Drop a recording to transcribe it" onFile={(file) => setClip({ file, name: file.name })} />
      )}
      {transcript === null || (!running && isNothing(transcript)) ? null : (
        <TranscriptView transcript={transcript} clip={heardClip} running={running} />
      )}
    </div>
  )
}

/** It ended before a word: the reason is said already. */
const isNothing = ({ text, isWhole }: Transcript): boolean => text === '' && !isWhole

const isListener = (task: string) => task === 'automatic-speech-recognition'

const NoModel = ({ who }: PageProps) =>
  mayAdminister(who) ? (
    <Empty
      title="No transcription model yet"
      action={
        <a class="button primary" href="#/models">
          Choose a model
        </a>
      }
    >
      Whisper base is a good first one: 77 MB, about a hundred languages.
    </Empty>
  ) : (
    <Empty title="No transcription model yet">The administrator of this server can install one under Models.</Empty>
  )

interface Chosen {
  model: string
  language: string
  translate: boolean
}

interface OptionsProps extends PageProps {
  options: Chosen
  onChange: (options: Chosen) => void
  models: readonly ModelRecord[]
}

/** Whether the chosen model may, or one that is chosen automatically. Until models are known, the server decides. */
const canTranslate = ({ model }: Chosen, models: readonly ModelRecord[]): boolean =>
  models.length === 0 || models.some(({ id, translates }) => translates === true && (model === '' || id === model))

const Options = ({ options, onChange, models, who }: OptionsProps) => (
  <div class="fields">
    <Field label="Model">
      {(id) => (
        <select
          id={id}
          value={options.model}
          onChange={({ currentTarget }) => onChange({ ...options, model: currentTarget.value })}
        >
          <option value="">Automatic</option>
          {models.map((model) => (
            <option key={model.id} value={model.id}>
              {model.name}
            </option>
          ))}
        </select>
      )}
    </Field>
    <Field label="Language" hint="Leave empty to detect automatically (or e.g. en)">
      {(id) => (
        <input
          id={id}
          value={options.language}
          disabled={options.translate && canTranslate(options, models)}
          maxLength={32}
          onInput={({ currentTarget }) => onChange({ ...options, language: currentTarget.value })}
        />
      )}
    </Field>
    <Translation options={options} onChange={onChange} models={models} who={who} />
  </div>
)

function Translation({ options, onChange, models, who }: OptionsProps) {
  const isPossible = canTranslate(options, models)
  const hint = useId()
  return (
    <div class="field">
      <span class="label">Translation</span>
      <label class="check">
        <input
          type="checkbox"
          checked={options.translate && isPossible}
          disabled={!isPossible}
          aria-describedby={hint}
          onChange={({ currentTarget }) => onChange({ ...options, translate: currentTarget.checked })}
        />
        into English
      </label>
      <span class="hint" id={hint}>
        {isPossible ? 'Other languages become English text.' : <HowToTranslate models={models} who={who} />}
      </span>
    </div>
  )
}

/** In one line on a phone, too: it must not move what is below it when the models are known. */
function HowToTranslate({ models, who }: Pick<OptionsProps, 'models' | 'who'>) {
  if (models.some(({ translates }) => translates === true)) return <>This model cannot. Choose Automatic.</>
  return mayAdminister(who) ? (
    <>
      No model here can. <a href="#/models">Install Whisper base</a>
    </>
  ) : (
    <>No model of this server can.</>
  )
}

/** One transcription at a time; leaving the page ends it. */
function useTranscribing() {
  const [transcript, setTranscript] = useState<Transcript | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [running, setRunning] = useState(false)
  const abort = useRef<AbortController | null>(null)
  useEffect(() => () => abort.current?.abort(), [])
  const start = (ask: Parameters<typeof transcribe>[0]) => {
    const own = new AbortController()
    abort.current = own
    setError(null)
    setTranscript(emptyTranscript)
    setRunning(true)
    void transcribe(ask, setTranscript, own.signal)
      .catch((cause: Error) => setError(own.signal.aborted ? null : cause))
      .finally(() => setRunning(false))
  }
  return useMemo(
    () => ({ transcript, error, running, start, stop: () => abort.current?.abort() }),
    [transcript, error, running],
  )
}
