/** Dates of two numbers with a slash: a month and a year, or a month and a day where the words before it say so. */
import { dayNames, months } from './dates.ts'
import { ordinal, year } from './numbers.ts'
import { type Before, countsThings, match, type Said } from './rule.ts'

const longPattern = /(0[1-9]|1[0-2])\/((?:19|20)\d\d)(?![\d/]|\.\d| of\b)/y
const expiryPattern = /(0[1-9]|1[0-2])\/(\d\d)(?![\d/]|\.\d)/y
/** Before any other word it is a fraction: "3/4 of it". */
const wordsBehind = String.raw`(?:(?:at|from|to|in)\b|(?:and|or) [A-Za-z])`
const dayPattern = new RegExp(
  String.raw`(1[0-2]|0?[1-9])\/(3[01]|[12]\d|0?[1-9])(?![\d/'"A-Za-z-]|\.\d| (?!${wordsBehind})[A-Za-z])`,
  'y',
)
const expiryBefore =
  /\b(?:exp(?:iry|\.)?(?: date)?|expires|use by|best (?:before|by)|(?:valid|good) (?:thru|through|until)):? $/i
const dayBefore = /\b(?:week of|due(?: on| by)?|dated|date|on|since|until|till):? $/i

export function shortDateAt(text: string, at: number, before: Before): Said | null {
  const long = match(longPattern, text, at)
  if (long !== null && !countsThings(text, at + long[0].length)) return said(at, long, year(long[2] as string))
  const left = text.slice(Math.max(0, at - 24), at)
  const expiry = expiryBefore.test(left) ? match(expiryPattern, text, at) : null
  if (expiry !== null) return said(at, expiry, year(`20${expiry[2]}`))
  const isDay = dayBefore.test(left) || dayNames.has(before.word)
  const day = isDay ? match(dayPattern, text, at) : null
  // The day of 2001 has a name of its own.
  return day === null || day[0] === '9/11' ? null : said(at, day, ordinal(String(Number(day[2]))))
}

const said = (at: number, found: RegExpExecArray, rest: string): Said => ({
  to: at + found[0].length,
  words: `${months[Number(found[1]) - 1]} ${rest}`,
})

/** The "Exp." of a card's date. */
export function expiresAt(text: string, at: number): Said | null {
  const found = match(/exp(?:\.|(?=[ :]))(?=:? ?(?:0[1-9]|1[0-2])\/\d\d)/iy, text, at)
  return found && { to: at + found[0].length, words: 'expires' }
}
