/** The spoken parts of a document: a title and chapters of plain text, whatever kind of file they came from. */

export interface Chapter {
  /** Used in the chapter marks: one line, never empty. */
  title: string
  /** The whole spoken text, including its heading; an empty line separates paragraphs. */
  text: string
}

export interface Book {
  title: string | null
  author: string | null
  chapters: Chapter[]
}

/** A document that cannot be read aloud. The message explains the reason to the person who chose it. */
export class BookError extends Error {
  override readonly name = 'BookError'
}

/** About a hundred hours of speech. */
const maxTextChars = 6_000_000
/** ID3 and MP4 count chapters in one byte. */
export const maxMarks = 255

/** Drops chapters without words; returns at least one. @throws BookError when nothing can be spoken, or too much */
export function withWords(chapters: readonly Chapter[]): Chapter[] {
  const spoken = chapters.filter(({ text }) => /[\p{L}\p{N}]/u.test(text))
  if (spoken.length === 0) throw new BookError('There is no text in it to speak.')
  const length = spoken.reduce((sum, { text }) => sum + text.length, 0)
  if (length > maxTextChars) {
    throw new BookError(`It has ${length} characters of text; at most ${maxTextChars} are spoken. Split it.`)
  }
  return spoken
}

/** One line of at most 120 characters, without markup. */
export function titleOf(text: string, otherwise: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  if (line === '') return otherwise
  return line.length <= 120 ? line : `${line.slice(0, 119).trimEnd()}…`
}
