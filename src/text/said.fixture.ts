/** What of a text is read aloud: its words as they are spoken, the marks behind them, and where sentences end. */
import { emptyLexicon, type Lexicon } from './lexicon.ts'
import { englishWords } from './spoken.ts'

export interface Said {
  /** A sentence with its marks; one without a stop has a full one. */
  text: string
  beforeParagraph: boolean
}

export function saidOf(input: string, lexicon: Lexicon = emptyLexicon): Said[] {
  const sentences: Said[] = []
  let words: string[] = []
  for (const { text, mark, closes } of englishWords(input, lexicon)) {
    const isEnd = closes === 'sentence' || closes === 'paragraph'
    words.push(text + (isEnd && !/[.?!]/.test(mark) ? '.' : mark))
    if (!isEnd) continue
    sentences.push({ text: words.join(' '), beforeParagraph: closes === 'paragraph' })
    words = []
  }
  if (words.length > 0) sentences.push({ text: words.join(' '), beforeParagraph: false })
  return sentences.map((sentence, at) =>
    at < sentences.length - 1 ? sentence : { ...sentence, beforeParagraph: false },
  )
}

/** Its sentences in one line, with a bar between two. */
export const saidInOneLine = (input: string, lexicon?: Lexicon): string =>
  saidOf(input, lexicon)
    .map(({ text }) => text)
    .join(' | ')
