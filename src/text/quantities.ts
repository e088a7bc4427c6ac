/** Everything that begins with a digit: dates and addresses first, then numbers with what belongs to them. */
import { ipAt, phoneAt, versionAt } from './addresses.ts'
import { codeAt, pairWords } from './codes.ts'
import { coordinateAt } from './coordinates.ts'
import { dateAt, isYear } from './dates.ts'
import { decimalCommaAt, groupedAt, hexAt } from './groups.ts'
import { oldMoneyAt, penceAt, trailingMoneyAt } from './money.ts'
import { cardinal, decimal, digitWords, fraction, ordinal, plural, year } from './numbers.ts'
import { isNumbered } from './roman.ts'
import { shortDateAt } from './short-dates.ts'
import { type Before, countsThings, isLetter, match, type Said } from './rule.ts'
import { verseAt } from './verses.ts'
import { timeAt } from './times.ts'
import { inchMarkAt, unitAt } from './units.ts'

const ordinalPattern = /(\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(?:st|nd|rd|th)(?![A-Za-z0-9])/iy
const decadePattern = /(\d{4}|\d{2})'?s(?![A-Za-z0-9]|'[A-Za-z])/y
/** "100s of people": an amount that is not counted. */
const manyPattern = /(?:1,?000s|100s|10s(?= of (?:thousand|million|billion)s\b))(?= of\b)/y
const manyWords: Readonly<Record<string, string>> = { 2: 'tens', 3: 'hundreds', 4: 'thousands' }
const fractionPattern = /(?:(\d{1,3}) )?(\d{1,4})\/(\d{1,4})(?![\d/]|\.\d)/y
const numberPattern =
  /(\d{1,2}(?:,\d\d){1,4},\d{3}(?!,?\d)|\d{1,3}(?:,\d{3}){1,4}(?!,?\d)|\d{1,15}(?!\d))(\.\d{1,20}(?!\d|\.\d))?/y
const rangePattern = /(?:-| ?– ?)(\d{1,3}(?:,\d{3}){1,4}(?!,?\d)|\d{1,15}(?!\d))(\.\d{1,20}(?!\d))?(?![-–]\d)/y
const ratioPattern = /(\d{1,4}):(\d{1,3}(?:,\d{3}){1,3}|\d{1,4})(?![\d:A-Za-z])/y
/** A scale only before what is counted, or behind a fraction: "221B Baker Street" and "Gate 34B" are names. */
const scalePattern = /[KkMBT](?![A-Za-z0-9])/y
const scaleWords: Record<string, string> = { K: 'thousand', k: 'thousand', M: 'million', B: 'billion', T: 'trillion' }
const crossPattern = /(?: x |x|×|["'] ?[x×] ?)(?=\d)/y
const wordScalePattern = / (thousand|million|billion|trillion)(?![A-Za-z])/y

export function quantityAt(text: string, at: number, before: Before): Said | null {
  const run = match(/\d{16,}/y, text, at)
  if (run !== null) return { to: at + run[0].length, words: digitWords(run[0]) }
  const code = codeAt(text, at)
  if (code !== null) return code
  // The second number of "4x100m" is one like the first.
  const isSide = text[at - 1] === 'x' && /["'\d]/.test(text[at - 2] ?? '')
  if (isLetter(text[at - 1]) && !isSide) return afterLetter(text, at)
  return (
    verseAt(text, at, before) ??
    hexAt(text, at) ??
    powerOfTenAt(text, at) ??
    dateAt(text, at) ??
    shortDateAt(text, at, before) ??
    coordinateAt(text, at) ??
    timeAt(text, at) ??
    groupedAt(text, at) ??
    ipAt(text, at) ??
    phoneAt(text, at) ??
    versionAt(text, at) ??
    ordinalAt(text, at) ??
    pluralAt(text, at) ??
    manyAt(text, at) ??
    decadeAt(text, at, before) ??
    fractionAt(text, at, before) ??
    trailingMoneyAt(text, at) ??
    oldMoneyAt(text, at) ??
    penceAt(text, at) ??
    decimalCommaAt(text, at) ??
    ratioAt(text, at) ??
    numberAt(text, at, before)
  )
}

/** The digits of "GPT4" or "B2B": never with a unit, because the letters after them are part of the name. */
function afterLetter(text: string, at: number): Said {
  const digits = (match(/\d{1,15}/y, text, at) as RegExpExecArray)[0]
  const isYear = /^(?:19|20)\d\d$/.test(digits)
  const words = isYear
    ? year(digits)
    : digits.length > 4
      ? digitWords(digits)
      : /[A-Z]/.test(text[at - 1] as string)
        ? pairWords(digits)
        : cardinal(digits)
  return inPlural(text, { to: at + digits.length, words })
}

const inPlural = (text: string, said: Said): Said =>
  match(/s(?![A-Za-z0-9'])/y, text, said.to) === null
    ? withOwner(text, said)
    : { to: said.to + 1, words: plural(said.words) }

/** "the PS5's fan" */
const withOwner = (text: string, said: Said): Said =>
  match(/'s(?![A-Za-z0-9])/y, text, said.to) === null ? said : { to: said.to + 2, words: `${said.words}'s` }

/** "1's and 0's", "2024's", and the planes called F-16s. */
function pluralAt(text: string, at: number): Said | null {
  const owned = match(/(\d{1,4})'s(?![A-Za-z0-9])/y, text, at)
  if (owned !== null && !/^\d{1,3}0$/.test(owned[1] as string)) {
    const digits = owned[1] as string
    const words = /^[12]\d{3}$/.test(digits) ? year(digits) : cardinal(digits)
    return { to: at + owned[0].length, words: plural(words) }
  }
  const model =
    text[at - 1] === '-' && /[A-Z]/.test(text[at - 2] ?? '') ? match(/(\d{1,4})(?=s(?![A-Za-z0-9']))/y, text, at) : null
  return model && inPlural(text, { to: at + model[0].length, words: pairWords(model[0]) })
}

/** "1e-5", "3.2E8". */
function powerOfTenAt(text: string, at: number): Said | null {
  const found = match(/(\d{1,3}(?:\.\d{1,15})?)[eE]([-+]?)(\d{1,3})(?![A-Za-z0-9.])/y, text, at)
  if (found === null) return null
  const [whole, digits, sign, power] = found as unknown as [string, string, string, string]
  const exponent = `${sign === '-' ? 'minus ' : ''}${cardinal(String(Number(power)))}`
  return { to: at + whole.length, words: `${decimal(digits)} times ten to the power of ${exponent}` }
}

function ordinalAt(text: string, at: number): Said | null {
  const found = match(ordinalPattern, text, at)
  return found && { to: at + found[0].length, words: ordinal((found[1] as string).replaceAll(',', '')) }
}

function manyAt(text: string, at: number): Said | null {
  const found = match(manyPattern, text, at)
  return found && { to: at + found[0].length, words: manyWords[found[0].replace(/\D/g, '').length] as string }
}

/** "1990s", "the 80s", "John's 90s hits"; two digits without an article, an owner or an apostrophe are seconds. */
function decadeAt(text: string, at: number, before: Before): Said | null {
  const found = match(decadePattern, text, at)
  const digits = found?.[1] ?? ''
  if (found === null || !digits.endsWith('0') || (Number(digits) === 0 && digits !== '00')) return null
  // "1000s" and "5000s" are seconds, "the 1000s" are years.
  if (digits.length === 4 && !/^(?:1[1-9]|20)/.test(digits) && before.word.toLowerCase() !== 'the') return null
  if (digits.length === 2) {
    const owned = /(?:'s|s') $/.test(text.slice(Math.max(0, at - 3), at))
    const named = text[at - 1] === "'" || /^(?:the|early|late|mid|his|her|their|my|your|our|in)$/i.test(before.word)
    if (!named && !owned) return null
  }
  const words = digits === '00' ? 'two thousands' : plural(digits.length === 4 ? year(digits) : cardinal(digits))
  const until = match(/[-–](\d{0,2}[1-9]0)s(?![A-Za-z0-9])/y, text, at + found[0].length)
  if (until === null) return { to: at + found[0].length, words }
  const last = until[1] as string
  return {
    to: at + found[0].length + until[0].length,
    words: `${words} to ${plural(last.length === 4 ? year(last) : cardinal(last))}`,
  }
}

/** "3/4 doors are closed": things that are in a state are counted. */
const countedPattern = new RegExp(
  String.raw` [a-z]{2,20}s (?:are|were|is|open|opened|closed|on|off|online|offline|(?:un)?locked|done|completed?` +
    String.raw`|passed|failed)\b`,
  'y',
)

/** "4.5/5", "8/10", "3/5 stars", "page 1/10"; "7/10 of a mile" is a fraction. */
function outOfAt(text: string, at: number, before: Before): Said | null {
  const found = match(/(\d{1,4}(?:\.\d{1,2})?)\/(\d{1,4})(?![\d/'"]|\.\d|th|-[a-z])/y, text, at)
  if (found === null) return null
  const [whole, top, bottom] = found as unknown as [string, string, string]
  const to = at + whole.length
  const said = (joint: string): Said => {
    const words = `${decimal(top)} ${joint} ${cardinal(bottom)}`
    const unit = unitAt(text, to, true)
    return unit === null ? { to, words } : { ...unit, words: `${words} ${unit.words}` }
  }
  if (/^(?:page|step|part|slide|question|lesson|episode|round|task|item|chapter)$/i.test(before.word)) return said('of')
  const isOf = match(/ of\b/y, text, to) !== null || unitAt(text, to, true) !== null
  if (match(countedPattern, text, to) !== null && Number(top) <= Number(bottom)) return said('of')
  // A waltz.
  if (before.word === 'in' && top !== '1' && /^[248]$/.test(bottom) && match(/ time\b/y, text, to) !== null)
    return { to, words: `${cardinal(top)} ${cardinal(bottom)}` }
  const isScale = /^(?:10|100)$/.test(bottom) && Number(top) <= Number(bottom) && !isOf
  const isRated = match(/ (?:stars?|points?|rating)\b/y, text, to) !== null
  return top.includes('.') || isScale || isRated ? said('out of') : null
}

function fractionAt(text: string, at: number, before: Before): Said | null {
  const rated = outOfAt(text, at, before)
  if (rated !== null) return rated
  const found = match(fractionPattern, text, at)
  if (found === null) return null
  const to = at + found[0].length
  const part = fraction(found[2] as string, found[3] as string)
  if (part === null) {
    // "24/7" and "9/11" are read as two numbers; after a whole number it was not a mixed one.
    if (found[1] !== undefined) return null
    const [top, bottom] = [found[2] as string, found[3] as string]
    const season =
      [-2, -4].some((kept) => String(Number(top) + 1).slice(kept) === bottom) && isYear(text, at, top, before)
    const isFactor = /[×*=+] ?$/.test(text.slice(Math.max(0, at - 2), at))
    const joint = (/\d{3}/.test(found[0]) || isFactor) && !season ? ' over ' : ' '
    const words = (season ? year(top) : cardinal(top)) + joint + (season ? year(bottom) : cardinal(bottom))
    const unit = unitAt(text, to, true)
    return unit === null ? { to, words } : { ...unit, words: `${words} ${unit.words}` }
  }
  const mixed = part.replace(/^one (?=half|quarter|third)/, 'a ')
  const words = found[1] === undefined ? part : `${cardinal(found[1])} and ${mixed}`
  const unit = unitAt(text, to, found[1] !== undefined) ?? inchMarkAt(text, to)
  if (unit === null) return { to, words }
  const one = unit.words.replace(/^inches$/, 'inch')
  return {
    ...unit,
    words: found[1] === undefined ? `${words} of ${one === 'inch' ? 'an' : 'a'} ${one}` : `${words} ${unit.words}`,
  }
}

/** "16:9", "3:1". */
function ratioAt(text: string, at: number): Said | null {
  const found = match(ratioPattern, text, at)
  return (
    found && {
      to: at + found[0].length,
      words: `${cardinal(found[1] as string)} to ${cardinal((found[2] as string).replaceAll(',', ''))}`,
    }
  )
}

function numberAt(text: string, at: number, before: Before): Said {
  const found = match(numberPattern, text, at) ?? (match(/(\d{1,15})/y, text, at) as RegExpExecArray)
  const written = found[1] as string
  let to = at + found[0].length
  // Neither "x-5-7" nor "Qwen2.5-7B" has a range.
  const isName = text[at - 1] === '-' || /[A-Za-z]\d{1,4}\.$/.test(text.slice(Math.max(0, at - 6), at))
  const range = isName ? null : (rangeAt(text, to) ?? spacedRangeAt(text, at, to, written))
  if (range !== null && range.fraction === undefined && isYearRange(text, at, written, range.whole, before)) {
    const upper = range.whole.length === 4 ? year(range.whole) : cardinal(range.whole).replace(/^zero /, 'oh ')
    const bare = unitAt(text, range.to, true) === null
    if (bare) return { to: range.to, words: `${year(written)} to ${upper}` }
  }
  if (text[at - 1] === "'" && /^0[1-9]$/.test(found[0])) return { to, words: `oh ${cardinal(found[0].slice(1))}` }
  // The digits of "model-20240229".
  if (isName && found[2] === undefined && written.length > 5) return { to, words: digitWords(written) }
  // "2024-017": a number that begins with a zero is no end.
  if (range !== null && /^0\d{2}/.test(range.whole) && range.fraction === undefined) {
    const first = isYear(text, at, written, before) ? year(written) : decimal(found[0])
    return { to: range.to, words: `${first} ${digitWords(range.whole)}` }
  }
  let words = decimal(found[0])
  if (range !== null) {
    // "a 50-50 chance", "a 1-1 draw".
    words += ` ${range.whole === written ? '' : 'to '}${decimal(range.whole + (range.fraction ?? ''))}`
    to = range.to
  }
  const scale = scaleAt(text, to, (range ?? { fraction: found[2] }).fraction !== undefined)
  if (scale !== null) {
    words += ` ${scaleWords[scale]}`
    to++
  }
  const large = match(wordScalePattern, text, to)
  if (large !== null) {
    words += large[0]
    to += large[0].length
  }
  const isMany = found[0] !== '1' || range !== null || scale !== null || large !== null
  const unit = unitAt(text, to, isMany) ?? inchMarkAt(text, to)
  if (unit !== null)
    return across(text, untilAt(text, to, { ...unit, words: `${words} ${unit.words}` }, words, found[0]))
  const plain = range === null && scale === null && large === null && found[2] === undefined
  if (plain && isYear(text, at, written, before)) words = year(written)
  return plain || found[2] !== undefined ? across(text, { to, words }) : { to, words }
}

/** "1990-95", "1685–1750". */
function isYearRange(text: string, at: number, first: string, last: string, before: Before): boolean {
  if (/^\d\d$/.test(last)) return isYear(text, at, first, before)
  const isCentury = /^1\d{3}$/.test(first) && Number(last) > Number(first) && Number(last) < 2100
  return /^\d{4}$/.test(last) && (isCentury || isYear(text, at, first, before))
}

/** "10 cm x 15 cm", "1920x1080", "6 x 10^23". */
function across(text: string, said: Said): Said {
  const cross = match(crossPattern, text, said.to)
  if (cross === null) return said
  const to = said.to + cross[0].length
  return { to, words: `${said.words} ${match(/10\^/y, text, to) === null ? 'by' : 'times'}` }
}

function scaleAt(text: string, at: number, isFraction: boolean): string | null {
  const scale = match(scalePattern, text, at)?.[0] ?? null
  return isFraction || text[at + 1] === '+' || countsThings(text, at + 1) ? scale : null
}

function rangeAt(text: string, at: number): { to: number; whole: string; fraction: string | undefined } | null {
  // A hyphen with spaces around it is a minus.
  const found = match(rangePattern, text, at)
  return found && { to: at + found[0].length, whole: found[1] as string, fraction: found[2] }
}

/** "4 - 6 weeks": what rises and counts something is no subtraction. */
function spacedRangeAt(text: string, at: number, to: number, first: string): ReturnType<typeof rangeAt> {
  if (isNumbered(text, at)) return null
  const found = match(/ - (\d{1,4})(?= (?!is\b|are\b|was\b|equals\b)[a-z]{2}|%)/y, text, to)
  if (found === null || Number(found[1]) <= Number(first.replaceAll(',', ''))) return null
  if (/[=+*/×÷-] ?$/.test(text.slice(Math.max(0, at - 2), at))) return null
  return { to: to + found[0].length, whole: found[1] as string, fraction: undefined }
}

/** "20°C–25°C", "10%-20%": the unit of both ends is read once. @param words of the first number alone */
function untilAt(text: string, unitFrom: number, said: Said, words: string, first: string): Said {
  const dash = match(/(?:[-–]| [-–] )(?=\d)/y, text, said.to)
  const from = said.to + (dash?.[0].length ?? 0)
  const last = dash === null ? null : match(numberPattern, text, from)
  if (last === null) return said
  const unit = unitAt(text, from + last[0].length, true)
  if (unit === null || unit.words !== unitAt(text, unitFrom, true)?.words) return said
  const isRising = Number(last[0].replaceAll(',', '')) > Number(first.replaceAll(',', ''))
  return isRising ? { ...unit, words: `${words} to ${decimal(last[0])} ${unit.words}` } : said
}
