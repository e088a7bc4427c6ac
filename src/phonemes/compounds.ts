/**
 * Words made of words ("smartphone", "firewall") and words with a prefix ("rewrite", "unmute"), which no dictionary has
 * all of: the parts are known, and how stress is shared between them is regular. Names are not taken apart: of the
 * dictionary's own names that look like two words, the letters speak more rightly than the parts.
 */
import type { Find } from './inflections.ts'
import { type Phone, parsePhones } from './phones.ts'

const firstMin = 4
const secondMin = 3

const prefixes: readonly (readonly [string, string])[] = [
  ['anti', 'AE2 N T IY0'],
  ['auto', 'AO2 T OW0'],
  ['counter', 'K AW2 N T ER0'],
  ['cyber', 'S AY2 B ER0'],
  ['dis', 'D IH0 S'],
  ['hyper', 'HH AY2 P ER0'],
  ['inter', 'IH2 N T ER0'],
  ['mega', 'M EH2 G AH0'],
  ['micro', 'M AY2 K R OW0'],
  ['mid', 'M IH2 D'],
  ['mis', 'M IH0 S'],
  ['multi', 'M AH2 L T IY0'],
  ['nano', 'N AE2 N OW0'],
  ['non', 'N AA2 N'],
  ['over', 'OW2 V ER0'],
  ['post', 'P OW2 S T'],
  ['pre', 'P R IY2'],
  ['pseudo', 'S UW2 D OW0'],
  ['re', 'R IY2'],
  ['semi', 'S EH2 M IY0'],
  ['sub', 'S AH2 B'],
  ['super', 'S UW2 P ER0'],
  ['tele', 'T EH2 L AH0'],
  ['trans', 'T R AE2 N Z'],
  ['ultra', 'AH2 L T R AH0'],
  ['un', 'AH2 N'],
  ['under', 'AH2 N D ER0'],
]

/**
 * @param find also knows inflected words @param whole only those of the dictionary
 * @returns null if the word is not a compound
 */
export function compound(word: string, find: Find, whole: Find): Phone[] | null {
  return prefixed(word, find) ?? joined(word, find, whole)
}

function prefixed(word: string, find: Find): Phone[] | null {
  for (const [prefix, spoken] of prefixes) {
    if (!word.startsWith(prefix) || word.length - prefix.length < firstMin) continue
    const rest = find(word.slice(prefix.length))
    if (rest !== null) return [...parsePhones(spoken), ...rest]
  }
  return null
}

/** The two parts that are closest in length; the first one is an uninflected word. */
function joined(word: string, find: Find, whole: Find): Phone[] | null {
  const middle = word.length / 2
  const cuts = Array.from(
    { length: Math.max(0, word.length - firstMin - secondMin + 1) },
    (_, index) => index + firstMin,
  )
  for (const cut of cuts.sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle) || a - b)) {
    const first = whole(word.slice(0, cut))
    const second = first === null ? null : find(word.slice(cut))
    if (first === null || second === null) continue
    return [...first, ...second.map((phone) => (phone.stress === 1 ? { ...phone, stress: 2 as const } : phone))]
  }
  return null
}
