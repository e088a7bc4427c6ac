/** Dates, days of the week and years. A date with slashes is American unless its first number cannot be a month. */
import { mayEnd } from './abbreviations.ts'
import { ordinal, year } from './numbers.ts'
import { type Before, match, type Said } from './rule.ts'
import { timeAt } from './times.ts'

// prettier-ignore
export const months = [
  'January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November',
  'December',
]
const monthNames = new Map<string, string>(
  months.flatMap((name) => [[name.toLowerCase(), name] as const, [name.slice(0, 3).toLowerCase(), name] as const]),
)
monthNames.set('sept', 'September')

/** The month that a capitalised word names, short or long. */
export const monthName = (word: string): string | undefined =>
  /^[A-Z]/.test(word) ? monthNames.get(word.toLowerCase()) : undefined

const isoPattern = /(\d{4})([-/])(\d\d?)\2(\d\d?)(?:([T ])(?=\d\d:\d\d)|(?![\d/-]))/y
const slashPattern = /(\d{1,2})([/.])(\d{1,2})\2(\d{4}|\d\d)(?![\d/]|\.\d)/y
const dayMonthPattern = new RegExp(
  String.raw`(\d{1,2})(?:st|nd|rd|th)?(?: ?[-–] ?(\d{1,2})(?:st|nd|rd|th)?)?(?: of)? ([A-Z][a-z]{2,8})(?![A-Za-z])` +
    String.raw`(?:\.?,? (\d{4})(?!\d))?`,
  'y',
)
/** "March 3", then the last day of a range, then the year. */
const monthDayPattern = /([A-Z][a-z]{2,8})\b\.? (\d{1,2})(?:st|nd|rd|th)?(?![\d:]|[.,%]\d|[a-z])/y
const lastDayPattern =
  /(?:[-–]|\s[-–]\s(?=\d{1,2}(?:st|nd|rd|th|$|[,)])))(\d{1,2})(?:st|nd|rd|th)?(?![\d:-]|[.,%]\d|[a-z])/y
const yearPattern = /,? (\d{4})(?!\d)/y
const untilPattern = / ?[-–] ?/y

function spokenDate(monthNumber: number, day: number, yearDigits: string): string | null {
  const month = months[monthNumber - 1]
  if (month === undefined || day < 1 || day > 31) return null
  return `${month} ${ordinal(String(day))} ${year(yearDigits)}`
}

const dayWords = (digits: string): string => ordinal(String(Number(digits)))
const isDay = (digits: string): boolean => Number(digits) >= 1 && Number(digits) <= 31

/** A date that begins with a digit. */
export function dateAt(text: string, at: number): Said | null {
  const iso = match(isoPattern, text, at)
  if (iso !== null) return isoDate(iso, text, at)
  const slash = match(slashPattern, text, at)
  if (slash !== null) return slashDate(slash, at)
  const written = match(dayMonthPattern, text, at)
  if (written === null) return null
  const [whole, first, last, name, digits] = written as unknown as [string, string, string?, string?, string?]
  const month = monthName(name as string)
  if (month === undefined || !isDay(first) || (last !== undefined && !isDay(last))) return null
  const when = digits === undefined ? '' : ` ${year(digits)}`
  const article = /\bthe $/i.test(text.slice(Math.max(0, at - 5), at)) ? '' : 'the '
  const until = last === undefined ? '' : ` to the ${dayWords(last)}`
  return { to: at + whole.length, words: `${article}${dayWords(first)}${until} of ${month}${when}` }
}

function isoDate(found: RegExpExecArray, text: string, at: number): Said | null {
  const words = spokenDate(Number(found[3]), Number(found[4]), found[1] as string)
  if (words === null) return null
  const to = at + found[0].length
  const time = found[5] === undefined ? null : timeAt(text, to)
  return time === null ? { to, words } : { to: time.to, words: `${words} at ${time.words}` }
}

function slashDate(found: RegExpExecArray, at: number): Said | null {
  const first = Number(found[1])
  const second = Number(found[3])
  const digits = found[4] as string
  if (found[2] === '.' && digits.length === 2) return null
  const dayFirst = first > 12 || found[2] === '.'
  const full = digits.length === 4 ? digits : `${Number(digits) < 70 ? '20' : '19'}${digits}`
  const words = dayFirst ? spokenDate(second, first, full) : spokenDate(first, second, full)
  return words === null ? null : { to: at + found[0].length, words }
}

/** A date that begins with the name of a month: "March 15, 2024", "Mar. 3rd", "June 3-5", "Dec 2024". */
export function monthDateAt(text: string, at: number): Said | null {
  const found = match(monthDayPattern, text, at)
  const month = found === null ? undefined : monthName(found[1] as string)
  if (found === null || month === undefined || !isDay(found[2] as string)) return monthAlone(text, at)
  const said = { to: at + found[0].length, words: `${month} ${dayWords(found[2] as string)}` }
  const last = match(lastDayPattern, text, said.to)
  if (last !== null && isDay(last[1] as string)) {
    said.to += last[0].length
    said.words += ` to ${dayWords(last[1] as string)}`
  }
  const when = match(yearPattern, text, said.to)
  if (when !== null) {
    said.to += when[0].length
    said.words += ` ${year(when[1] as string)}`
  }
  return untilMonth(text, said)
}

/** Short names that are no words or names of their own. */
const certainMonths = /^(?:Feb|Apr|Aug|Sept|Oct|Nov|Dec)$/

function monthAlone(text: string, at: number): Said | null {
  const short = match(/[A-Z][a-z]{2,3}(?![A-Za-z'.])/y, text, at)?.[0] ?? ''
  const month = monthName(short)
  if (month === undefined || month === short) return null
  const when = match(/ (?:'(?=\d\d(?!\d)))?(\d{4}|(?<=')\d\d)(?!\d)/y, text, at + short.length)
  const to = at + short.length + (when?.[0].length ?? 0)
  const said = untilMonth(text, { to, words: month + (when === null ? '' : ` ${year(when[1] as string)}`) })
  return when !== null || said.to > to || certainMonths.test(short) ? said : null
}

/** "June 3 - July 5", "Jan-Mar". */
function untilMonth(text: string, said: Said): Said {
  const dash = match(untilPattern, text, said.to)
  if (dash === null) return said
  const from = said.to + dash[0].length
  const name = match(/[A-Z][a-z]{2,8}(?![A-Za-z])/y, text, from)?.[0] ?? ''
  const month = monthName(name)
  if (month === undefined) return said
  const last = monthDateAt(text, from) ?? { to: from + name.length, words: month }
  return { to: last.to, words: `${said.words} to ${last.words}` }
}

export const dayNames = new Map<string, string>(
  ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'].flatMap((name) =>
    [3, 4, 5, name.length].map((length) => [name.slice(0, length), name] as const),
  ),
)
/** Short names that are words, too. */
const uncertainDays = /^(?:Mon|Wed|Sat|Sun)$/

/** "Mon-Fri", "Sat 5 Oct", "Tue", "on Wed". */
export function weekdayAt(text: string, at: number, word: string, before: Before): Said | null {
  const end = at + word.length
  const name = dayNames.get(word)
  if (name === undefined || text[end] === "'") return null
  const last = match(/\.? ?[-–] ?([A-Z][a-z]{2,8})(?![A-Za-z'])/y, text, end)
  const lastName = dayNames.get(last?.[1] ?? '')
  if (last !== null && lastName !== undefined) {
    const to = end + last[0].length
    // Both have a stop or neither has one of its own.
    const isShort = text[end] === '.' && text[to] === '.'
    return { to: isShort ? to + 1 : to, words: `${name} to ${lastName}`, stop: isShort && mayEnd(text, to + 1, true) }
  }
  // "Sat., Jan. 6"
  if (text[end] === '.')
    return match(/\.(?:,|-| ?\d| &| and\b)/y, text, end) === null ? null : { to: end + 1, words: name }
  if (name === word || !uncertainDays.test(word)) return { to: end, words: name }
  const next = match(/[,/&]? ?(?:and )?(\d|[A-Z][a-z]{2,8}(?![A-Za-z]))/y, text, end)?.[1] ?? ''
  const isNext = /\d/.test(next) || dayNames.has(next) || monthName(next) !== undefined
  const isCalled = word !== 'Sun' && /^(?:on|every|next|last|this|by|until)$/.test(before.word)
  return isNext || isCalled || dayNames.has(before.word) ? { to: end, words: name } : null
}

/** Four digits are a year if the century is ours or the last one, or if the words around them say so. */
export function isYear(text: string, at: number, digits: string, before: Before): boolean {
  if (!/^[12]\d{3}$/.test(digits)) return false
  const value = Number(digits)
  if (value >= 1900 && value < 2100) return true
  if (value > 2199) return false
  const left = text.slice(Math.max(0, at - 24), at)
  const end = at + digits.length
  return (
    /^(?:in|since|circa|ca?|year|until|around|before|after|during|from|to|by|early|late|mid|born|died|est)$/i.test(
      before.word,
    ) ||
    monthName(before.word) !== undefined ||
    /\b(?:[A-Z][a-z]+|summer|spring|winter|fall|autumn) of $|\bbetween \d{4} and $|\($/.test(left) ||
    match(/ ?(?:BCE?|AD|CE)\b|\)| and \d{4}\b/y, text, end) !== null
  )
}
