/** Everything that begins with neither letter nor digit: money, signs with a name, hashtags, pauses. */
import { currencySigns, moneyAt } from './money.ts'
import { spelledDigits } from './groups.ts'
import { digitWords } from './numbers.ts'
import { phoneAt } from './addresses.ts'
import { isNumbered } from './roman.ts'
import { isAlphanumeric, isDigit, isLetter, match } from './rule.ts'

/** The mark of a pause, if a voice distinguishes it from a comma. */
export type FineMark = '—' | '…' | '(' | ')'

export type Sign =
  /** Spoken at its position. */
  | { kind: 'say'; to: number; words: string }
  /** Spoken only between words: it waits for the word behind it. `alone`: it needs no word before it. */
  | { kind: 'between'; to: number; words: string; alone: boolean }
  | { kind: 'pause'; to: number; mark: ',' | ';' | ':'; symbol?: FineMark }
  | { kind: 'nothing'; to: number }

const between = (to: number, words: string, alone = false): Sign => ({ kind: 'between', to, words, alone })
const pause = (to: number, mark: ',' | ';' | ':' = ','): Sign => ({ kind: 'pause', to, mark })
const fine = (to: number, symbol: FineMark): Sign => ({ kind: 'pause', to, mark: ',', symbol })
const nothing = (to: number): Sign => ({ kind: 'nothing', to })

const long: readonly (readonly [string, string])[] = [
  ['>=', 'greater than or equal to'],
  ['<=', 'less than or equal to'],
  ['!==', 'not equal to'],
  ['!=', 'not equal to'],
  ['===', 'equals'],
  ['==', 'equals'],
  ['&&', 'and'],
  ['+-', 'plus or minus'],
  ['+/-', 'plus or minus'],
]
const short: Record<string, string> = {
  '&': 'and',
  '=': 'equals',
  '×': 'times',
  '÷': 'divided by',
  '±': 'plus or minus',
  '≈': 'about',
  '≠': 'not equal to',
  '≤': 'less than or equal to',
  '≥': 'greater than or equal to',
  '@': 'at',
  '°': 'degrees',
  '∞': 'infinity',
  '√': 'square root of',
  '∛': 'cube root of',
  '∑': 'sum of',
  '∫': 'integral of',
  '∂': 'partial',
  '∈': 'in',
  '∉': 'not in',
  '∪': 'union',
  '∩': 'intersection',
  '∀': 'for all',
  '∃': 'there exists',
  '∝': 'proportional to',
  '≡': 'equivalent to',
  '∴': 'therefore',
  '∧': 'and',
  '∨': 'or',
  '¬': 'not',
  '∇': 'del',
  '∠': 'angle',
  '§': 'section',
  '©': 'copyright',
}
const standsAlone = new Set('±≈√∛∑∫∂∀∃∴¬∇∠§©≤≥')

/** ":D" and ":P": the letter is a mouth. */
const facePattern = /[:;]['-]?[DPpOo3](?![A-Za-z0-9])/y

/** @param spoken whether a word was read before in this sentence */
export function signAt(text: string, at: number, spoken: boolean): Sign {
  const char = text[at] as string
  const before = text[at - 1]
  const after = text[at + 1]
  if (currencySigns.includes(char)) {
    const money = moneyAt(text, at)
    return money === null ? nothing(at + 1) : { kind: 'say', ...money }
  }
  if (char === '-' || char === '–' || char === '—') {
    const rank = rankAt(text, at)
    return rank === null ? dash(text, at) : { kind: 'say', to: at + 1, words: rank }
  }
  if (',;:'.includes(char)) {
    const face = before === undefined || before === ' ' ? match(facePattern, text, at) : null
    if (face !== null) return nothing(at + face[0].length)
    const inWord = char === ':' && isAlphanumeric(before) && isAlphanumeric(after)
    return pause(at + 1, inWord ? ',' : (char as ',' | ';' | ':'))
  }
  if ('()[]{}'.includes(char)) return bracket(text, at)
  if (text.startsWith('||', at) && before === ' ' && text[at + 2] === ' ') return between(at + 2, 'or')
  if (char === '|' || char === '•' || char === '∙') return pause(at + 1)
  if (text.startsWith('->', at) || text.startsWith('=>', at) || text.startsWith('<-', at)) return pause(at + 2)
  for (const [sign, words] of long)
    if (text.startsWith(sign, at))
      return between(at + sign.length, words, /[<>]=/.test(sign) && isDigit(text[at + sign.length]))
  return arithmetic(text, at, spoken) ?? named(text, at, spoken)
}

function arithmetic(text: string, at: number, spoken: boolean): Sign | null {
  const char = text[at] as string
  const before = text[at - 1]
  const after = text[at + 1]
  if (char === '+') {
    const rank = rankAt(text, at)
    if (rank !== null) return { kind: 'say', to: at + 1, words: rank }
    const number = isAlphanumeric(before) ? null : phoneAt(text, at)
    if (number !== null) return { kind: 'say', ...number }
    if (isAlphanumeric(before) && !isAlphanumeric(after) && after !== ' ') return say(at + 1, 'plus', spoken)
    if (isAlphanumeric(before) && after === ' ') return say(at + 1, 'plus', spoken)
    return between(at + 1, 'plus', isDigit(after))
  }
  if (char === "'") {
    const prime = match(/'{1,2}(?=\()/y, text, at)?.[0].length ?? 0
    const isOfFunction = prime > 0 && /(?:^|[^A-Za-z])[A-Za-z]$/.test(text.slice(Math.max(0, at - 2), at))
    return isOfFunction ? say(at + prime, prime === 1 ? 'prime' : 'double prime', spoken) : null
  }
  if (char === '!' && isNegation(text, at)) return between(at + 1, 'not', true)
  if (char === '!' && isFactorial(text, at)) return say(at + 1, 'factorial', spoken)
  if (char === '*' && /(?:^|[^A-Za-z])(?:select|import|export) $/i.test(text.slice(Math.max(0, at - 8), at)))
    return between(at + 1, 'star')
  if (char === '*') return touchesNumber(text, at) ? between(at + 1, 'times') : nothing(at + 1)
  if (char === '<' || char === '>') {
    const words = char === '<' ? 'less than' : 'greater than'
    // "Settings > Privacy" is the way through menus.
    if (char === '>' && /[A-Za-z]{2} $/.test(text.slice(at - 3, at)) && match(/> "?[A-Z][a-z]/y, text, at) !== null)
      return pause(at + 1)
    const sign = (before === ' ' && after === ' ') || isDigit(after) || touchesNumber(text, at)
    return sign ? between(at + 1, words, isDigit(after)) : nothing(at + 1)
  }
  if (char === '^') return power(text, at, spoken)
  if (char === '‰') return say(at + 1, 'per thousand', spoken && (before === ' ' || isAlphanumeric(before)))
  if (char === '%') return say(at + 1, 'percent', spoken && (before === ' ' || isAlphanumeric(before)))
  if (char === '.') {
    if (isAlphanumeric(before) && isAlphanumeric(after))
      return between(at + 1, isDigit(before) && isDigit(after) ? 'point' : 'dot')
    if (isLetter(after) && (before === undefined || before === ' ')) return between(at + 1, 'dot', true)
    const digits = match(/\.(\d{1,20})(?![\d])/y, text, at)
    return digits === null
      ? null
      : { kind: 'say', to: at + digits[0].length, words: `point ${digitWords(digits[1] as string)}` }
  }
  return null
}

/** "5! = 120", "n!/2". */
export const isFactorial = (text: string, at: number): boolean =>
  /(?:\d|(?:^|[^A-Za-z])[kmnx]|\))$/.test(text.slice(Math.max(0, at - 2), at)) &&
  match(/! ?[=*×·÷+/<>] ?[\dkmnx(](?![a-z])/y, text, at) !== null

/** "a || !b", "if !done" */
export const isNegation = (text: string, at: number): boolean =>
  isLetter(text[at + 1]) && /(?:\(|[|&=] |\bif )$/.test(text.slice(Math.max(0, at - 4), at))

/** "grade B-", "type O+ blood", "AB- blood". @returns null if the sign is none behind a capital */
function rankAt(text: string, at: number): string | null {
  const left = text.slice(Math.max(0, at - 16), at)
  if (match(/[-+](?![A-Za-z0-9<>=+-])/y, text, at) === null) return null
  const isBlood =
    /(?:^|[^A-Za-z])(?:A|B|AB|O)$/.test(left) &&
    (/\b(?:type|blood) [ABO]{1,2}$/i.test(left) || text.startsWith(' blood', at + 1))
  if (isBlood) return text[at] === '+' ? 'positive' : 'negative'
  return text[at] === '-' && /(?:^|[^A-Za-z0-9])[A-F]$/.test(left) ? 'minus' : null
}

const say = (to: number, words: string, when: boolean): Sign => (when ? { kind: 'say', to, words } : nothing(to))

function named(text: string, at: number, spoken: boolean): Sign {
  const char = text[at] as string
  if (match(/&c\./y, text, at) !== null) return { kind: 'say', to: at + 3, words: 'et cetera' }
  const before = text[at - 1]
  const after = text[at + 1]
  if (char === '#') {
    const color = match(/#(?=\d*[A-Fa-f])(?=[A-Fa-f]*\d)([0-9A-Fa-f]{6})(?![A-Za-z0-9])/y, text, at)
    if (color !== null) return { kind: 'say', to: at + 7, words: `hash ${spelledDigits(color[1] as string)}` }
    if (isDigit(after)) return between(at + 1, 'number', true)
    const isNumber = /\b(?:order|invoice|ticket|case|issue|item|ref) $/i.test(text.slice(Math.max(0, at - 9), at))
    if (isLetter(after) && !isAlphanumeric(before)) return between(at + 1, isNumber ? 'number' : 'hashtag', true)
    return before === ' ' ? between(at + 1, 'hash') : nothing(at + 1)
  }
  if (char === '@') return between(at + 1, 'at', isAlphanumeric(after) && !isAlphanumeric(before))
  if (char === '~') {
    if (isDigit(after)) return between(at + 1, 'about', true)
    if (after === '/' && text[at + 2] === '.') return between(at + 3, 'tilde slash dot', true)
    return after === '/' ? between(at + 1, 'tilde', true) : nothing(at + 1)
  }
  if (char === '/')
    return isAlphanumeric(after) || (before === ' ' && after === ' ') ? slash(text, at, spoken) : nothing(at + 1)
  if (char === '©' && /copyright $/i.test(text.slice(Math.max(0, at - 10), at))) return nothing(at + 1)
  const scale = char === '°' ? match(/°([CF])(?![A-Za-z0-9])/y, text, at)?.[1] : undefined
  if (scale !== undefined)
    return { kind: 'say', to: at + 2, words: scale === 'C' ? 'degrees Celsius' : 'degrees Fahrenheit' }
  if (char === '§' && (before === '§' || after === '§'))
    return before === '§' ? nothing(at + 1) : between(at + 1, 'sections', true)
  if (char === '°' || char === '∞') return say(at + 1, short[char] as string, spoken)
  const words = short[char]
  return words === undefined ? nothing(at + 1) : between(at + 1, words, standsAlone.has(char))
}

const ratePattern = /\/(second|minute|hour|day|week|month|year|s|sec|min|hr|wk|mo|yr)(?![A-Za-z0-9/+-]|\.[A-Za-z])/y
const shortRates: Readonly<Record<string, string>> = {
  s: 'second',
  sec: 'second',
  min: 'minute',
  hr: 'hour',
  wk: 'week',
  mo: 'month',
  yr: 'year',
}

/** "requests/second", "3x/day", "req/s", "8 L/100 km". */
function rateAt(text: string, at: number): Sign | null {
  const left = text
    .slice(Math.max(0, at - 24), at)
    .split(' ')
    .at(-1) as string
  // A path: "src/items/min".
  if (left.includes('/')) return null
  if (/(?:^|[^A-Za-z])[Ll]$/.test(left) && match(/\/100 ?km/y, text, at) !== null) return between(at + 1, 'per')
  const found = match(ratePattern, text, at)
  const what = found?.[1] ?? ''
  const isMany = /[a-z][a-rt-z]s$|\dx$/.test(left) || (what === 's' && /[a-z]{3}$/.test(left))
  if (found === null || !isMany) return null
  return { kind: 'say', to: at + found[0].length, words: `per ${shortRates[what] ?? what}` }
}

/** "TCP/IP" and "A/B" are read without the sign. */
function slash(text: string, at: number, spoken: boolean): Sign {
  const isJoint = /(?:^|[^A-Za-z])[A-Z]{1,5}$/.test(text.slice(Math.max(0, at - 6), at))
  if (text[at - 1] === ' ' && /[\d)]/.test(text[at - 2] ?? '') && match(/\/ \d[\d.,]{0,15} ?=/y, text, at) !== null)
    return between(at + 1, 'divided by')
  const rate = rateAt(text, at)
  if (rate !== null) return rate
  if (/(?:^|[^A-Za-z])f$/.test(text.slice(Math.max(0, at - 2), at)) && isDigit(text[at + 1])) return nothing(at + 1)
  if (isJoint && match(/\/[A-Z]{1,5}(?![A-Za-z])/y, text, at) !== null) return nothing(at + 1)
  return between(at + 1, 'slash', !spoken || text[at - 1] === ' ')
}

function touchesNumber(text: string, at: number): boolean {
  const before = text[at - 1] === ' ' ? at - 2 : at - 1
  const after = text[at + 1] === ' ' ? at + 2 : at + 1
  const letter = (one: number, next: number) => isLetter(text[one]) && !isLetter(text[next])
  const value = (one: number, next: number) => isDigit(text[one]) || letter(one, next)
  return (value(before, before - 1) || text[before] === ')') && (value(after, after + 1) || text[after] === '(')
}

/** x^2, 10^6; a raised figure behind a longer word is a footnote and is not read. */
function power(text: string, at: number, spoken: boolean): Sign {
  const digits = match(/\^(\d{1,3})(?!\d)/y, text, at)
  if (digits === null) return between(at + 1, 'to the power of')
  const to = at + digits[0].length
  // "¹⁴C", and the version "^1.2".
  const isFirst = !spoken || ' ('.includes(text[at - 1] ?? ' ')
  if (isFirst && match(/\^\d{1,3}(?:[A-Z]|\.\d)/y, text, at) !== null) return nothing(at + 1)
  const left = text.slice(Math.max(0, at - 4), at)
  const charge = /(?:^|[^A-Za-z])[A-Z][a-z]?$/.test(left) ? match(/\^(\d)\+(?= [a-z]|[,.;:)]|$)/y, text, at) : null
  if (charge !== null)
    return { kind: 'say', to: at + charge[0].length, words: `${digitWords(charge[1] as string)} plus` }
  const footnote = /[A-Za-z]{3}$/.test(left) && !/(?:^|[^A-Za-z])(?:sin|cos|tan|log)$/.test(left)
  if (footnote || !spoken) return nothing(to)
  if (digits[1] === '2') return { kind: 'say', to, words: 'squared' }
  if (digits[1] === '3') return { kind: 'say', to, words: 'cubed' }
  return between(at + 1, 'to the power of')
}

const ends: readonly (readonly [RegExp, RegExp])[] = [
  [/(?:\D|^)\d{1,2}\/\d{1,2}$/, /^\d{1,2}\/\d{1,2}(?![\d/])/],
  [/'\d\d$/, /^'\d\d(?!\d)/],
  [/\d(?:st|nd|rd|th)$/, /^\d{1,3}(?:st|nd|rd|th)(?![A-Za-z])/],
]

/** Whether it stands between two of a kind: "Q1–Q3", "12/24-12/26", "'24–'25", "10th–12th". */
function joinsEnds(text: string, at: number): boolean {
  const left = text.slice(Math.max(0, at - 6), at)
  const right = text.slice(at + 1, at + 8)
  const series = /(?:^|[^A-Za-z])([A-Z])\d{1,3}$/.exec(left)?.[1]
  if (series !== undefined && right[0] === series && isDigit(right[1])) return true
  return ends.some(([first, last]) => first.test(left) && last.test(right))
}

function dash(text: string, at: number): Sign {
  let to = at
  while (text[to] === text[at]) to++
  const before = text[at - 1]
  const after = text[to]
  if (to - at === 1 && joinsEnds(text, at)) return between(to, 'to')
  if (to - at === 1 && text[at] === '-') {
    if (after === '>') return pause(to + 1)
    const isOffset = /(?:UTC|GMT)$/.test(text.slice(Math.max(0, at - 3), at))
    // 6'-2"
    if (before === "'" && isDigit(text[at - 2])) return nothing(to)
    const opens = before === undefined || isOffset || ' (["\'=<>$^\u0001\u0002'.includes(before)
    if (opens && /^(?:\d|[.$£€]\d)/.test(text.slice(to, to + 2))) return between(to, 'minus', true)
    if (before === ' ' && after === ' ') {
      const start = /\d{1,4} $/.exec(text.slice(Math.max(0, at - 5), at))
      const isHeading = start !== null && isNumbered(text, at - start[0].length)
      const sum = !isHeading && touchesNumber(text, at) && (isDigit(text[at - 2]) || isDigit(text[to + 1]))
      return sum ? between(to, 'minus') : fine(to, '—')
    }
    return nothing(to)
  }
  if (to - at === 1 && text[at] === '–' && isDigit(before) && isDigit(after)) return between(to, 'to')
  // A flag of a command: "--host".
  if (text[at] === '-' && before === ' ' && isAlphanumeric(after)) return nothing(to)
  const joined = text[at] === '–' && isAlphanumeric(before) && isAlphanumeric(after)
  return joined ? nothing(to) : fine(to, '—')
}

/** A bracket is a pause, unless it is inside a word: "word(s)", "f(x)". */
function bracket(text: string, at: number): Sign {
  const before = text[at - 1]
  const opening = '([{'.includes(text[at] as string)
  const phone = text[at] === '(' ? phoneAt(text, at) : null
  if (phone !== null) return { kind: 'say', ...phone }
  if (opening)
    return isAlphanumeric(before) || /[A-Za-z]'{1,2}$/.test(text.slice(Math.max(0, at - 3), at))
      ? nothing(at + 1)
      : fine(at + 1, '(')
  return text[at + 1] === ' ' && !isTight(text, at) ? fine(at + 1, ')') : nothing(at + 1)
}

/** Whether the bracket that closes at `at` was opened within a word: "word(s) and". */
function isTight(text: string, at: number): boolean {
  for (let back = at - 1; back >= Math.max(0, at - 12); back--) {
    if (text[back] === ' ') return false
    if ('([{'.includes(text[back] as string)) return isAlphanumeric(text[back - 1])
  }
  return false
}
