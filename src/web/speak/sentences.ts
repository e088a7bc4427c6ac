/**
 * A text of any length in parts that one request takes: cut between paragraphs where possible, else between sentences,
 * and only inside a sentence that is longer than a request.
 */

/** Long enough for an even tone, short enough that progress shows. */
const usualChars = 2000

/** @param maxChars of a request, in code points @returns a text that fits as it is; no part is empty */
export function partsOf(text: string, maxChars: number): string[] {
  const whole = text.trim()
  if (lengthOf(whole) <= maxChars) return whole === '' ? [] : [whole]
  const limit = Math.min(maxChars, usualChars)
  const paragraphs = whole.split(/(?<=\n)\s*\n/)
  const pieces = paragraphs.flatMap((paragraph) => joined(sentencesOf(`${paragraph}\n`, limit), limit))
  return joined(pieces, limit).map((part) => part.trim())
}

const lengthOf = (text: string): number => [...text].length

function sentencesOf(paragraph: string, limit: number): string[] {
  const segments = new Intl.Segmenter(undefined, { granularity: 'sentence' }).segment(paragraph)
  return [...segments].flatMap(({ segment }) => (lengthOf(segment) <= limit ? [segment] : wordsOf(segment, limit)))
}

/** A sentence without an end: between words, and a word without an end anywhere. */
function wordsOf(sentence: string, limit: number): string[] {
  const words = sentence.match(/\S+\s*/g) ?? []
  const pieces = words.flatMap((word) => {
    const chars = [...word]
    const count = Math.ceil(chars.length / limit)
    return Array.from({ length: count }, (_, at) => chars.slice(at * limit, (at + 1) * limit).join(''))
  })
  return joined(pieces, limit)
}

/** As many neighbours together as the limit allows. */
function joined(pieces: readonly string[], limit: number): string[] {
  const parts: string[] = []
  let last = ''
  for (const piece of pieces) {
    if (last !== '' && lengthOf(last) + lengthOf(piece.trimEnd()) > limit) {
      parts.push(last)
      last = ''
    }
    last = last === '' ? piece : last + piece
  }
  if (last.trim() !== '') parts.push(last)
  return parts.filter((part) => part.trim() !== '')
}
