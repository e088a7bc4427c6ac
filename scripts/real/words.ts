/**
 * Word errors as papers count them: substitutions, insertions and deletions, compared with the words of the reference.
 */
import { Seeded } from '../../src/testing/seeded.ts'

/** Lower case, letters and apostrophes; figures and hyphens separate words. */
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

/** @returns a percentage */
export function rateOf(all: readonly WordErrors[]): number {
  const sum = (of: keyof WordErrors) => all.reduce((total, one) => total + one[of], 0)
  return (100 * sum('errors')) / sum('words')
}

const resamples = 2000

/**
 * How many points more one listener mishears than another on the same clips, as an interval of 95 %: the clips are
 * drawn anew, with replacement, 2,000 times (bootstrap percentiles, Efron 1979). An interval around 0 shows no
 * difference.
 * @param ours of each clip @param theirs of the same clips in the same order
 */
export function pointsMore(ours: readonly WordErrors[], theirs: readonly WordErrors[], random = new Seeded(1)) {
  const differences = Array.from({ length: resamples }, () => {
    const drawn = ours.map(() => random.whole(0, ours.length - 1))
    return rateOf(drawn.map((at) => ours[at]!)) - rateOf(drawn.map((at) => theirs[at]!))
  }).sort((a, b) => a - b)
  return { low: differences[Math.round(0.025 * resamples)]!, high: differences[Math.round(0.975 * resamples)]! }
}

/**
 * Which words have no counterpart: a best alignment has neither the same nor another word in their place.
 *
 * @returns for each word of the reference, whether it is missing
 */
export function lostWords(reference: readonly string[], heard: readonly string[]): boolean[] {
  const width = heard.length + 1
  // One byte a cell records the source of its cost: an hour has 80 million cells.
  const from = new Uint8Array((reference.length + 1) * width).fill(inserted, 1, width)
  let row = Uint32Array.from({ length: width }, (_, at) => at)
  for (const [index, word] of reference.entries()) {
    const next = new Uint32Array(width)
    next[0] = index + 1
    from[(index + 1) * width] = deleted
    for (let at = 0; at < heard.length; at++) {
      const costs = [row[at]! + (word === heard[at] ? 0 : 1), row[at + 1]! + 1, next[at]! + 1]
      const least = costs.indexOf(Math.min(...costs))
      next[at + 1] = costs[least]!
      from[(index + 1) * width + at + 1] = least
    }
    row = next
  }
  const lost = Array.from(reference, () => false)
  for (let i = reference.length, j = heard.length; i > 0 || j > 0;) {
    const step = from[i * width + j]!
    if (step !== inserted) i--
    if (step !== deleted) j--
    if (step === deleted) lost[i] = true
  }
  return lost
}

/** The source of a cell's cost; 0 is the same word or another in its place. */
const deleted = 1
const inserted = 2
