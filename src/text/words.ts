/** Everything that begins with a letter: addresses, dates, abbreviations, Roman numerals, initialisms, plain words. */
import { abbreviationAt } from './abbreviations.ts'
import { domainAt, mailAt, urlAt, versionAt } from './addresses.ts'
import { monthDateAt, monthName, weekdayAt } from './dates.ts'
import { type Around, isSpelledLower, pronounce } from './initialisms.ts'
import { codeMoneyAt, moneyAt } from './money.ts'
import { cardinal, decimal, ordinal, roman } from './numbers.ts'
import { placeAt } from './places.ts'
import { type Before, isAlphanumeric, isDigit, match, type Said } from './rule.ts'

const wordPattern = /[A-Za-z]+(?:'[A-Za-z]+)*/y
const plainPattern = /[a-z]+(?:'[a-z]+)?(?=[ ,;:!?]|$)/y

const wholeWords: Record<string, string> = {
  'w/o': 'without',
  'w/': 'with',
  'and/or': 'and or',
  'n/a': 'N A',
  'c/o': 'care of',
  'b/c': 'because',
  'yes/no': 'yes or no',
  'he/she': 'he or she',
  'she/he': 'she or he',
  'his/her': 'his or her',
  'him/her': 'him or her',
  'she/her': 'she her',
  'he/him': 'he him',
  'km/h': 'kilometers per hour',
}

const regnal = new Set(
  (
    'Henry Louis Elizabeth Charles George Edward Richard William James Philip Paul Benedict Pius Leo Napoleon ' +
    'Catherine Peter ' +
    'Nicholas Alexander Ivan Frederick Friedrich Wilhelm Otto Ramses Ptolemy Mary Victor Emmanuel Gregory ' +
    'Clement Innocent ' +
    'Urban Francis Ferdinand Carlos Felipe Juan Olaf Harald Gustav Haakon Christian Xerxes Darius John Pope ' +
    'King Queen ' +
    'Robert Stephen Sixtus Julius Boniface Alfonso Leopold Albert Karl Constantine Baldwin'
  ).split(' '),
)
const sections = new Set(
  (
    'chapter part act scene section volume book phase type level stage class title article war appendix figure ' +
    'table episode ' +
    'season round tier mark bowl grade unit vol no'
  ).split(' '),
)

export function wordAt(text: string, at: number, before: Before): Said | null {
  const plain = match(plainPattern, text, at)?.[0]
  if (
    plain !== undefined &&
    /[aeiou]|.y/.test(plain) &&
    plain !== 'etc' &&
    !isSpelledLower(plain) &&
    text[at + plain.length] !== ':'
  ) {
    return { to: at + plain.length, words: plain }
  }
  const word = (match(wordPattern, text, at) as RegExpExecArray)[0]
  // A face that laughs.
  if (/^[xX]D+$/.test(word)) return { to: at + word.length, words: '' }
  return (
    addressAt(text, at, word) ??
    signedAt(text, at, word) ??
    monthAt(text, at, word) ??
    weekdayAt(text, at, word, before) ??
    placeAt(text, at, word, before) ??
    abbreviationAt(text, at, word, before) ??
    numeralAt(text, at, word, before) ??
    numberedAt(text, at, word) ??
    degreesAt(at, word, before) ?? {
      to: at + word.length,
      words: pronounce(word, aroundOf(text, at, at + word.length)),
    }
  )
}

function addressAt(text: string, at: number, word: string): Said | null {
  const next = text[at + word.length] ?? ' '
  if (/^(?:https?|ftp|wss?|www|mailto)$/i.test(word)) {
    const address = urlAt(text, at) ?? mailAt(text, at)
    if (address !== null) return address
  }
  if (!'.@_%+-0123456789'.includes(next)) return null
  return mailAt(text, at) ?? domainAt(text, at)
}

/** "C#", "C++", "word(s)", "w/o", "and/or". */
function signedAt(text: string, at: number, word: string): Said | null {
  const end = at + word.length
  if (text.startsWith('++', end) && !isAlphanumeric(text[end + 2])) return { to: end + 2, words: `${word} plus plus` }
  if (text[end] === '#' && word.length === 1 && !isAlphanumeric(text[end + 1]))
    return { to: end + 1, words: `${word} sharp` }
  if (text.startsWith('(s)', end) && !isAlphanumeric(text[end + 3])) return { to: end + 3, words: `${word}s` }
  if (text[end] !== '/') return null
  const slashed = match(/[A-Za-z]{1,3}\/[A-Za-z]{0,3}(?![A-Za-z0-9/])/y, text, at)?.[0]
  const words = slashed === undefined ? undefined : wholeWords[slashed.toLowerCase()]
  return words === undefined ? null : { to: at + (slashed as string).length, words }
}

function monthAt(text: string, at: number, word: string): Said | null {
  return monthName(word) === undefined ? null : monthDateAt(text, at)
}

/** "Henry VIII" is a rank, "Chapter IV" and "Rocky III" are counts; "II" alone is a number, too. */
function numeralAt(text: string, at: number, word: string, before: Before): Said | null {
  const [, written = word, owner = ''] = /^([IVXLC]+)('s)$/.exec(word) ?? []
  const end = at + word.length
  const war = /^WW(I{1,3})$/.exec(word)?.[1]
  if (war !== undefined) return { to: end, words: `World War ${cardinal(String(war.length))}` }
  if (!/^[IVXLC]{1,7}$/.test(written) || isAlphanumeric(text[end]) || text[end] === "'") return null
  const value = roman(written)
  if (value === null) return null
  const section = sections.has(before.word.toLowerCase()) || (word === 'I' && match(/, II\b/y, text, end) !== null)
  const words = cardinal(String(value)) + owner
  if (section) return { to: end, words }
  if (regnal.has(before.word) && (word !== 'I' || isRank(text, at, end)))
    return { to: end, words: `the ${ordinal(String(value))}${owner}` }
  const series = /^[A-Z][a-z]/.test(before.word) && /^[IVX]{2,}$/.test(written) && value < 40
  return series || /^(?:V|X)?I{2,3}$/.test(written) ? { to: end, words } : null
}

/** "Charles I of England", "King Charles I was", but not "Charles, I was". */
const isRank = (text: string, at: number, end: number): boolean =>
  match(/ of [A-Z]|[.,;)]|$/y, text, end) !== null ||
  /\b(?:King|Queen|Emperor|Empress|Pope|Tsar|Czar|Prince) [A-Z][a-z]{1,20} $/.test(text.slice(Math.max(0, at - 32), at))

/** "20 degrees C". */
function degreesAt(at: number, word: string, before: Before): Said | null {
  if (!/^[CF]$/.test(word) || !/^degrees?$/.test(before.word)) return null
  return { to: at + 1, words: word === 'C' ? 'Celsius' : 'Fahrenheit' }
}

/** "v1.2", "USD 5", "US$5". */
function numberedAt(text: string, at: number, word: string): Said | null {
  const end = at + word.length
  if (/^v$/i.test(word) && isDigit(text[end])) {
    const number = versionAt(text, end)
    if (number !== null) return { to: number.to, words: `version ${number.words}` }
    const short = match(/\d{1,6}(?:\.\d{1,6})?(?!\d)/y, text, end)
    if (short !== null) return { to: end + short[0].length, words: `version ${decimal(short[0])}` }
  }
  if (text[end] === '$') return moneyAt(text, at)
  return codeMoneyAt(text, at, word)
}

/** The words beside one, as far as a single space parts them. */
function aroundOf(text: string, at: number, end: number): Around {
  const left = / ([A-Za-z0-9]{1,20}) $/.exec(` ${text.slice(Math.max(0, at - 22), at)}`)?.[1] ?? ''
  const right = match(/ ([A-Za-z]{1,20})/y, text, end)?.[1] ?? ''
  return { next: text[at - 1] === '&' ? '&' : text[end], left, right }
}
