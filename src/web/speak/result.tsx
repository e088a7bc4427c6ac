/** The result of a speech request: how fast, how long, what it cost, and the file. */
import { useEffect, useMemo } from 'preact/hooks'
import { ApiError } from '../api.ts'
import { Facts, Problem } from '../parts/controls.tsx'
import { type Progress, secondsOf, type Spoken } from './speech.ts'
import { bytes, dollars, duration } from '../parts/format.ts'

interface ResultProps {
  progress: Progress | null
  spoken: Spoken | null
}

export function SpeechResult({ progress, spoken }: ResultProps) {
  return (
    <>
      <p class="unseen" role="status">
        {inWords(progress, spoken)}
      </p>
      {progress === null && spoken === null ? null : <Result progress={progress} spoken={spoken} />}
    </>
  )
}

const Result = ({ progress, spoken }: ResultProps) => {
  const id = progress?.operationId ?? null
  return (
    <section class="card" aria-label="Result">
      <div class="row apart">
        <h2>Result</h2>
        {spoken === null ? (
          <span class="tag busy">speaking</span>
        ) : (
          <span class={spoken.isWhole ? 'tag good' : 'tag bad'}>{outcomeOf(spoken)}</span>
        )}
      </div>
      {id === null ? null : (
        <>
          <Facts facts={factsOf(progress, spoken)} />
          <p class="hint">
            Operation <code>{id}</code>
          </p>
        </>
      )}
      <Problem error={spoken?.error ?? null} />
      {spoken === null ? null : <Download spoken={spoken} />}
    </section>
  )
}

/** As recorded by the server; if nothing was admitted, as in the answer. */
function outcomeOf({ operation, error }: Spoken): string {
  if (operation !== null) return (operation.outcome ?? 'pending').replaceAll('_', ' ')
  if (error === null) return 'cancelled'
  return error instanceof ApiError && error.status > 0 ? 'refused' : 'failed'
}

/** For screen readers: once at the start and once at the end, not with every figure. */
function inWords(progress: Progress | null, spoken: Spoken | null): string {
  if (spoken === null) return progress === null ? '' : 'Speaking.'
  const seconds = secondsOf(spoken.operation)
  return `Speech ${outcomeOf(spoken)}${seconds === null ? '' : `, ${duration(seconds)} of audio`}.`
}

function factsOf(progress: Progress | null, spoken: Spoken | null): [string, string][] {
  const seconds = secondsOf(spoken?.operation ?? null)
  const took = progress?.tookMs ?? null
  const first = progress?.firstSoundMs ?? null
  return [
    ['First audio', first === null ? '…' : `${Math.round(first)} ms`],
    ['Generated in', took === null ? '…' : duration(took / 1000)],
    ['Audio', seconds === null ? bytes(progress?.receivedBytes ?? 0) : duration(seconds)],
    ['Real-time factor', seconds === null || took === null ? '…' : (took / 1000 / seconds).toFixed(3)],
    ['Charge', spoken?.operation ? dollars(spoken.operation.charged_micros) : '…'],
  ]
}

function Download({ spoken }: { spoken: Spoken }) {
  const { format } = spoken
  const url = useMemo(() => URL.createObjectURL(spoken.file), [spoken])
  useEffect(() => () => URL.revokeObjectURL(url), [url])
  if (spoken.receivedBytes === 0) return null
  const name = `myna-${spoken.operationId ?? 'speech'}${spoken.isWhole ? '' : '-incomplete'}.${format}`
  const isPlayable = format !== 'pcm'
  return (
    <div class="row">
      {isPlayable ? <audio controls src={url} aria-label="Spoken text" /> : null}
      <a class="button" href={url} download={name}>
        Download {spoken.isWhole ? '' : 'the part that arrived '}({bytes(spoken.file.size)})
      </a>
      {spoken.isWhole ? null : <span class="hint">Incomplete: it ends where the speech failed.</span>}
    </div>
  )
}
