/** Shows how far a reading is, how it ended, and its figures for engineers, folded away. */
import { Facts, Problem } from '../parts/controls.tsx'
import { bytes, dollars, duration } from '../parts/format.ts'
import type { Reading } from './reading.ts'

interface ProgressProps {
  reading: Reading
  /** Only prepaid accounts are shown what it cost. */
  isPrepaid: boolean
}

export const ReadingProgress = ({ reading, isPrepaid }: ProgressProps) => (
  <section class="outcome" aria-label="Result">
    <p class="unseen" role="status">
      {inWords(reading)}
    </p>
    <div class="row apart">
      <span class={kinds[reading.state]}>{reading.state}</span>
      {reading.parts > 1 ? (
        <span class="hint numbers">
          {reading.done} of {reading.parts} parts
        </span>
      ) : null}
    </div>
    {reading.state === 'speaking' ? <Bar reading={reading} /> : null}
    <Problem error={reading.error} />
    <details>
      <summary class="hint">Figures</summary>
      <Facts facts={factsOf(reading, isPrepaid)} />
      <p class="hint operations">
        {reading.operationIds.length > 1 ? 'Operations' : 'Operation'}{' '}
        {reading.operationIds.map((id) => (
          <code key={id}>{id} </code>
        ))}
      </p>
    </details>
  </section>
)

const Bar = ({ reading: { parts, done } }: { reading: Reading }) => (
  <progress aria-label="Speaking" {...(parts > 1 ? { value: done, max: parts } : {})} />
)

const kinds: Readonly<Record<Reading['state'], string>> = {
  speaking: 'tag busy',
  completed: 'tag good',
  cancelled: 'tag',
  failed: 'tag bad',
  refused: 'tag bad',
}

/** For screen readers: once at the start and once at the end, not with every figure. */
function inWords({ state, seconds }: Reading): string {
  if (state === 'speaking') return 'Speaking.'
  return `Speech ${state}${seconds === 0 ? '' : `, ${duration(seconds)} of audio`}.`
}

function factsOf(reading: Reading, isPrepaid: boolean): [string, string][] {
  const { firstSoundMs, tookMs, seconds, receivedBytes, state } = reading
  const isRunning = state === 'speaking'
  return [
    ['First audio', firstSoundMs === null ? '…' : `${Math.round(firstSoundMs)} ms`],
    ['Generated in', tookMs === null ? '…' : duration(tookMs / 1000)],
    ['Audio', isRunning ? bytes(receivedBytes) : duration(seconds)],
    ['Real-time factor', tookMs === null || seconds === 0 ? '…' : (tookMs / 1000 / seconds).toFixed(3)],
    ...(isPrepaid ? [['Charge', isRunning ? '…' : dollars(reading.chargedMicros)] as [string, string]] : []),
  ]
}
