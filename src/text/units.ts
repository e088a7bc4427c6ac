/** Units of measure and currency codes that stand behind a number. */
import { match } from './rule.ts'

const table: Record<string, string> = {
  km: 'kilometer',
  m: 'meter',
  cm: 'centimeter',
  mm: 'millimeter',
  µm: 'micrometer',
  nm: 'nanometer',
  mi: 'mile',
  ft: 'foot',
  yd: 'yard',
  kg: 'kilogram',
  g: 'gram',
  mg: 'milligram',
  µg: 'microgram',
  lb: 'pound',
  lbs: 'pound',
  oz: 'ounce',
  l: 'liter',
  L: 'liter',
  ml: 'milliliter',
  mL: 'milliliter',
  cl: 'centiliter',
  dl: 'deciliter',
  mph: 'mile per hour',
  kph: 'kilometer per hour',
  'km/h': 'kilometer per hour',
  'm/s': 'meter per second',
  '°C': 'degree Celsius',
  '°F': 'degree Fahrenheit',
  '°': 'degree',
  K: 'kelvin',
  B: 'byte',
  kB: 'kilobyte',
  KB: 'kilobyte',
  MB: 'megabyte',
  GB: 'gigabyte',
  TB: 'terabyte',
  PB: 'petabyte',
  KiB: 'kibibyte',
  MiB: 'mebibyte',
  GiB: 'gibibyte',
  TiB: 'tebibyte',
  kbps: 'kilobit per second',
  Kbps: 'kilobit per second',
  Mbps: 'megabit per second',
  Gbps: 'gigabit per second',
  'kB/s': 'kilobyte per second',
  'MB/s': 'megabyte per second',
  'GB/s': 'gigabyte per second',
  Hz: 'hertz',
  kHz: 'kilohertz',
  MHz: 'megahertz',
  GHz: 'gigahertz',
  W: 'watt',
  kW: 'kilowatt',
  MW: 'megawatt',
  GW: 'gigawatt',
  Wh: 'watt hour',
  kWh: 'kilowatt hour',
  MWh: 'megawatt hour',
  V: 'volt',
  kV: 'kilovolt',
  mV: 'millivolt',
  A: 'amp',
  mA: 'milliamp',
  mAh: 'milliamp hour',
  Ohm: 'ohm',
  s: 'second',
  ms: 'millisecond',
  µs: 'microsecond',
  ns: 'nanosecond',
  sec: 'second',
  secs: 'second',
  min: 'minute',
  mins: 'minute',
  h: 'hour',
  hr: 'hour',
  hrs: 'hour',
  yr: 'year',
  yrs: 'year',
  px: 'pixel',
  pt: 'point',
  dB: 'decibel',
  psi: 'P S I',
  rpm: 'R P M',
  fps: 'frame per second',
  dpi: 'D P I',
  kcal: 'kilocalorie',
  cal: 'calorie',
  J: 'joule',
  kJ: 'kilojoule',
  N: 'newton',
  Pa: 'pascal',
  kPa: 'kilopascal',
  hPa: 'hectopascal',
  ha: 'hectare',
  'm^2': 'square meter',
  'km^2': 'square kilometer',
  'cm^2': 'square centimeter',
  'mm^2': 'square millimeter',
  'ft^2': 'square foot',
  'm^3': 'cubic meter',
  'cm^3': 'cubic centimeter',
  'm/s^2': 'meter per second squared',
  'sq ft': 'square foot',
  'sq km': 'square kilometer',
  'sq m': 'square meter',
  '%': 'percent',
  '€': 'euro',
  '£': 'pound',
  '¥': 'yen',
  '¢': 'cent',
  $: 'dollar',
  USD: 'U S dollar',
  EUR: 'euro',
  GBP: 'British pound',
  JPY: 'yen',
  CHF: 'Swiss franc',
  CAD: 'Canadian dollar',
  AUD: 'Australian dollar',
  INR: 'rupee',
  CNY: 'yuan',
  SEK: 'Swedish krona',
}
const units = new Map(Object.entries(table))

/** Units that are words or names too: read as units only where no space is between. */
const attachedOnly = new Set(['A', 'B', 'K', 'J', 'N', 'pt', 'ha', 'ms', 'cal', 's', 'h', 'mi', 'l'])
/** These are also the letters of flats, gates and seats ("12B"): units only behind a fraction ("2.5A"). */
const letters = new Set(['A', 'B', 'J', 'K', 'N'])
const invariable = new Set(['percent', 'hertz', 'kilohertz', 'megahertz', 'gigahertz', 'yen', 'yuan', 'kelvin'])
const unitPattern =
  /([ -]?)((?:sq (?:ft|km|m)|km\/h|m\/s\^2|m\/s|[kMG]B\/s|°[CF]?|[%€£¥¢$]|µ?[A-Za-z]{1,4})(?:\^[23])?)(?![A-Za-z0-9'])/y
const perPattern = /\/([A-Za-z]{1,8})(?![A-Za-z0-9/])/y
const perWords = new Set([
  'day',
  'week',
  'month',
  'year',
  'hour',
  'minute',
  'second',
  'person',
  'user',
  'night',
  'unit',
])

export function pluralUnit(singular: string): string {
  if (invariable.has(singular) || /^[A-Z]( [A-Z])*$/.test(singular)) return singular
  const [head, ...rest] = singular.split(' per ')
  const many = (head as string)
    .replace(/ Celsius$| Fahrenheit$/, '')
    .replace(/foot$/, 'feet')
    .replace(/krona$/, 'kronor')
  const tail = / (?:Celsius|Fahrenheit)$/.exec(head as string)?.[0] ?? ''
  const words = many.endsWith('feet') || many.endsWith('kronor') ? many : `${many}s`
  return [words + tail, ...rest].join(' per ')
}

export const isCurrencyCode = (word: string): boolean => /^[A-Z]{3}$/.test(word) && units.has(word)
export const unitName = (symbol: string): string | undefined => units.get(symbol)

/** @returns the unit behind a number that ends at `at`, in the plural when `many` */
export function unitAt(text: string, at: number, many: boolean): { to: number; words: string } | null {
  const found = match(unitPattern, text, at)
  if (found === null) return null
  const gap = found[1] as string
  const symbol = found[2] as string
  if (gap === ' ' && attachedOnly.has(symbol)) return null
  if (letters.has(symbol) && !/\.\d{1,20}$/.test(text.slice(Math.max(0, at - 21), at))) return null
  if (gap === '-' && !/^[A-Za-z]{2,4}$/.test(symbol)) return null
  const name = units.get(symbol) ?? (symbol.length > 1 ? units.get(symbol.toLowerCase()) : undefined)
  if (name === undefined) return null
  const words = many && gap !== '-' ? pluralUnit(name) : name
  return perAt(text, at + found[0].length, words)
}

/** "/day" or "/kg" behind an amount. */
export function perAt(text: string, at: number, words: string): { to: number; words: string } {
  const per = match(perPattern, text, at)
  const what = per?.[1] ?? ''
  const name = perWords.has(what) ? what : units.get(what)
  return per === null || name === undefined
    ? { to: at, words }
    : { to: at + per[0].length, words: `${words} per ${name}` }
}
