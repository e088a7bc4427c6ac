/** The quality of a transcript: words that were changed, left out or added, counted as is usual in the field. */
import { emptyLexicon } from '../text/lexicon.ts'
import { englishWords } from '../text/spoken.ts'

/** Words as they are read aloud, so that "7:45" and "seven forty-five" are the same; without case and marks. */
const wordsOf = (text: string): string[] =>
  Array.from(englishWords(text, emptyLexicon), (word) => word.text.toLowerCase().replace(/[^a-z0-9']/g, ' '))
    .join(' ')
    .split(' ')
    .filter((word) => word !== '')

export interface WordErrors {
  errors: number
  /** Of the spoken words. */
  words: number
}

/** The smallest number of changes that turns one into the other (Levenshtein's distance over words). */
export function wordErrors(said: string, heard: string): WordErrors {
  const expected = wordsOf(said)
  const found = wordsOf(heard)
  let row = Array.from({ length: found.length + 1 }, (_, at) => at)
  for (const [index, word] of expected.entries()) {
    const next = [index + 1]
    for (const [at, other] of found.entries()) {
      next.push(Math.min(next[at]! + 1, row[at + 1]! + 1, row[at]! + (word === other ? 0 : 1)))
    }
    row = next
  }
  return { errors: row.at(-1)!, words: expected.length }
}

/** Errors over words, for all texts together. */
export const errorRate = (all: readonly WordErrors[]): number =>
  all.reduce((sum, { errors }) => sum + errors, 0) / all.reduce((sum, { words }) => sum + words, 0)
