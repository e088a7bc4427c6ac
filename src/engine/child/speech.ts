/**
 * An order's text as its model speaks it, with the pauses that the text asks for (child side). A pause is silence
 * between two stretches that are spoken each for itself, so it is exact for every model. A text in which nothing can be
 * said, such as an emoji alone, is a moment of silence: a program that reads a chat aloud must not fail at it.
 */
import type { SpeechInput, SpeechModel, SpokenChunk } from '../../models/architecture.ts'
import { stretches } from '../../text/pauses.ts'

const nothingSeconds = 0.1

/** @throws what the model throws */
export async function* speech(
  model: SpeechModel,
  input: SpeechInput,
  signal: AbortSignal,
): AsyncGenerator<SpokenChunk, void, void> {
  const silence = (seconds: number, coveredChars: number): SpokenChunk => ({
    pcm: new Float32Array(Math.round(seconds * model.sampleRateHz)),
    coveredChars,
  })
  let covered = 0
  let isSilent = true
  const all = stretches(input.text)
  for (const stretch of all) {
    const { text, pauseSeconds, coveredChars } = stretch
    const isLastStretch = stretch === all.at(-1)
    for await (const { isLast, isLastNext, ...chunk } of model.speak({ ...input, text }, signal)) {
      isSilent = false
      const before = covered
      const spans = chunk.spans?.map((span) => ({ ...span, end: before + span.end }))
      yield {
        ...chunk,
        coveredChars: covered + chunk.coveredChars,
        ...(spans !== undefined && { spans }),
        ...(isLast && isLastStretch && { isLast }),
        ...(isLastNext && isLastStretch && { isLastNext }),
        // The pause is there already: its stream needs no turn for it.
        ...(isLast && !isLastStretch && pauseSeconds > 0 && { rest: Promise.resolve() }),
      }
    }
    if (signal.aborted) return
    if (pauseSeconds > 0) yield silence(pauseSeconds, coveredChars)
    if (pauseSeconds > 0) isSilent = false
    covered = coveredChars
  }
  if (isSilent) yield silence(nothingSeconds, covered)
}
