/**
 * Which words were misheard, and not merely written in another way. What was said and what was heard are both written
 * out as the program reads them ("7:45" is "seven forty-five"), and words are the same when they are pronounced alike:
 * "gray" and "grey", "Sean" and "Shawn", "any more" and "anymore". It is the same for all voices.
 */
import { loadPronouncer } from '../../src/phonemes/pronouncer.ts'
import { emptyLexicon } from '../../src/text/lexicon.ts'
import { englishWords } from '../../src/text/spoken.ts'

interface Word {
  letters: string
  sounds: string
}

/** '' where there was no such word. */
export interface WordError {
  said: string
  heard: string
}

export interface Misheard {
  words: number
  errors: WordError[]
}

export type Compare = (said: string, heard: string) => Misheard

/** How many words of each side a step of the alignment takes. A compound is as often written as two words. */
const steps = [
  [1, 1],
  [1, 2],
  [2, 1],
  [1, 0],
  [0, 1],
] as const

interface Cell {
  cost: number
  step: (typeof steps)[number]
}

export async function loadCompare(): Promise<Compare> {
  const pronouncer = await loadPronouncer()
  const wordsOf = (text: string): Word[] =>
    [...englishWords(text, emptyLexicon)]
      .flatMap((word) => word.text.toLowerCase().split(/[^a-z']+/))
      .filter((letters) => /[a-z]/.test(letters))
      .map((letters) => {
        const phones = pronouncer.phones(letters, false)
        return { letters: letters.replaceAll("'", ''), sounds: phones.map(({ base }) => base).join(' ') }
      })
  return (said, heard) => {
    const [expected, found] = [wordsOf(said), wordsOf(heard)]
    return { words: expected.length, errors: errorsBetween(expected, found) }
  }
}

/** By edit distance: the least number of words that are wrong, missing or too many. */
function errorsBetween(expected: readonly Word[], found: readonly Word[]): WordError[] {
  const cells: Cell[][] = []
  for (let row = 0; row <= expected.length; row++) {
    cells.push([])
    for (let at = 0; at <= found.length; at++) {
      const ways = steps.flatMap((step) => {
        const before = cells[row - step[0]]?.[at - step[1]]
        const cost = costOf(expected.slice(row - step[0], row), found.slice(at - step[1], at))
        return before === undefined ? [] : [{ cost: before.cost + cost, step }]
      })
      const best = ways.reduce((a: Cell | null, b) => (a === null || b.cost < a.cost ? b : a), null)
      cells[row]!.push(best ?? { cost: 0, step: steps[0] })
    }
  }
  const errors: WordError[] = []
  for (let [row, at] = [expected.length, found.length]; row > 0 || at > 0;) {
    const { step } = cells[row]![at]!
    const [said, heard] = [expected.slice(row - step[0], row), found.slice(at - step[1], at)]
    if (costOf(said, heard) > 0) errors.unshift({ said: lettersOf(said), heard: lettersOf(heard) })
    ;[row, at] = [row - step[0], at - step[1]]
  }
  return errors
}

const costOf = (said: readonly Word[], heard: readonly Word[]): number =>
  joined(said, 'letters') === joined(heard, 'letters') || joined(said, 'sounds') === joined(heard, 'sounds')
    ? 0
    : Math.max(said.length, heard.length)

const joined = (words: readonly Word[], part: keyof Word): string =>
  words
    .map((word) => word[part])
    .join(' ')
    .replaceAll(' ', '')
const lettersOf = (words: readonly Word[]): string => words.map(({ letters }) => letters).join(' ')
