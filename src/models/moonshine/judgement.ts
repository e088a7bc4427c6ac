/**
 * Decides whether the transcript of a window was really said there. The detector has found speech in it, but Moonshine
 * also outputs text for coughs, music and other languages; its own probabilities reveal most of that.
 */
import type { Heard } from './graphs.ts'

/**
 * Of the tokens' logarithms of probability, on average. English read aloud by many readers has -0.05 to -0.32, single
 * words -0.2 to -0.45; silence and noise have -0.96 to -1.3, and Spanish, French, Italian, Portuguese and Hindi -0.77
 * to -1.66 (two sentences of each, by voices of Kokoro).
 */
const leastMeanLogProbability = -0.6
/** A text that goes round in circles until it is cut off, as Whisper's reference judges it. */
const mostCompressible = 2.4

/** @param compressionRatio of the text */
export function wasSaid({ written, isCutOff }: Heard, text: string, compressionRatio: number): boolean {
  if (!/[\p{L}\p{N}]/u.test(text)) return false
  if (meanLogProbability(written) < leastMeanLogProbability) return false
  return !(isCutOff && compressionRatio > mostCompressible)
}

export const meanLogProbability = (written: Heard['written']): number =>
  written.reduce((sum, { logProbability }) => sum + logProbability, 0) / Math.max(1, written.length)
