/** Everything that begins with a letter: addresses, dates, abbreviations, Roman numerals, initialisms, plain words. */
import { abbreviationAt } from './abbreviations.ts'
import { domainAt, mailAt, urlAt, versionAt } from './addresses.ts'
import { monthDateAt, monthName, weekdayAt } from './dates.ts'
import { hexAt } from './groups.ts'
import { type Around, isSpelledLower, pronounce } from './initialisms.ts'
import { codeMoneyAt, moneyAt, rupeesAt } from './money.ts'
import { decimal } from './numbers.ts'
import { placeAt } from './places.ts'
import { numeralAt } from './roman.ts'
import { type Before, isAlphanumeric, isDigit, match, type Said } from './rule.ts'
import { expiresAt } from './short-dates.ts'
import { bookAt } from './verses.ts'

const wordPattern = /[A-Za-z]+(?:'[A-Za-z]+)*/y
const plainPattern = /[a-z]+(?:'[a-z]+)?(?=[ ,;:!?]|$)/y

const wholeWords: Record<string, string> = {
  'w/o': 'without',
  's/he': 'she or he',
  'a/c': 'A C',
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

/** An eight that sounds like the end of a word; "m8" and "W8" name screws and places, too. */
const textingWords: Readonly<Record<string, string>> = { gr8: 'great', l8r: 'later', sk8: 'skate', str8: 'straight' }
const textingPattern = /(?:gr8|l8r|sk8|str8)(?![A-Za-z0-9-])/iy

/** They are said in full, some of them only before a number. */
const shortened: ReadonlySet<string> = new Set(['etc', 'exp', 'ext'])

export function wordAt(text: string, at: number, before: Before): Said | null {
  const plain = match(plainPattern, text, at)?.[0]
  if (
    plain !== undefined &&
    /[aeiou]|.y/.test(plain) &&
    !shortened.has(plain) &&
    !isSpelledLower(plain) &&
    !/^[ivx]{2,6}$/.test(plain) &&
    text[at + plain.length] !== ':'
  ) {
    return { to: at + plain.length, words: plain }
  }
  const word = (match(wordPattern, text, at) as RegExpExecArray)[0]
  const figure =
    isDigit(text[at + word.length]) || '-:'.includes(text[at + word.length] ?? ' ') ? figureAt(text, at) : null
  if (figure !== null) return figure
  // A face that laughs.
  if (/^[xX]D+$/.test(word)) return { to: at + word.length, words: '' }
  return (
    addressAt(text, at, word) ??
    signedAt(text, at, word) ??
    monthAt(text, at, word) ??
    weekdayAt(text, at, word, before) ??
    placeAt(text, at, word, before) ??
    expiresAt(text, at) ??
    bookAt(text, at, before) ??
    abbreviationAt(text, at, word, before) ??
    numeralAt(text, at, word, before) ??
    numberedAt(text, at, word) ??
    degreesAt(at, word, before) ?? {
      to: at + word.length,
      words: pronounce(word, aroundOf(text, at, at + word.length)),
    }
  )
}

/** What letters and digits make together. */
function figureAt(text: string, at: number): Said | null {
  const id = isAlphanumeric(text[at - 1]) ? null : hexAt(text, at)
  if (id !== null) return id
  const episode = episodeAt(text, at)
  if (episode !== null) return episode
  const texting = match(textingPattern, text, at)
  return texting && { to: at + texting[0].length, words: textingWords[texting[0].toLowerCase()] as string }
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

/** "20 degrees C". */
function degreesAt(at: number, word: string, before: Before): Said | null {
  if (!/^[CF]$/.test(word) || !/^degrees?$/.test(before.word)) return null
  return { to: at + 1, words: word === 'C' ? 'Celsius' : 'Fahrenheit' }
}

/** "S01E05" of a series. */
function episodeAt(text: string, at: number): Said | null {
  const found = match(/S(\d{1,2}) ?E(\d{1,3})(?![A-Za-z0-9])/y, text, at)
  if (found === null) return null
  const [season, episode] = [found[1], found[2]].map((digits) => decimal(String(Number(digits))))
  return { to: at + found[0].length, words: `season ${season} episode ${episode}` }
}

/** "v1.2", "USD 5", "US$5". */
function numberedAt(text: string, at: number, word: string): Said | null {
  const end = at + word.length
  // A match of "1v1" has no version, and neither has a "V8 engine".
  const isVersion = /^v$/i.test(word) && !isAlphanumeric(text[at - 1])
  if (isVersion && isDigit(text[end]) && match(/V\d{1,2}(?![\d.])/y, text, at) === null) {
    const number = versionAt(text, end)
    if (number !== null) return { to: number.to, words: `version ${number.words}` }
    const short = match(/\d{1,6}(?:\.\d{1,6})?(?!\d)/y, text, end)
    if (short !== null) return { to: end + short[0].length, words: `version ${decimal(short[0])}` }
  }
  if (text[end] === '$') return moneyAt(text, at)
  if (word === 'Rs') return rupeesAt(text, at)
  return codeMoneyAt(text, at, word)
}

/** The words beside one, as far as a single space parts them. */
function aroundOf(text: string, at: number, end: number): Around {
  const left = / ([A-Za-z0-9]{1,20}) $/.exec(` ${text.slice(Math.max(0, at - 22), at)}`)?.[1] ?? ''
  const right = match(/ ([A-Za-z]{1,20})/y, text, end)?.[1] ?? ''
  return { next: text[at - 1] === '&' ? '&' : text[end], left, right }
}
