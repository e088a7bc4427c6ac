/** Roman numerals: ranks of kings, counts of chapters and wars, years of films. */
import { cardinal, ordinal, roman, year } from './numbers.ts'
import { type Before, isAlphanumeric, match, type Said } from './rule.ts'

const regnal = new Set(
  (
    'Henry Louis Elizabeth Charles George Edward Richard William James Philip Paul Benedict Pius Leo Napoleon ' +
    'Catherine Peter Nicholas Alexander Ivan Frederick Friedrich Wilhelm Otto Ramses Ptolemy Mary Victor Emmanuel ' +
    'Gregory Clement Innocent Urban Francis Ferdinand Carlos Felipe Juan Olaf Harald Gustav Haakon Christian Xerxes ' +
    'Darius John Pope King Queen Robert Stephen Sixtus Julius Boniface Alfonso Leopold Albert Karl Constantine Baldwin'
  ).split(' '),
)
const sectionNames =
  'chapter part act scene section volume book phase type level stage class title article war appendix figure table ' +
  'episode season round tier mark bowl grade unit vol no'
const sections = new Set(sectionNames.split(' '))
const numberedBefore = new RegExp(`\\b(?:day|week|step|lesson|page|${sectionNames.replaceAll(' ', '|')}) $`, 'i')

/** Whether the number at `at` belongs to the word before it: "Day 1 - 30 minutes of rest". */
export const isNumbered = (text: string, at: number): boolean =>
  numberedBefore.test(text.slice(Math.max(0, at - 10), at))

/** "Henry VIII" is a rank, "Chapter IV" and "Rocky III" are counts; "II" alone is a number, too. */
export function numeralAt(text: string, at: number, word: string, before: Before): Said | null {
  const count = lowerCountAt(at, word, before) ?? centuryAt(text, at, word) ?? yearAt(at, word)
  if (count !== null) return count
  const [, written = word, owner = ''] = /^([IVXLC]+)('s)$/.exec(word) ?? []
  const end = at + word.length
  if (word === 'WW' && match(/[12](?![0-9A-Za-z])/y, text, at + 2) !== null) return { to: at + 2, words: 'World War' }
  const war = /^WW(I{1,3})$/.exec(word)?.[1]
  if (war !== undefined) return { to: end, words: `World War ${cardinal(String(war.length))}` }
  if (!/^[IVXLC]{1,7}$/.test(written) || isAlphanumeric(text[end]) || text[end] === "'") return null
  const value = roman(written)
  if (value === null) return null
  const section =
    (sections.has(before.word.toLowerCase()) && !(word === 'I' && isPronoun(text, end, before.word))) ||
    (word === 'I' && match(/(?:,| and| or) II\b/y, text, end) !== null)
  const words = cardinal(String(value)) + owner
  if (section) return { to: end, words }
  if (regnal.has(before.word) && (word !== 'I' || isRank(text, at, end)))
    return { to: end, words: `the ${ordinal(String(value))}${owner}` }
  const series = /^[A-Z][a-z]/.test(before.word) && /^[IVX]{2,}$/.test(written) && value < 40
  return series || /^(?:V|X)?I{2,3}$/.test(written) ? { to: end, words } : null
}

/** These are counted more often than they are owned. */
const counted = /(?<!\b(?:the|this|that|what|which|every|only) )\b(?:type|phase|stage|grade|tier) I$/
/** "The book I read", but neither "book I of three" nor "type I diabetes". */
const isPronoun = (text: string, end: number, before: string): boolean =>
  /^[a-z]/.test(before) &&
  !counted.test(text.slice(Math.max(0, end - 16), end)) &&
  match(/ (?!(?:of|is|was|has|to|in|on|and|or|by|at)\b)[a-z]/y, text, end) !== null

/** "Charles I of England", "King Charles I was", but not "Charles, I was". */
const isRank = (text: string, at: number, end: number): boolean =>
  match(/ of [A-Z]|[.,;)]|$/y, text, end) !== null ||
  /\b(?:King|Queen|Emperor|Empress|Pope|Tsar|Czar|Prince) [A-Z][a-z]{1,20} $/.test(text.slice(Math.max(0, at - 32), at))

/** "Scene ii": one letter may be a word. */
function lowerCountAt(at: number, word: string, before: Before): Said | null {
  if (!/^[ivx]{2,6}$/.test(word) || !sections.has(before.word.toLowerCase())) return null
  const value = roman(word.toUpperCase())
  return value === null ? null : { to: at + word.length, words: cardinal(String(value)) }
}

/** "XX century". */
function centuryAt(text: string, at: number, word: string): Said | null {
  if (!/^[IVX]{1,6}$/.test(word) || match(/ (?:century|centuries)\b/y, text, at + word.length) === null) return null
  const value = roman(word)
  return value === null ? null : { to: at + word.length, words: ordinal(String(value)) }
}

const thousands = /^(M{1,2})(CM|CD|D?C{0,3})((?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))$/
const hundreds = ['', 'C', 'CC', 'CCC', 'CD', 'D', 'DC', 'DCC', 'DCCC', 'CM']

/** "MCMXCIX"; shorter ones are words. */
function yearAt(at: number, word: string): Said | null {
  const found = word.length < 5 ? null : thousands.exec(word)
  if (found === null) return null
  const [, first, second, rest] = found as unknown as [string, string, string, string]
  const tens = rest.startsWith('XC') ? 90 + (roman(rest.slice(2)) ?? 0) : (roman(rest) ?? 0)
  const value = 1000 * first.length + 100 * hundreds.indexOf(second) + tens
  return { to: at + word.length, words: year(String(value)) }
}
