/** The published CMU Pronouncing Dictionary, and the choice of its words and variants. */
import { dictionary } from 'cmu-pronouncing-dictionary'
import { inflected } from '../../src/phonemes/inflections.ts'
import { name, type Phone, parsePhones } from '../../src/phonemes/phones.ts'
import { spelled } from '../../src/phonemes/pronouncer.ts'
import { ownWords } from './own-words.ts'

const published = dictionary as Readonly<Record<string, string>>
const wordPattern = /^[a-z]+(?:'[a-z]+)*$/

const words: readonly string[] = Object.keys(published).filter((word) => wordPattern.test(word))

const spoken = (written: string): string => written.replace(/ #.*/, '')

/** Every pronunciation of a word. */
export function variants(word: string): string[] {
  const found: string[] = []
  for (let number = 1; ; number++) {
    const written = published[number === 1 ? word : `${word}(${number})`]
    if (written === undefined) return found
    found.push(spoken(written))
  }
}

/** For the model of letters: without words that are spelled out or made by a rule. */
export function trainingWords(): string[] {
  return words.filter((word) => word.length > 1 && !word.endsWith("'s") && !isSpelled(word, variants(word)[0] ?? ''))
}

/** Words and their phones, without the possessives and plurals that the rules also produce. */
export function chosenWords(): Map<string, Phone[]> {
  const chosen = new Map(words.map((word) => [word, parsePhones(preferred(word))]))
  for (const [word, written] of Object.entries(ownWords)) chosen.set(word, parsePhones(written))
  const find = (word: string) => chosen.get(word) ?? null
  const made = [...chosen].filter(([word, phones]) => {
    if (!word.endsWith('s') || Object.hasOwn(ownWords, word)) return false
    const byRule = inflected(word, find)
    return byRule !== null && alike(byRule, phones)
  })
  for (const [word] of made) chosen.delete(word)
  return chosen
}

/** The dictionary writes the weak vowels of endings as AH0 or IH0 at random. */
const alike = (one: readonly Phone[], other: readonly Phone[]): boolean => plain(one) === plain(other)
const plain = (phones: readonly Phone[]): string => phones.map(name).join(' ').replaceAll('IH0', 'AH0')

const isSpelled = (word: string, written: string): boolean =>
  written.replace(/\d/g, '') ===
  spelled(word)
    .map(({ base }) => base)
    .join(' ')

/** The variant nearest to a careful American reader; among equals, the first. */
function preferred(word: string): string {
  const [first, ...others] = variants(word).map((written) => ({ written, faults: faults(word, written) }))
  return others.reduce((best, one) => (one.faults < best.faults ? one : best), first!).written
}

const openO = /au|aw|ou|al|o(?:ss|st|ff|ft|ng|th|g)|wa[lrt]/

function faults(word: string, written: string): number {
  const has = (pattern: RegExp) => (pattern.test(`${written} `) ? 1 : 0)
  // The vowels of "cot" and "caught" are kept apart, according to their letters.
  const back = openO.test(word) ? has(/AA\d (?!R)/) : has(/AO\d (?!R)/)
  return 3 * (isSpelled(word, written) ? 1 : 0) + back + has(/HH W/) + has(/[TDNS] Y UW/) + has(/^(?:AE|AY)0/)
}
