/** Sums of money: "$5.20", "£3m", "€1.000,50", "US$5", "USD 5". */
import { cardinal, decimal } from './numbers.ts'
import { mayEnd } from './abbreviations.ts'
import { isCurrencyCode, isDescribing, perAt, pluralUnit, unitName } from './units.ts'
import { match, type Said } from './rule.ts'

/** Name in the singular, name of the hundredth part. */
const currencies: Record<string, readonly [string, string]> = {
  $: ['dollar', 'cent'],
  '£': ['pound', 'penny'],
  '€': ['euro', 'cent'],
  '¥': ['yen', ''],
  '₹': ['rupee', 'paisa'],
  '₩': ['won', ''],
  '₽': ['ruble', 'kopeck'],
  '₺': ['Turkish lira', ''],
  '₴': ['hryvnia', ''],
  '₪': ['shekel', ''],
  '฿': ['baht', ''],
  '₫': ['dong', ''],
  '₱': ['peso', ''],
  '₦': ['naira', ''],
  '₿': ['bitcoin', ''],
}
export const currencySigns = Object.keys(currencies).join('')
/** The dollar sign of Brazil. */
const real = ['real', 'centavo'] as const
const countries: Record<string, string> = {
  US: 'U S ',
  CA: 'Canadian ',
  C: 'Canadian ',
  AU: 'Australian ',
  A: 'Australian ',
  NZ: 'New Zealand ',
  HK: 'Hong Kong ',
  S: 'Singapore ',
  NT: 'Taiwan ',
  MX: 'Mexican ',
}
const signPattern = new RegExp(`(US|CA|AU|NZ|HK|NT|MX|C|A|S|R(?=\\$))?([${currencySigns}]) ?`, 'y')
const amountPattern = /(\d{1,2}(?:,\d\d){1,4},\d{3}(?!\d)|\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(\.\d{1,10})?(?![\d])/y
const continentalPattern = /(\d{1,3}(?:\.\d{3}){1,4}|\d{1,12}),(\d\d)(?!,?\d)/y
const rangePattern = /(?:[-–]| ?[-–] ?[$£€¥₹₩₽₺₴₪฿₫₱₦₿])(\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(\.\d{1,10})?(?![\d])/y
const scalePattern = / ?(thousand|million|billion|trillion|mm|bn|tn|[kKmMbBT])(?![A-Za-z0-9])/y
/** What is called by its price: "$20 bills". */
const pricedPattern = / (?:bill|note|coin|coupon|voucher|ticket|gift card|cheque|check)s?\b/y
const scaleWords: Record<string, string> = {
  k: 'thousand',
  m: 'million',
  mm: 'million',
  b: 'billion',
  bn: 'billion',
  t: 'trillion',
  tn: 'trillion',
}

/** Plural of the hundredth: pence and paise do not follow the rule. */
const hundredths = (name: string, many: boolean): string =>
  !many ? name : name === 'penny' ? 'pence' : name === 'paisa' ? 'paise' : `${name}s`

const oldPattern = /(?:£(\d{1,6}) (\d{1,2})s(?:\.? (\d{1,2})d)?|(\d{1,2})s\.? (\d{1,2})d)(?![A-Za-z0-9])\.?/y

/** "£5 10s. 6d.": shillings and pence, as Britain counted until 1971. */
export function oldMoneyAt(text: string, at: number): Said | null {
  const found = match(oldPattern, text, at)
  if (found === null) return null
  const to = at + found[0].length
  const [pounds, shillings, pence] = [found[1], found[2] ?? found[4], found[3] ?? found[5]]
  const parts = [
    [pounds, 'pound', 'pounds'],
    [shillings, 'shilling', 'shillings'],
    [pence, 'penny', 'pence'],
  ] as const
  const words = parts.flatMap(([digits, one, many]) =>
    digits === undefined ? [] : [`${cardinal(digits)} ${digits === '1' ? one : many}`],
  )
  return { to, words: words.join(' '), stop: found[0].endsWith('.') && mayEnd(text, to, true) }
}

/** A sum that begins with its sign. */
export function moneyAt(text: string, at: number): Said | null {
  const old = oldMoneyAt(text, at)
  if (old !== null) return old
  const sign = match(signPattern, text, at)
  if (sign === null) return null
  const isReal = sign[1] === 'R'
  const [name, part] = isReal ? real : (currencies[sign[2] as string] as readonly [string, string])
  const country = sign[1] === undefined || isReal ? '' : (countries[sign[1]] as string)
  const from = at + sign[0].length
  const continental = match(continentalPattern, text, from)
  if (continental !== null) {
    const whole = (continental[1] as string).replaceAll('.', '')
    return { to: from + continental[0].length, words: sum(whole, continental[2] as string, country + name, part) }
  }
  return amount(text, from, country + name, part)
}

function amount(text: string, from: number, name: string, part: string): Said | null {
  const cents = part === '' ? null : match(/\.(\d\d)(?![\d])/y, text, from)
  if (cents !== null) return perAt(text, from + 3, sum('0', cents[1] as string, name, part))
  const first = match(amountPattern, text, from)
  if (first === null) return null
  const whole = (first[1] as string).replaceAll(',', '')
  const fraction = first[2]?.slice(1)
  const end = from + first[0].length
  const scale = scaleAt(text, end)
  const range = match(rangePattern, text, scale.to)
  if (range === null && scale.words === '' && fraction?.length === 2) {
    return perAt(text, end, sum(whole, fraction, name, part))
  }
  const written = decimal(whole + (first[2] ?? '')) + scale.words
  if (range === null) {
    const isOne =
      (scale.words === '' && whole === '1' && fraction === undefined) ||
      isDescribing(text, end, scale.to) ||
      match(pricedPattern, text, scale.to) !== null
    return perAt(text, scale.to, `${written} ${isOne ? name : pluralName(name)}`)
  }
  const upper = scaleAt(text, scale.to + range[0].length)
  const highest = decimal((range[1] as string) + (range[2] ?? '')) + upper.words
  return perAt(text, upper.to, `${written} to ${highest} ${pluralName(name)}`)
}

/** "million" or "m" behind the digits of a sum. */
function scaleAt(text: string, at: number): { to: number; words: string } {
  const scale = match(scalePattern, text, at)
  if (scale === null) return { to: at, words: '' }
  const written = scale[1] as string
  return { to: at + scale[0].length, words: ` ${scaleWords[written.toLowerCase()] ?? written}` }
}

function sum(whole: string, fraction: string, name: string, part: string): string {
  const major = `${cardinal(whole)} ${whole === '1' ? name : pluralName(name)}`
  if (part === '' || Number(fraction) === 0) return major
  const cents = String(Number(fraction))
  const minor = `${cardinal(cents)} ${hundredths(part, cents !== '1')}`
  return Number(whole) === 0 ? minor : `${major} and ${minor}`
}

/** "50p", "a 1p coin"; three digits and a p are a picture's lines. */
export function penceAt(text: string, at: number): Said | null {
  const found = match(/(\d{1,2})p(?![A-Za-z0-9])/y, text, at)
  if (found === null) return null
  const digits = found[1] as string
  return { to: at + found[0].length, words: `${cardinal(digits)} ${digits === '1' ? 'penny' : 'pence'}` }
}

const pluralName = (name: string): string => (/won$|baht$|dong$|naira$/.test(name) ? name : pluralUnit(name))

/** A sum that begins with its code: "USD 5". */
export function codeMoneyAt(text: string, at: number, code: string): Said | null {
  if (!isCurrencyCode(code) || text[at + 3] !== ' ' || text[at - 1] === '/') return null
  return amount(text, at + 4, unitName(code) as string, 'cent')
}

/** "Rs. 500". */
export function rupeesAt(text: string, at: number): Said | null {
  const sign = match(/Rs\.? ?(?=\d)/y, text, at)
  return sign && amount(text, at + sign[0].length, 'rupee', 'paisa')
}

/** "5,20 €": a sum with a decimal comma is one only if a sign follows. */
export function trailingMoneyAt(text: string, at: number): Said | null {
  const found = match(continentalPattern, text, at) ?? match(/(\d{1,3}(?:\.\d{3}){1,3})()(?= ?€)/y, text, at)
  if (found === null) return null
  const to = at + found[0].length
  const sign = match(/ ?([€£$])/y, text, to)
  if (sign === null) return null
  const [name, part] = currencies[sign[1] as string] as readonly [string, string]
  return {
    to: to + sign[0].length,
    words: sum((found[1] as string).replaceAll('.', ''), found[2] as string, name, part),
  }
}
