/**
 * Endings that a dictionary need not list: plurals and possessives, -ed, -ing, and a few that leave their stem alone.
 * What is looked up is the stem; the ending is added by the rules of English.
 */
import { isVowel, type Phone, parsePhones } from './phones.ts'

export type Find = (word: string) => Phone[] | null

const voiceless = new Set(['P', 'T', 'K', 'F', 'TH'])
const sibilants = new Set(['S', 'Z', 'SH', 'ZH', 'CH', 'JH'])
const doubled = /([bcdfgklmnprstvz])\1$/

/** @returns null when no stem is known */
export function inflected(word: string, find: Find): Phone[] | null {
  for (const rule of rules) {
    const found = rule(word, find)
    if (found !== null) return found
  }
  return null
}

const rules: readonly ((word: string, find: Find) => Phone[] | null)[] = [plural, past, progressive, ability, unchanged]

/** "cats", "cat's", "cats'", "boxes", "cities". */
function plural(word: string, find: Find): Phone[] | null {
  if (word.endsWith("'")) return find(word.slice(0, -1)) ?? plural(word.slice(0, -1), find)
  if (word.endsWith("'s")) {
    const owner = word.slice(0, -2)
    const stem = find(owner) ?? inflected(owner, find)
    return stem === null ? null : withS(stem)
  }
  if (word.length < 3 || !word.endsWith('s') || word.endsWith('ss')) return null
  const stem =
    find(word.slice(0, -1)) ??
    (word.length > 4 && word.endsWith('ies') ? find(`${word.slice(0, -3)}y`) : null) ??
    (word.length > 4 && /(?:s|x|z|sh|ch|o)es$/.test(word) ? find(word.slice(0, -2)) : null)
  return stem === null ? null : withS(stem)
}

/** "walked", "loved", "stopped", "cried". */
function past(word: string, find: Find): Phone[] | null {
  if (word.length < 4 || !word.endsWith('ed') || word.endsWith('eed')) return null
  const stem =
    find(word.slice(0, -1)) ??
    find(word.slice(0, -2)) ??
    (word.endsWith('ied') ? find(`${word.slice(0, -3)}y`) : null) ??
    (doubled.test(word.slice(0, -2)) ? find(word.slice(0, -3)) : null)
  return stem === null ? null : withEd(stem)
}

/** "walking", "loving", "stopping", "panicking". */
function progressive(word: string, find: Find): Phone[] | null {
  if (word.length < 5 || !word.endsWith('ing')) return null
  const stem = word.slice(0, -3)
  const found =
    (stem.length > 2 ? find(stem) : null) ??
    find(`${stem}e`) ??
    (doubled.test(stem) || stem.endsWith('ck') ? find(stem.slice(0, -1)) : null)
  return found === null ? null : [...found, ...parsePhones('IH0 NG')]
}

/** "usability", "extensibility": the stress moves to the ending. */
function ability(word: string, find: Find): Phone[] | null {
  const [, stem, vowel] = /^(.{2,})([ai])bility$/.exec(word) ?? []
  const adjective = stem === undefined ? null : (find(`${stem}${vowel}ble`) ?? unchanged(`${stem}${vowel}ble`, find))
  if (adjective === null) return null
  const root = adjective.slice(0, -4).map((phone) => (phone.stress === 1 ? { ...phone, stress: 2 as const } : phone))
  return [...root, ...parsePhones('AH0 B IH1 L AH0 T IY0')]
}

const suffixes: readonly (readonly [RegExp, string, string])[] = [
  [/less$/, '', 'L AH0 S'],
  [/ness$/, '', 'N AH0 S'],
  [/iness$/, 'y', 'N AH0 S'],
  [/ful$/, '', 'F AH0 L'],
  [/fully$/, '', 'F AH0 L IY0'],
  [/ment$/, '', 'M AH0 N T'],
  [/ally$/, '', 'L IY0'],
  [/ly$/, '', 'L IY0'],
  [/ily$/, 'y', 'AH0 L IY0'],
  [/able$/, '', 'AH0 B AH0 L'],
  [/able$/, 'e', 'AH0 B AH0 L'],
  [/er$/, '', 'ER0'],
  [/er$/, 'e', 'ER0'],
  [/est$/, '', 'AH0 S T'],
  [/ism$/, '', 'IH2 Z AH0 M'],
  [/ist$/, '', 'AH0 S T'],
  [/ship$/, '', 'SH IH0 P'],
  [/like$/, '', 'L AY2 K'],
  [/wise$/, '', 'W AY2 Z'],
]

/** Endings that do not move the stress of their stem. */
function unchanged(word: string, find: Find): Phone[] | null {
  for (const [pattern, restored, spoken] of suffixes) {
    if (!pattern.test(word) || (pattern.source === 'ally$' && !word.endsWith('ically'))) continue
    const cut = word.replace(pattern, '')
    if (cut.length < 3) continue
    const stem = find(cut + restored) ?? (doubled.test(cut) && /er|est/.test(word) ? find(cut.slice(0, -1)) : null)
    if (stem === null) continue
    const ending = parsePhones(spoken)
    // "happily": the y of the stem is the weak vowel of the ending; "simply" has no stem of its own here.
    return pattern.source === 'ily$' ? [...stem.slice(0, -1), ...ending] : [...stem, ...ending]
  }
  return null
}

export function withS(stem: readonly Phone[]): Phone[] {
  const last = (stem.at(-1) as Phone).base
  if (sibilants.has(last)) return [...stem, ...parsePhones('IH0 Z')]
  return [...stem, ...parsePhones(voiceless.has(last) ? 'S' : 'Z')]
}

export function withEd(stem: readonly Phone[]): Phone[] {
  const last = stem.at(-1) as Phone
  if (last.base === 'T' || last.base === 'D') return [...stem, ...parsePhones('IH0 D')]
  const soft = isVowel(last) || !(voiceless.has(last.base) || ['S', 'SH', 'CH'].includes(last.base))
  return [...stem, ...parsePhones(soft ? 'D' : 'T')]
}
