/** Numbers with other marks between their digits than in English, and the figures of programs. */
import { cardinal, decimal, digitWords } from './numbers.ts'
import { isLetter, match, type Said } from './rule.ts'
import { unitAt } from './units.ts'

/** "1_000_000", "1'000'000", "1.000.000", "1 000 000": no version has two groups of just three digits. */
const groupedPattern = new RegExp(
  String.raw`[1-9]\d{0,2}(?:(?:_\d{3}){1,4}|(?:'\d{3}){1,4}|(?:\.\d{3}){2}|(?: \d{3}){0,3} 000)(?![\w]|\.\d| ?\d)`,
  'y',
)
const commaPattern = /(\d{1,3}),(\d{1,2})(?![\d,])/y

export function groupedAt(text: string, at: number): Said | null {
  const found = text[at - 1] === '.' ? null : match(groupedPattern, text, at)
  if (found === null) return null
  const to = at + found[0].length
  const words = cardinal(found[0].replace(/\D/g, ''))
  const unit = unitAt(text, to, true)
  return unit === null ? { to, words } : { ...unit, words: `${words} ${unit.words}` }
}

/** "1,5 kg": only a unit tells it from a list. */
export function decimalCommaAt(text: string, at: number): Said | null {
  const found = match(commaPattern, text, at)
  if (found === null || text[at - 1] === ',') return null
  const unit = unitAt(text, at + found[0].length, true)
  return unit && { ...unit, words: `${decimal(`${found[1]}.${found[2]}`)} ${unit.words}` }
}

const hexPattern = /0x[0-9A-Fa-f]{1,16}(?![A-Za-z0-9])/y
/** Addresses of network cards, and identifiers of 128 bits. */
const idPattern = new RegExp(
  String.raw`(?:(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}|[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})` +
    String.raw`(?![A-Za-z0-9:-])`,
  'y',
)

/** Digits and letters one by one. */
export function hexAt(text: string, at: number): Said | null {
  const found = match(hexPattern, text, at) ?? match(idPattern, text, at)
  return found && { to: at + found[0].length, words: spelledDigits(found[0]) }
}

/** "7f" -> "seven F". */
export function spelledDigits(written: string): string {
  const parts = written.match(/\d+|[A-Za-z]/g) ?? []
  return parts.map((part) => (isLetter(part) ? (part === 'x' ? part : part.toUpperCase()) : digitWords(part))).join(' ')
}
