/**
 * From the probability of speech in each window to spans of speech, as Silero's `get_speech_timestamps` makes them:
 * short bursts dropped, what is left padded.
 */
import { BurstFinder, isSpeech, type Span } from './bursts.ts'

const paddingMs = 30

/** @param probabilities one for each window of `windowMs` @param totalMs where the sound ends */
export function speechSpans(probabilities: readonly number[], windowMs: number, totalMs: number): Span[] {
  return padded(findBursts(probabilities, windowMs, totalMs).filter(isSpeech), totalMs)
}

function findBursts(probabilities: readonly number[], windowMs: number, totalMs: number): Span[] {
  const finder = new BurstFinder(windowMs)
  const bursts = probabilities.flatMap((probability) => finder.push(probability) ?? [])
  const last = finder.open
  return last === null ? bursts : [...bursts, { startMs: last.startMs, endMs: totalMs }]
}

/** Neighbours share a gap that is too short for the padding of both. */
function padded(bursts: readonly Span[], totalMs: number): Span[] {
  const room = (gapMs: number) => (gapMs < 2 * paddingMs ? gapMs / 2 : paddingMs)
  return bursts.map(({ startMs, endMs }, index) => {
    const before = bursts[index - 1]
    const after = bursts[index + 1]
    return {
      startMs: Math.round(Math.max(0, startMs - (before === undefined ? paddingMs : room(startMs - before.endMs)))),
      endMs: Math.round(Math.min(totalMs, endMs + (after === undefined ? paddingMs : room(after.startMs - endMs)))),
    }
  })
}
