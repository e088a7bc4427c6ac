/**
 * Decides whether a transcript repeats the text before it. Given that text, Whisper may write a sentence of it again
 * instead of what is said, and skip the rest of the window: where a reader said the same sentence twice within a
 * minute, the 16 seconds between were lost. The repeated text reads well, so that neither its probability nor its
 * compression ratio shows it. openai/whisper has no such check.
 */
import type { WhisperTokens } from './tokens.ts'

/** About six words: shorter sentences, such as "Yes, of course.", are said twice in any conversation. */
const minTokens = 8

/**
 * @param ids a window's tokens, with its timestamps
 * @param context the tokens of the text before it
 * @returns whether the text between two timestamps is in the context, token by token
 */
export function copies(
  ids: readonly number[],
  context: readonly number[],
  { firstTimestamp, endOfText }: Pick<WhisperTokens, 'firstTimestamp' | 'endOfText'>,
): boolean {
  const before = context.filter((id) => id < endOfText)
  let from = 0
  for (let at = 0; at <= ids.length; at++) {
    if (at < ids.length && ids[at]! < firstTimestamp) continue
    if (at - from >= minTokens && holds(before, ids.slice(from, at))) return true
    from = at + 1
  }
  return false
}

const holds = (all: readonly number[], part: readonly number[]): boolean =>
  all.some((_, at) => at + part.length <= all.length && part.every((id, index) => all[at + index] === id))
