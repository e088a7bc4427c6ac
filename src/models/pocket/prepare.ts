/**
 * A piece of text as the model was trained to see it, as Kyutai's pocket-tts prepares it (4.0, which gives the prepared
 * text to the tokenizer; 2.1 gives it the text as it was): one sentence or more, with a capital first and a mark last,
 * for without one the last word is often repeated or said wrongly.
 */
import { foldCharacter } from '../../text/fold.ts'
import type { SpokenWord } from '../../text/spoken.ts'

export interface Preparation {
  /** The model of January 2026 needs length: short texts get spaces in front. */
  padShortInputs: boolean
  /** The tokenizer of some languages never saw a semicolon. */
  removeSemicolons: boolean
}

const shortWords = 4
const padding = ' '.repeat(8)

/** @param text single spaces, not empty */
export function prepare(text: string, { padShortInputs, removeSemicolons }: Preparation): string {
  const plain = removeSemicolons ? text.replaceAll(';', ',') : text
  const first = String.fromCodePoint(plain.codePointAt(0)!)
  const upper = first.toUpperCase()
  const ended = withFinalMark(upper + plain.slice(first.length))
  return padShortInputs && countWords(ended) <= shortWords ? padding + ended : ended
}

/** How many frames the model needs behind the one at which it says that it has finished. */
export const framesAfterEos = (text: string): number => (countWords(text) <= shortWords ? 5 : 3)

const countWords = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length

function withFinalMark(text: string): string {
  const core = text.replace(/["'”’)\]» ]+$/, '')
  if (core === '' || /[.!?…]$/.test(core)) return text
  const closers = text.slice(core.length).trim()
  return /[,;:–—-]$/.test(core) ? `${core.replace(/[,;:–— -]+$/, '')}.${closers}` : `${text}.`
}

/** What the model has a token for. */
export interface Vocabulary {
  knows(character: string): boolean
}

/**
 * Words without what the tokenizer could only spell in bytes, which the model has hardly ever seen: letters of
 * neighbouring languages lose their marks, a colon becomes a comma, anything else is left out.
 */
export function* knownWords(words: Iterable<SpokenWord>, vocabulary: Vocabulary): Generator<SpokenWord> {
  const known = (text: string) => Array.from(text, (char) => knownCharacter(char, vocabulary)).join('')
  let held = null as SpokenWord | null
  for (const word of words) {
    const next = { ...word, text: known(word.text), mark: known(word.mark) }
    if (next.text !== '') {
      if (held !== null) yield held
      held = next
    } else if (held !== null) {
      // What was left out still ends a sentence.
      held = { ...held, mark: held.mark || next.mark, end: next.end, closes: further(held.closes, next.closes) }
    }
  }
  if (held !== null) yield held
}

function knownCharacter(char: string, vocabulary: Vocabulary): string {
  if (vocabulary.knows(char)) return char
  if (char === ':' || char === ';') return ','
  const folded = char > '~' ? foldCharacter(char).trim() : ''
  return Array.from(folded).every((part) => vocabulary.knows(part)) ? folded : ''
}

const order: readonly SpokenWord['closes'][] = ['nothing', 'clause', 'sentence', 'paragraph']

const further = (a: SpokenWord['closes'], b: SpokenWord['closes']): SpokenWord['closes'] =>
  order.indexOf(a) > order.indexOf(b) ? a : b
