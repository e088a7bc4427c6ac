/**
 * Finds where a text may be cut so that each part can be spoken separately: after sentences. This is for text that is
 * still being written, and for text longer than one request may be.
 */
import { countChars } from '../domain/charge.ts'
import { standsBeforeName } from './abbreviations.ts'

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' })

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
  let open = ''
  let from = 0
  for (const end of ends(text, true)) {
    const sentence = text.slice(from, end)
    from = end
    if (countChars(open) + countChars(sentence) > maxChars && open !== '') {
      yield open
      open = ''
    }
    open += sentence
    while (countChars(open) > maxChars) {
      const cut = cutBefore(open, maxChars)
      yield open.slice(0, cut)
      open = open.slice(cut)
    }
  }
  if (open !== '') yield open
}

/** In UTF-16 units, after the last space that fits. */
function cutBefore(text: string, maxChars: number): number {
  const whole = [...text].slice(0, maxChars).join('').length
  const space = text.lastIndexOf(' ', whole - 1)
  return space > whole / 2 ? space + 1 : whole
}
