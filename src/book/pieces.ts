/** A chapter in pieces of one request each, cut where a reader would take a breath. */
import { countChars } from '../domain/charge.ts'
import { parts } from '../text/sentences.ts'

export interface Piece {
  text: string
  /** The silence after it, as long as a voice would pause there. */
  pauseSeconds: number
}

const afterSentence = 0.25
const afterParagraph = 0.55
const afterChapter = 1.8

/** Code points: about a minute and a half of speech, so that progress shows and little is lost when one fails. */
const usualChars = 1500

/** @param maxChars the limit of one request, in code points @returns at least one for a text with words */
export function pieces(text: string, maxChars: number): Piece[] {
  const limit = Math.max(1, Math.min(usualChars, maxChars))
  const found: Piece[] = []
  let open = ''
  const close = () => {
    if (open !== '') found.push({ text: open, pauseSeconds: afterParagraph })
    open = ''
  }
  for (const paragraph of text.split(/\n\s*\n/)) {
    const trimmed = paragraph.trim()
    if (trimmed === '') continue
    if (countChars(open) + 2 + countChars(trimmed) > limit) close()
    if (countChars(trimmed) <= limit) {
      open = open === '' ? trimmed : `${open}\n\n${trimmed}`
      continue
    }
    for (const part of parts(trimmed, limit)) {
      if (part.trim() !== '') found.push({ text: part.trim(), pauseSeconds: afterSentence })
    }
    const last = found.at(-1)
    if (last !== undefined) last.pauseSeconds = afterParagraph
  }
  close()
  const last = found.at(-1)
  if (last !== undefined) last.pauseSeconds = afterChapter
  return found
}
