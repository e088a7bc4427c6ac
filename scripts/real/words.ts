/** Word errors as papers count them: substitutions, insertions and deletions against the words of the reference. */

/** Lower case, letters and apostrophes; figures and hyphens part words. */
export const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .replaceAll('’', "'")
    .replace(/[^a-z' ]/g, ' ')
    .split(' ')
    .filter((word) => word !== '')

export interface WordErrors {
  errors: number
  words: number
}

/** By edit distance (Levenshtein 1966), with one row of the table in memory. */
export function wordErrors(reference: string, heard: string): WordErrors {
  const [expected, found] = [wordsOf(reference), wordsOf(heard)]
  let row = Array.from({ length: found.length + 1 }, (_, at) => at)
  for (const [index, word] of expected.entries()) {
    const next = [index + 1]
    for (const [at, other] of found.entries()) {
      next.push(Math.min(row[at]! + (word === other ? 0 : 1), row[at + 1]! + 1, next[at]! + 1))
    }
    row = next
  }
  return { errors: row.at(-1)!, words: expected.length }
}

/** @returns in percent */
export function rateOf(all: readonly WordErrors[]): number {
  const sum = (of: keyof WordErrors) => all.reduce((total, one) => total + one[of], 0)
  return (100 * sum('errors')) / sum('words')
}
