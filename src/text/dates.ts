/** Dates and times of day. A date with slashes is American unless its first number cannot be a month. */
import { cardinal, ordinal, year } from './numbers.ts'
import { mayEnd } from './abbreviations.ts'
import { match, type Said } from './rule.ts'

// prettier-ignore
const months = [
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

const isoPattern = /(\d{4})-(\d\d)-(\d\d)(?:[T ](?=\d\d:\d\d))?(?![\d-])/y
const isoTimePattern = /(\d{4}-\d\d-\d\d)[T](?=\d\d:\d\d)/y
const slashPattern = /(\d{1,2})([/.])(\d{1,2})\2(\d{4}|\d\d)(?![\d/]|\.\d)/y
const dayMonthPattern = /(\d{1,2})(?:st|nd|rd|th)?(?: of)? ([A-Z][a-z]{2,8})(?![A-Za-z])(?:\.?,? (\d{4})(?!\d))?/y
const monthDayPattern = /([A-Z][a-z]{2,8})\b\.? (\d{1,2})(st|nd|rd|th)?(?![\d:]|[.,%]\d|[a-z])(?:,? (\d{4})(?!\d))?/y
const timePattern = /(\d{1,2}):([0-5]\d)(?::([0-5]\d)(?:\.\d{1,9})?)?(Z)?(?![\d:])/y
const halfPattern = / ?([ap])(?:m|\.m\.|\.m)(?![A-Za-z0-9])/iy
const zonePattern = / ?(?:Z|UTC|GMT)(?![A-Za-z0-9])/y

function spokenDate(monthNumber: number, day: number, yearDigits: string): string | null {
  const month = months[monthNumber - 1]
  if (month === undefined || day < 1 || day > 31) return null
  return `${month} ${ordinal(String(day))} ${year(yearDigits)}`
}

/** A date that begins with a digit. */
export function dateAt(text: string, at: number): Said | null {
  const iso = match(isoTimePattern, text, at) ?? match(isoPattern, text, at)
  if (iso !== null) {
    const [y, m, d] = iso[0].slice(0, 10).split('-')
    const words = spokenDate(Number(m), Number(d), y as string)
    const to = at + iso[0].length
    const time = words !== null && /[T ]$/.test(iso[0]) ? timeAt(text, to) : null
    if (time !== null) return { to: time.to, words: `${words} at ${time.words}` }
    return words === null ? null : { to, words }
  }
  const slash = match(slashPattern, text, at)
  if (slash !== null) return slashDate(slash, at)
  const written = match(dayMonthPattern, text, at)
  const month = written === null ? undefined : monthName(written[2] as string)
  if (written === null || month === undefined || Number(written[1]) > 31 || Number(written[1]) === 0) return null
  const when = written[3] === undefined ? '' : ` ${year(written[3])}`
  const article = /\bthe $/i.test(text.slice(Math.max(0, at - 5), at)) ? '' : 'the '
  const to = at + written[0].length
  return { to, words: `${article}${ordinal(String(Number(written[1])))} of ${month}${when}` }
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

/** A date that begins with the name of a month: "March 15, 2024", "Mar. 3rd". */
export function monthDateAt(text: string, at: number): Said | null {
  const found = match(monthDayPattern, text, at)
  if (found === null) return null
  const month = monthName(found[1] as string)
  const day = Number(found[2])
  if (month === undefined || day < 1 || day > 31) return null
  const when = found[4] === undefined ? '' : ` ${year(found[4])}`
  return { to: at + found[0].length, words: `${month} ${ordinal(String(day))}${when}` }
}

/** "3:30pm", "14:05", "12:30:15". */
export function timeAt(text: string, at: number): Said | null {
  const time = match(timePattern, text, at)
  if (time === null) return hourAt(text, at)
  const hour = Number(time[1])
  const to = at + time[0].length
  const seconds = secondsWords(time[3])
  // More than a day has hours: minutes and seconds of a run.
  if (hour > 24) return { to, words: `${cardinal(time[1] as string)} ${cardinal(String(Number(time[2])))}${seconds}` }
  const half = match(halfPattern, text, to)
  const words = `${clock(hour, time[2] as string, half !== null)}${seconds}`
  if (half !== null) return withHalf(words, half, text, to)
  const zone = match(zonePattern, text, to)
  if (zone === null && time[4] === undefined) return { to, words }
  return { to: to + (zone?.[0].length ?? 0), words: `${words} U T C` }
}

function secondsWords(digits: string | undefined): string {
  if (digits === undefined || digits === '00') return ''
  return ` and ${digits === '01' ? 'one second' : `${cardinal(String(Number(digits)))} seconds`}`
}

function clock(hour: number, minutes: string, hasHalf: boolean): string {
  const spoken = cardinal(String(hour))
  if (minutes !== '00')
    return `${spoken} ${minutes[0] === '0' ? `oh ${cardinal(minutes[1] as string)}` : cardinal(minutes)}`
  if (hasHalf) return spoken
  return hour >= 1 && hour <= 12 ? `${spoken} o'clock` : `${spoken} hundred`
}

/** "9 a.m.", "3pm". */
function hourAt(text: string, at: number): Said | null {
  const hour = match(/\d{1,2}(?!\d)/y, text, at)
  if (hour === null || Number(hour[0]) > 12) return null
  const to = at + hour[0].length
  const half = match(halfPattern, text, to)
  // "9 am" is a time; "I am 9. Am I old?" is not: there the stop is in between.
  return half === null ? null : withHalf(cardinal(String(Number(hour[0]))), half, text, to)
}

function withHalf(words: string, half: RegExpExecArray, text: string, at: number): Said {
  const spoken = `${words} ${(half[1] as string).toUpperCase()} M`
  const to = at + half[0].length
  return { to, words: spoken, stop: half[0].endsWith('.') && mayEnd(text, to, true) }
}
