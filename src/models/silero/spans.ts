/**
 * From the probability of speech in each window to spans of speech, by the rules and default thresholds of Silero's
 * `get_speech_timestamps` (snakers4/silero-vad, utils_vad.py): hysteresis, short gaps closed, short bursts dropped,
 * what is left padded.
 */
export interface Span {
  startMs: number
  endMs: number
}

/** Speech begins at this probability, and goes on until it is below the lower one for `minSilenceMs`. */
const enter = 0.5
const leave = 0.35
const minSpeechMs = 250
const minSilenceMs = 100
const paddingMs = 30

/** @param probabilities one for each window of `windowMs` @param totalMs where the sound ends */
export function speechSpans(probabilities: readonly number[], windowMs: number, totalMs: number): Span[] {
  const bursts = findBursts(probabilities, windowMs, totalMs)
  return padded(
    bursts.filter(({ startMs, endMs }) => endMs - startMs > minSpeechMs),
    totalMs,
  )
}

function findBursts(probabilities: readonly number[], windowMs: number, totalMs: number): Span[] {
  const bursts: Span[] = []
  let startMs: number | null = null
  let quietSinceMs: number | null = null
  for (const [index, probability] of probabilities.entries()) {
    const atMs = index * windowMs
    if (probability >= enter) {
      startMs ??= atMs
      quietSinceMs = null
    }
    if (startMs === null || probability >= leave) continue
    quietSinceMs ??= atMs
    if (atMs - quietSinceMs < minSilenceMs) continue
    bursts.push({ startMs, endMs: quietSinceMs })
    startMs = quietSinceMs = null
  }
  if (startMs !== null) bursts.push({ startMs, endMs: totalMs })
  return bursts
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
