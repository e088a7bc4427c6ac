/** Units of measure and currency codes that stand behind a number. */
import { mayEnd } from './abbreviations.ts'
import { isAlphanumeric, match } from './rule.ts'

const table: Record<string, string> = {
  km: 'kilometer',
  m: 'meter',
  cm: 'centimeter',
  mm: 'millimeter',
  µm: 'micrometer',
  nm: 'nanometer',
  in: 'inch',
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
  'fl oz': 'fluid ounce',
  tsp: 'teaspoon',
  tbsp: 'tablespoon',
  pkg: 'package',
  qt: 'quart',
  gal: 'gallon',
  mcg: 'microgram',
  l: 'liter',
  L: 'liter',
  ml: 'milliliter',
  mL: 'milliliter',
  cl: 'centiliter',
  dl: 'deciliter',
  mph: 'mile per hour',
  mpg: 'mile per gallon',
  bpm: 'beat per minute',
  ppm: 'part per million',
  ppb: 'part per billion',
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
  kb: 'kilobit',
  Kb: 'kilobit',
  Mb: 'megabit',
  Gb: 'gigabit',
  kbit: 'kilobit',
  Mbit: 'megabit',
  Gbit: 'gigabit',
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
  kOhm: 'kilohm',
  MOhm: 'megohm',
  µF: 'microfarad',
  nF: 'nanofarad',
  pF: 'picofarad',
  µA: 'microamp',
  µV: 'microvolt',
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
  MP: 'megapixel',
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
  mol: 'mole',
  mmol: 'millimole',
  lm: 'lumen',
  lx: 'lux',
  Nm: 'newton meter',
  Ah: 'amp hour',
  wks: 'week',
  'mm Hg': 'millimeter of mercury',
  mmHg: 'millimeter of mercury',
  ha: 'hectare',
  'm^2': 'square meter',
  'km^2': 'square kilometer',
  'cm^2': 'square centimeter',
  'mm^2': 'square millimeter',
  'ft^2': 'square foot',
  'm^3': 'cubic meter',
  'cm^3': 'cubic centimeter',
  'm/s^2': 'meter per second squared',
  'in^2': 'square inch',
  'mi^2': 'square mile',
  'in^3': 'cubic inch',
  'sq ft': 'square foot',
  'sq in': 'square inch',
  'sq yd': 'square yard',
  'sq mi': 'square mile',
  'cu ft': 'cubic foot',
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
  NOK: 'Norwegian krone',
  DKK: 'Danish krone',
  kr: 'krone',
  PLN: 'zloty',
  zl: 'zloty',
  MXN: 'Mexican peso',
  BRL: 'Brazilian real',
  SGD: 'Singapore dollar',
  HKD: 'Hong Kong dollar',
  NZD: 'New Zealand dollar',
  KRW: 'won',
  ZAR: 'rand',
  BTC: 'bitcoin',
}
const units = new Map(Object.entries(table))

/** Units that are words or names too: read as units only where no space is between. */
const attachedOnly = new Set(['A', 'B', 'K', 'J', 'N', 'pt', 'ha'])
/** Other words in capitals: "20 Ms. Smith" has no milliseconds, "ISO-2022-KR" no kroner. */
const exact = /^(?:Ms|KR|ZL|LX|LM|NF|PF)$/
/** These are also the letters of flats, gates and seats ("12B"): units only behind a fraction ("2.5A"). */
const letters = new Set(['A', 'B', 'J', 'K', 'N'])
const invariable = new Set([
  'percent',
  'hertz',
  'kilohertz',
  'megahertz',
  'gigahertz',
  'yen',
  'yuan',
  'won',
  'rand',
  'lux',
  'kelvin',
])
const area = '(?:sq|cu|fl)\\.? (?:ft|km|m|in|yd|mi|oz)'
const rate = 'mm Hg|km/h|m/s\\^2|m/s|[kMG]B/s'
const unitPattern = new RegExp(
  `([ -]?)((?:${area}|${rate}|°[CF]?|[%€£¥¢$]|µ?[A-Za-z]{1,4})(?:\\^?[23])?)(?![A-Za-z0-9'])`,
  'y',
)
/** "in" is a word unless a stop or a word about size follows it, or feet or inches were before the number. */
const inchPattern =
  /in(?:\.| =|(?= (?:x|×|by|(?:tall|wide|long|deep|high|thick)(?! (?!and|or|by|x|at)[a-z])|of (?:rain|snow))\b))/y
const sizeBefore = /(?:\bft\.?|\bfeet|\bfoot|\bin\.? (?:x|×|by)) \d[\d./ ]{0,8}$/
const perPattern = /\/([A-Za-z]{1,8}(?:\^?[23])?)(?![A-Za-z0-9/^])/y
const perWords: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    'day week month year hour minute second person user night unit side serving piece'
      .split(' ')
      .map((word) => [word, word]),
  ),
  d: 'day',
  wk: 'week',
  mo: 'month',
  bbl: 'barrel',
}

const plurals: Readonly<Record<string, string>> = { foot: 'feet', krona: 'kronor', krone: 'kroner', real: 'reais' }

export function pluralUnit(singular: string): string {
  if (invariable.has(singular) || /^[A-Z]( [A-Z])*$/.test(singular)) return singular
  const [, head = '', rest = ''] = /^(.*?)((?: per | of ).*)?$/.exec(singular) ?? []
  const [, one = '', scale = ''] = /^(.*?)( Celsius| Fahrenheit)?$/.exec(head) ?? []
  const irregular = /^(.*)(foot|krona|krone|\breal)$/.exec(one)
  const many =
    irregular === null ? `${one}${one.endsWith('inch') ? 'es' : 's'}` : irregular[1] + plurals[irregular[2]!]!
  return many + scale + rest
}

export const isCurrencyCode = (word: string): boolean => /^[A-Z]{3}$/.test(word) && units.has(word)
export const unitName = (symbol: string): string | undefined => units.get(symbol)

/** A unit behind a number. */
interface Unit {
  to: number
  words: string
  /** The full stop of its abbreviation was read with it and ends the sentence, too. */
  stop?: boolean
}

/** @returns the unit behind a number that ends at `at`, in the plural when `many` */
export function unitAt(text: string, at: number, many: boolean): Unit | null {
  const found = match(unitPattern, text, at)
  if (found === null) return null
  const gap = found[1] as string
  const symbol = (found[2] as string).replace('. ', ' ').replace(/(?<=[a-z])[23]$/, '^$&')
  if (gap === ' ' && attachedOnly.has(symbol) && !isMeasured(text, at, at + found[0].length)) return null
  if (letters.has(symbol) && !/\.\d{1,20}$/.test(text.slice(Math.max(0, at - 21), at))) return null
  if (gap === '-' && (!/^(?:[A-Za-z]{2,4}|[VW])$/.test(symbol) || text[at + found[0].length] === '-')) return null
  if (symbol === 'in' && gap !== '-' && !isInch(text, at, gap)) return null
  const lower = symbol.toLowerCase()
  const name = units.get(symbol) ?? (symbol.length > 1 && !exact.test(symbol) ? units.get(lower) : undefined)
  if (name === undefined) return null
  const to = at + found[0].length
  const isSingular = gap === '-' || isDescribing(text, at, to)
  return withStop(text, perAt(text, to, many && !isSingular ? pluralUnit(name) : name), symbol)
}

const isInch = (text: string, at: number, gap: string): boolean =>
  gap === '' ||
  isMeasured(text, at, at + 3) ||
  match(inchPattern, text, at + 1) !== null ||
  sizeBefore.test(text.slice(Math.max(0, at - 20), at))

/** "0.45 A": a fraction, and nothing behind the letter that it could begin. */
const isMeasured = (text: string, at: number, to: number): boolean =>
  /\d\.\d{1,20}$/.test(text.slice(Math.max(0, at - 23), at)) && match(/$|[.,;:)!?](?: |$)/y, text, to) !== null

const nounPattern = /\.? (?!(?:of|is|was|and|or|to|in|on|at|per|from|for|away)\b)[A-Za-z]/y

/** "a 12 V battery", "a $5 bill": before a noun, an amount behind an article is in the singular. */
export function isDescribing(text: string, at: number, to: number): boolean {
  if (match(nounPattern, text, to) === null) return false
  return /(?:^|[^A-Za-z0-9])(?:an?|this|that|each|every|another) [-$£€¥]?[\d.,]{1,20}$/i.test(
    text.slice(Math.max(0, at - 32), at),
  )
}

/** The inches of `a 27" screen`: a quotation mark behind a number that closes nothing. 5'10" is said without units. */
export function inchMarkAt(text: string, at: number): Unit | null {
  if (text[at] !== '"' || isAlphanumeric(text[at + 1])) return null
  const before = text.slice(Math.max(0, at - 200), at)
  const isClosing = (before.match(/(?<!\d)"|"(?=[A-Za-z])/g)?.length ?? 0) % 2 === 1
  if (isClosing || /'[-\d./ ]{1,8}$/.test(before)) return null
  const isSingular =
    match(/ (?!(?:x|by|tall|wide|long|deep|high|thick|of|and|or|in|on)\b)[A-Za-z]/y, text, at + 1) !== null
  return { to: at + 1, words: isSingular ? 'inch' : 'inches' }
}

/** "1 lb. of beef": the stop of an abbreviation. */
function withStop(text: string, unit: Unit, symbol: string): Unit {
  if (!/^[A-Za-z]/.test(symbol) || text[unit.to] !== '.' || isAlphanumeric(text[unit.to + 1])) return unit
  return {
    ...unit,
    to: unit.to + 1,
    stop: mayEnd(text, unit.to + 1, true) && match(/ [NSEW]{1,2} of\b/y, text, unit.to + 1) === null,
  }
}

/** "/day" or "/kg" behind an amount. */
export function perAt(text: string, at: number, words: string): Unit {
  const per = match(perPattern, text, at)
  const what = (per?.[1] ?? '').replace(/(?<=[a-z])[23]$/, '^$&')
  const name = Object.hasOwn(perWords, what) ? perWords[what] : units.get(what)
  return per === null || name === undefined
    ? { to: at, words }
    : { to: at + per[0].length, words: `${words} per ${name}` }
}
