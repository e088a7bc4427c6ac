/**
 * Turns words into segments: one for each sentence, so that subtitles and readers get what belongs together. Where the
 * model writes no marks, long pauses part; what is too long for one look is parted where the speaker breathes.
 */
import { deflateSync } from 'node:zlib'
import type { TranscriptSegment, TranscriptWord } from '../domain/transcript.ts'

export interface Word extends TranscriptWord {
  probability: number
  tokens: number[]
}

/** A sentence continues across a shorter pause. */
const maxPauseMs = 1000
const maxSegmentMs = 15_000
/** A stop behind a short word with a capital ("Mr.", "J.", "St.") ends a sentence only where there is a pause. */
const abbreviated = /^\p{Lu}\p{L}{0,3}\.$/u
const abbreviationPauseMs = 200
/** A comma makes a place as good as a pause of so much. */
const commaMs = 300
/** Neither part of a cut may have less of the words. */
const leastShare = 0.2

/** @param words of one window, in order */
export function segmentsOf(words: readonly Word[], avgLogprob: number, withWords: boolean): TranscriptSegment[] {
  const text = textOf(words)
  const compressionRatio = text === '' ? 0 : ratioOf(text)
  return sentencesOf(words)
    .flatMap(shortEnough)
    .map((sentence) => ({
      startMs: sentence[0]!.startMs,
      endMs: sentence.at(-1)!.endMs,
      text: textOf(sentence),
      seekMs: 0,
      tokens: sentence.flatMap(({ tokens }) => tokens),
      temperature: 0,
      avgLogprob,
      compressionRatio,
      noSpeechProb: 0,
      words: withWords ? sentence.map(({ tokens: _tokens, ...word }) => word) : null,
    }))
}

/** With a space before each word, so that the texts of segments can simply be joined. */
const textOf = (words: readonly Word[]): string => words.map(({ text }) => ` ${text}`).join('')

function ratioOf(text: string): number {
  const bytes = new TextEncoder().encode(text.trim())
  return bytes.length / deflateSync(bytes).length
}

function sentencesOf(words: readonly Word[]): Word[][] {
  const sentences: Word[][] = []
  for (const [index, word] of words.entries()) {
    const before = words[index - 1]
    if (before === undefined || isEnd(before, word)) sentences.push([])
    sentences.at(-1)!.push(word)
  }
  return sentences
}

function isEnd(word: Word, next: Word): boolean {
  const pauseMs = next.startMs - word.endMs
  if (pauseMs >= maxPauseMs) return true
  if (!/[.!?…]["'”’»)\]]*$/.test(word.text)) return false
  // "3.5", "e.g. this": a sentence begins with no small letter.
  if (/^\p{Ll}/u.test(next.text)) return false
  return !abbreviated.test(word.text) || pauseMs >= abbreviationPauseMs
}

function shortEnough(words: Word[]): Word[][] {
  if (words.at(-1)!.endMs - words[0]!.startMs <= maxSegmentMs || words.length < 2) return [words]
  const least = Math.max(1, Math.floor(leastShare * words.length))
  let best = { at: least, goodness: -1 }
  for (let at = least; at <= words.length - least; at++) {
    const before = words[at - 1]!
    const goodness = words[at]!.startMs - before.endMs + (/[,;:]$/.test(before.text) ? commaMs : 0)
    if (goodness > best.goodness) best = { at, goodness }
  }
  return [...shortEnough(words.slice(0, best.at)), ...shortEnough(words.slice(best.at))]
}
