/** Numbers as words, American style without "and". Everything takes digits as text, so that no precision is lost. */
// prettier-ignore
const small = [
  'zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve',
  'thirteen', 'fourteen', 'fifteen', 'sixteen', 'seventeen', 'eighteen', 'nineteen',
]
const tens = ['', '', 'twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety']
const scales = ['', ' thousand', ' million', ' billion', ' trillion']

/** Longest number that is read as one; longer runs are read digit by digit. */
const maxDigits = 15

function hundreds(value: number): string {
  if (value < 20) return small[value] as string
  if (value < 100) return tens[Math.floor(value / 10)] + (value % 10 === 0 ? '' : ` ${small[value % 10]}`)
  const rest = value % 100
  return `${small[Math.floor(value / 100)]} hundred${rest === 0 ? '' : ` ${hundreds(rest)}`}`
}

/** "007" -> "zero zero seven". */
export const digitWords = (digits: string): string => Array.from(digits, (digit) => small[Number(digit)]).join(' ')

/** @param digits only digits; with leading zeros or too many of them it is read digit by digit */
export function cardinal(digits: string): string {
  if (digits.length > maxDigits || (digits.length > 1 && digits[0] === '0')) return digitWords(digits)
  if (Number(digits) === 0) return 'zero'
  const groups: string[] = []
  for (let end = digits.length, scale = 0; end > 0; end -= 3, scale++) {
    const value = Number(digits.slice(Math.max(0, end - 3), end))
    if (value > 0) groups.unshift(hundreds(value) + scales[scale])
  }
  return groups.join(' ')
}

const ordinals: Record<string, string> = {
  one: 'first',
  two: 'second',
  three: 'third',
  five: 'fifth',
  eight: 'eighth',
  nine: 'ninth',
  twelve: 'twelfth',
}

/** The last word of a cardinal as an ordinal: "twenty one" -> "twenty first". */
export function ordinal(digits: string): string {
  const words = cardinal(digits).split(' ')
  const last = words.pop() as string
  words.push(ordinals[last] ?? (last.endsWith('y') ? `${last.slice(0, -1)}ieth` : `${last}th`))
  return words.join(' ')
}

/** @param digits optionally with thousands separators and a decimal point: "1,234.50" */
export function decimal(digits: string): string {
  const [whole = '', fraction] = digits.replaceAll(',', '').split('.')
  const words = cardinal(whole === '' ? '0' : whole)
  return fraction === undefined || fraction === '' ? words : `${words} point ${digitWords(fraction)}`
}

/** Four digits as a year: "nineteen oh five", "two thousand nine", "twenty twenty four". */
export function year(digits: string): string {
  const value = Number(digits)
  const century = Math.floor(value / 100)
  const rest = value % 100
  if (digits.length !== 4 || value < 1000 || (century % 10 === 0 && rest < 10)) return cardinal(digits)
  if (rest === 0) return `${hundreds(century)} hundred`
  return `${hundreds(century)} ${rest < 10 ? `oh ${small[rest]}` : hundreds(rest)}`
}

/** "nineties": the last word of a number in the plural. */
export function plural(words: string): string {
  if (words.endsWith('y')) return `${words.slice(0, -1)}ies`
  return words.endsWith('x') ? `${words}es` : `${words}s`
}

const denominators = new Set([2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 32, 64, 100, 1000])

/** "three quarters"; null when the pair is not usually read as a fraction (24/7, 9/11, 16/9). */
export function fraction(top: string, bottom: string): string | null {
  if (top.length > 3 || !denominators.has(Number(bottom)) || Number(top) >= Number(bottom) || Number(top) === 0)
    return null
  const one = Number(top) === 1
  if (bottom === '2') return 'one half'
  if (bottom === '4') return `${cardinal(top)} ${one ? 'quarter' : 'quarters'}`
  return `${cardinal(top)} ${one ? ordinal(bottom) : plural(ordinal(bottom))}`
}

const romanValues: Record<string, number> = { I: 1, V: 5, X: 10, L: 50, C: 100 }

/** The value of a well-formed Roman numeral below 90, else null. */
export function roman(letters: string): number | null {
  if (!/^(?:X{0,3}|XL|LX{0,3})(?:IX|IV|V?I{0,3})$/.test(letters) || letters === '') return null
  let value = 0
  for (let at = 0; at < letters.length; at++) {
    const here = romanValues[letters[at] as string] as number
    value += here < (romanValues[letters[at + 1] ?? ''] ?? 0) ? -here : here
  }
  return value
}
