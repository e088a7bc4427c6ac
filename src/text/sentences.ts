/**
 * Finds where a text may be cut so that each part can be spoken separately: after sentences. This is for text that is
 * still being written, and for text longer than one request may be.
 */
import { countChars } from '../domain/charge.ts'
import { standsBeforeName } from './abbreviations.ts'

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' })

/** Whether there is a mark in it that could end a sentence. */
export const mayEndSentence = (text: string): boolean => /[.!?…。！？\n]/.test(text)

/** The segmenter cuts behind every full stop that a capital follows. */
function endsSentence(segment: string): boolean {
  if (/\n\s*$/.test(segment)) return true
  if (!/[.!?…。！？]["'”’)\]]*\s*$/.test(segment)) return false
  const [, word] = /([\p{L}\p{N}]+)\.\s*$/u.exec(segment) ?? []
  return word === undefined || !(standsBeforeName(word) || /^(\d+|\p{Lu})$/u.test(word))
}

/** Ends of sentences in UTF-16 units, the end of the text not among them unless `isWhole`. */
function ends(text: string, isWhole: boolean): number[] {
  const found: number[] = []
  for (const { index, segment } of segmenter.segment(text)) {
    const end = index + segment.length
    if (end === text.length ? isWhole : endsSentence(segment)) found.push(end)
  }
  return found
}

/** @returns how much of a text that still grows is whole sentences, in UTF-16 units; the last one is still open */
export const wholeSentences = (text: string): number => ends(text, false).at(-1) ?? 0

/**
 * The text in parts of whole sentences, joined as far as they fit. A sentence that is longer than that is cut between
 * words, and a word between characters.
 * @param maxChars code points, at least 1
 */
export function* parts(text: string, maxChars: number): Generator<string> {
  let from = 0
  let to = 0
  let chars = 0
  for (const end of ends(text, true)) {
    const more = countChars(text.slice(to, end))
    if (chars > 0 && chars + more > maxChars) {
      yield text.slice(from, to)
      from = to
      chars = 0
    }
    to = end
    chars += more
    while (chars > maxChars) {
      const cut = cutBehind(text, from, maxChars)
      yield text.slice(from, cut)
      chars -= countChars(text.slice(from, cut))
      from = cut
    }
  }
  if (from < text.length) yield text.slice(from)
}

/** In UTF-16 units, after the last space that fits. Looks no further than it must: the rest may be long. */
function cutBehind(text: string, from: number, maxChars: number): number {
  let to = from
  for (let chars = 0; chars < maxChars; chars++) to += (text.codePointAt(to) as number) > 0xffff ? 2 : 1
  const space = text.slice(from, to).lastIndexOf(' ')
  return space > (to - from) / 2 ? from + space + 1 : to
}
