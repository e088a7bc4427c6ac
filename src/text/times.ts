/** Times of day, their ranges, and how long something takes. */
import { mayEnd } from './abbreviations.ts'
import { cardinal, digitWords } from './numbers.ts'
import { isDigit, match, type Said } from './rule.ts'
import { isDescribing } from './units.ts'

const timePattern = /(\d{1,2}):([0-5]\d)(?::([0-5]\d)(?:\.\d{1,9})?)?(Z)?(?![\d:]|,\d{3})/y
const halfPattern = / ?([ap])(?:m|\.m\.|\.m)(?![A-Za-z0-9])/iy
const zonePattern = / ?(?:Z|UTC|GMT)(?![A-Za-z0-9])/y
const dashPattern = / ?[-–—] ?/y

/** "3:30pm", "14:05", "9am-5pm", "10:00 – 11:30", "2h 30m". */
export function timeAt(text: string, at: number): Said | null {
  const long = durationAt(text, at) ?? agoAt(text, at) ?? hoursAt(text, at)
  if (long !== null) return long
  const from = momentAt(text, at)
  if (from === null || from.stop === true) return from
  const dash = match(dashPattern, text, from.to)
  if (dash === null) return from
  const next = from.to + dash[0].length
  const named = match(/noon|midnight/y, text, next)?.[0]
  if (named !== undefined) return { to: next + named.length, words: `${from.words} to ${named}` }
  const to = momentAt(text, next) ?? bareHourAt(text, next)
  return to === null ? from : { ...to, words: `${from.words} to ${to.words}` }
}

/** The end of "10:30-11". */
function bareHourAt(text: string, at: number): Said | null {
  const hour =
    isDigit(text[at]) && text[at - 1] !== ' '
      ? match(/(?:1\d|2[0-4]|[1-9])(?![\d:/%]|[.,]\d|[A-Za-z])/y, text, at)
      : null
  return hour && { to: at + hour[0].length, words: cardinal(hour[0]) }
}

const durationPattern = /(\d{1,4})([dhm]) ?(\d{1,2})([hms])(?: ?(\d{1,2})([ms]))?(?: ?(\d{1,2})(s))?(?![A-Za-z0-9])/y
const hoursPattern = /(\d{1,2})(h)([0-5]\d)(?![A-Za-z0-9])/y
const partNames: Readonly<Record<string, string>> = { d: 'day', h: 'hour', m: 'minute', s: 'second' }

/** "2h 30m", "1d 4h", "1h30": beside hours, "m" is not a meter. */
function durationAt(text: string, at: number): Said | null {
  const hours = match(hoursPattern, text, at)
  const found = hours ?? match(durationPattern, text, at)
  if (found === null) return null
  const parts = hours === null ? found.slice(1).filter((part) => part !== undefined) : [...found.slice(1), 'm']
  const letters = parts.filter((_, index) => index % 2 === 1).join('')
  if (!/^d?h?m?s?$/.test(letters)) return null
  const to = at + found[0].length
  const isSingular = isDescribing(text, at + (found[1] as string).length, to)
  const words = Array.from(letters, (letter, index) => {
    const digits = String(Number(parts[2 * index]))
    return `${cardinal(digits)} ${partNames[letter]}${isSingular || digits === '1' ? '' : 's'}`
  })
  return { to, words: words.join(' ') }
}

const agoPattern = /(\d{1,3})(s|m|h|d|w|mo|y)(?= ago\b)/y
const agoNames: Readonly<Record<string, string>> = { ...partNames, w: 'week', mo: 'month', y: 'year' }

/** "5m ago". */
function agoAt(text: string, at: number): Said | null {
  const found = match(agoPattern, text, at)
  if (found === null) return null
  const [whole, digits, part] = found as unknown as [string, string, string]
  return { to: at + whole.length, words: `${cardinal(digits)} ${agoNames[part]}${digits === '1' ? '' : 's'}` }
}

/** "0530 hours"; without a zero or "at" hours are counted. */
function hoursAt(text: string, at: number): Said | null {
  const found = match(/([01]\d|2[0-3])([0-5]\d)(?= (?:hours|hrs)\b)/y, text, at)
  if (found === null || !(text[at] === '0' || text.startsWith('at ', at - 3))) return null
  const [whole, hour, minutes] = found as unknown as [string, string, string]
  const first = hour.startsWith('0') ? `oh ${cardinal(hour.slice(1))}` : cardinal(hour)
  const last =
    minutes === '00' ? 'hundred' : minutes.startsWith('0') ? `oh ${cardinal(minutes.slice(1))}` : cardinal(minutes)
  return { to: at + whole.length, words: `${first} ${last}` }
}

/** The minutes and seconds of a run: "1:32.456". */
const lapPattern = /(\d{1,2}):([0-5]\d)\.(\d{1,3})(?![\d:.]|[.]\d)/y

function momentAt(text: string, at: number): Said | null {
  const lap = match(lapPattern, text, at)
  if (lap !== null) {
    const [whole, minutes, seconds, parts] = lap as unknown as [string, string, string, string]
    return { to: at + whole.length, words: `${clock(Number(minutes), seconds, true)} point ${digitWords(parts)}` }
  }
  const time = match(timePattern, text, at)
  if (time === null) return hourAt(text, at)
  const hour = Number(time[1])
  const to = at + time[0].length
  const seconds = secondsWords(time[3])
  // More than a day has hours: minutes and seconds of a run.
  if (hour > 24) return { to, words: `${cardinal(time[1] as string)} ${cardinal(String(Number(time[2])))}${seconds}` }
  // A timer, or a moment after midnight.
  if (time[1] === '00' && time[3] !== undefined && /[1-9]/.test(time[2] + time[3]))
    return {
      to,
      words: `zero hours ${cardinal(String(Number(time[2])))} minute${time[2] === '01' ? '' : 's'}${seconds}`,
    }
  const half = match(halfPattern, text, to)
  const isOffset = /(?:UTC|GMT) ?[+-]$/.test(text.slice(Math.max(0, at - 5), at))
  const words = `${clock(hour, time[2] as string, half !== null || isOffset)}${seconds}`
  if (half !== null) return withHalf(words, half, text, to)
  const zone = match(zonePattern, text, to)
  if (zone === null && time[4] === undefined) return { to, words }
  return { to: to + (zone?.[0].length ?? 0), words: `${words} ${zone?.[0].endsWith('GMT') ? 'G M T' : 'U T C'}` }
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

/** Behind the stop of "p.m.", which then ends nothing. */
const zoneAhead = / (?:[ECMP][SD]?T|GMT|UTC|BST|CES?T|JST|IST|AEST)\b/y

function withHalf(words: string, half: RegExpExecArray, text: string, at: number): Said {
  const spoken = `${words} ${(half[1] as string).toUpperCase()} M`
  const to = at + half[0].length
  return {
    to,
    words: spoken,
    stop: half[0].endsWith('.') && match(zoneAhead, text, to) === null && mayEnd(text, to, true),
  }
}
