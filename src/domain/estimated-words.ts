/**
 * Times of words for a model that has none: the time of a segment is shared out among its words by their length. Good
 * enough to follow a text, not to cut sound, which the answer says.
 */
import type { TranscriptSegment, TranscriptWord } from './transcript.ts'

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })
/** Scripts that put no spaces between words. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u

/** @returns the words of the segment in order, within its times; none for a segment without text */
export function estimatedWords({ text, startMs, endMs }: TranscriptSegment): TranscriptWord[] {
  const words = text.trim().split(/\s+/).filter(Boolean).flatMap(apart)
  const total = words.reduce((sum, word) => sum + weight(word), 0)
  let before = 0
  return words.map((word) => {
    const from = before
    before += weight(word)
    const at = (share: number) => startMs + ((endMs - startMs) * share) / total
    return { text: word, startMs: at(from), endMs: at(before), probability: null }
  })
}

/** A letter of sound each, and a moment between words. */
const weight = (word: string): number => word.length + 1

/** Punctuation stays with the word before it. */
function apart(word: string): string[] {
  if (!unspaced.test(word)) return [word]
  const parts: string[] = []
  for (const { segment, isWordLike } of segmenter.segment(word)) {
    if (isWordLike === true || parts.length === 0) parts.push(segment)
    else parts[parts.length - 1] += segment
  }
  return parts
}
