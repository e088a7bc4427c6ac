/**
 * A piece of text as the model was trained to see it, as Kyutai's pocket-tts prepares it (4.0, which gives the prepared
 * text to the tokenizer; 2.1 gives it the text as it was): one sentence or more, with a capital first and a mark last,
 * for without one the last word is often repeated or said wrongly.
 */
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

/** How many frames the model needs after the one at which it reports the end. */
export const framesAfterEos = (text: string): number => (countWords(text) <= shortWords ? 5 : 3)

const countWords = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length

function withFinalMark(text: string): string {
  const core = text.replace(/["'”’)\]» ]+$/, '')
  if (core === '' || /[.!?…]$/.test(core)) return text
  const closers = text.slice(core.length).trim()
  return /[,;:–—-]$/.test(core) ? `${core.replace(/[,;:–— -]+$/, '')}.${closers}` : `${text}.`
}
