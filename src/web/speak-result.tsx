/** What came of a speech request: how fast, how much, what it cost, and the file. */
import { useEffect, useMemo } from 'preact/hooks'
import { Facts, Problem } from './parts.tsx'
import { type Format, type Progress, secondsOf, type Spoken } from './speech.ts'
import { bytes, dollars, duration } from './words.ts'

interface ResultProps {
  progress: Progress | null
  spoken: Spoken | null
  format: Format
}

export function SpeechResult({ progress, spoken, format }: ResultProps) {
  if (progress === null && spoken === null) return null
  return (
    <section class="card" aria-label="Result" aria-live="polite">
      <div class="row apart">
        <h2>Result</h2>
        <Outcome spoken={spoken} />
      </div>
      <Facts facts={factsOf(progress, spoken)} />
      <p class="hint">
        Operation <code>{progress?.operationId ?? '…'}</code>
      </p>
      <Problem error={spoken?.error ?? null} />
      {spoken === null ? null : <Download spoken={spoken} format={format} />}
    </section>
  )
}

function Outcome({ spoken }: { spoken: Spoken | null }) {
  if (spoken === null) return <span class="tag busy">speaking</span>
  const outcome = spoken.operation?.outcome ?? 'unknown'
  return <span class={spoken.isWhole ? 'tag good' : 'tag bad'}>{outcome.replaceAll('_', ' ')}</span>
}

function factsOf(progress: Progress | null, spoken: Spoken | null): [string, string][] {
  const seconds = secondsOf(spoken?.operation ?? null)
  const took = progress?.tookMs ?? null
  const first = progress?.firstSoundMs ?? null
  return [
    ['First sound', first === null ? '…' : `${Math.round(first)} ms`],
    ['Made in', took === null ? '…' : duration(took / 1000)],
    ['Audio', seconds === null ? bytes(progress?.receivedBytes ?? 0) : duration(seconds)],
    ['Real-time factor', seconds === null || took === null ? '…' : (took / 1000 / seconds).toFixed(3)],
    ['Charge', spoken?.operation ? dollars(spoken.operation.charged_micros) : '…'],
  ]
}

function Download({ spoken, format }: { spoken: Spoken; format: Format }) {
  const url = useMemo(() => URL.createObjectURL(spoken.file), [spoken])
  useEffect(() => () => URL.revokeObjectURL(url), [url])
  if (spoken.file.size === 0) return null
  const name = `myna-${spoken.operationId ?? 'speech'}${spoken.isWhole ? '' : '-incomplete'}.${format}`
  const isPlayable = format !== 'pcm'
  return (
    <div class="row">
      {isPlayable ? <audio controls src={url} aria-label="What was spoken" /> : null}
      <a class="button" href={url} download={name}>
        Download {spoken.isWhole ? '' : 'what there is '}({bytes(spoken.file.size)})
      </a>
      {spoken.isWhole ? null : <span class="hint">Incomplete: the operation did not complete.</span>}
    </div>
  )
}
