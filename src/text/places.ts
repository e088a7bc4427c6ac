/** Addresses: kinds of streets, directions, states behind a town, and "St" before a saint. */
import { mayEnd, startsSentence } from './abbreviations.ts'
import { type Before, match, type Said } from './rule.ts'

/** Certain behind a name; the others only behind the number of a house, too. */
const streets: Readonly<Record<string, string>> = {
  St: 'Street',
  Ave: 'Avenue',
  Blvd: 'Boulevard',
  Rd: 'Road',
  Pkwy: 'Parkway',
  Hwy: 'Highway',
}
const moreStreets: Readonly<Record<string, string>> = {
  Dr: 'Drive',
  Ln: 'Lane',
  Ct: 'Court',
  Pl: 'Place',
  Sq: 'Square',
  Ter: 'Terrace',
  Cir: 'Circle',
}
const streetWord = /^(?:St|Ave|Blvd|Rd|Dr|Ln|Pkwy|Hwy|Street|Avenue|Boulevard|Road|Drive|Lane|Parkway|Highway|Way)$/
const streetAhead = new RegExp(
  String.raw`\.? (?:[A-Z][a-z]{1,20}|\d{1,3}(?:st|nd|rd|th))(?: [A-Z][a-z]{1,20})? ` +
    String.raw`(?:St|Ave|Blvd|Rd|Dr|Ln|Pkwy|Hwy|Street|Avenue|Boulevard|Road|Drive|Lane)(?![A-Za-z])`,
  'y',
)
const houseBefore = /(?:^| )\d{1,6} (?:[NSEW]\.? )?(?:[A-Z0-9][A-Za-z0-9']{0,20} ){1,3}$/
const saints: Readonly<Record<string, string>> = { St: 'Saint', Mt: 'Mount', Ft: 'Fort' }

const directions: Readonly<Record<string, string>> = {
  N: 'North',
  S: 'South',
  E: 'East',
  W: 'West',
  NE: 'Northeast',
  NW: 'Northwest',
  SE: 'Southeast',
  SW: 'Southwest',
}

const states: Readonly<Record<string, string>> = {
  AL: 'Alabama',
  AK: 'Alaska',
  AZ: 'Arizona',
  AR: 'Arkansas',
  CA: 'California',
  CO: 'Colorado',
  CT: 'Connecticut',
  DE: 'Delaware',
  FL: 'Florida',
  GA: 'Georgia',
  HI: 'Hawaii',
  ID: 'Idaho',
  IL: 'Illinois',
  IN: 'Indiana',
  IA: 'Iowa',
  KS: 'Kansas',
  KY: 'Kentucky',
  LA: 'Louisiana',
  ME: 'Maine',
  MD: 'Maryland',
  MA: 'Massachusetts',
  MI: 'Michigan',
  MN: 'Minnesota',
  MS: 'Mississippi',
  MO: 'Missouri',
  MT: 'Montana',
  NE: 'Nebraska',
  NV: 'Nevada',
  NH: 'New Hampshire',
  NJ: 'New Jersey',
  NM: 'New Mexico',
  NY: 'New York',
  NC: 'North Carolina',
  ND: 'North Dakota',
  OH: 'Ohio',
  OK: 'Oklahoma',
  OR: 'Oregon',
  PA: 'Pennsylvania',
  RI: 'Rhode Island',
  SC: 'South Carolina',
  SD: 'South Dakota',
  TN: 'Tennessee',
  TX: 'Texas',
  UT: 'Utah',
  VT: 'Vermont',
  VA: 'Virginia',
  WA: 'Washington',
  WV: 'West Virginia',
  WI: 'Wisconsin',
  WY: 'Wyoming',
}
/** Words that are shouted behind a comma as well: a state only with its ZIP code. */
const shouts = /^(?:OK|HI|OH|ME|IN|OR|ID)$/

export function placeAt(text: string, at: number, word: string, before: Before): Said | null {
  if (!/^(?:[A-Z]{1,2}|[A-Z][a-z]{1,3})$/.test(word)) return null
  return streetAt(text, at, word, before) ?? directionAt(text, at, word, before) ?? stateAt(text, at, word, before)
}

/** "5th Ave", "12 Main St, Springfield", "St Louis", "Hwy 61". */
function streetAt(text: string, at: number, word: string, before: Before): Said | null {
  const end = at + word.length
  const left = text.slice(Math.max(0, at - 72), at)
  const isNamed = /(?:[A-Z][A-Za-z']{1,20}|\d(?:st|nd|rd|th)) $/.test(left) && !startsSentence(before.word)
  const kind = streets[word] ?? (houseBefore.test(left) ? moreStreets[word] : undefined)
  const isFollowed = match(/\.? (?!N\b|S\b|E\b|W\b|[NS][EW]\b)[A-Z][a-z]/y, text, end) !== null
  const isSaint = Object.hasOwn(saints, word) && match(/ [A-Z][a-z']/y, text, end) !== null
  if (word === 'Hwy' && match(/\.? \d/y, text, end) === null && !isNamed) return null
  if (kind !== undefined && (word === 'Hwy' || (isNamed && !(isFollowed && Object.hasOwn(saints, word))))) {
    const to = text[end] === '.' ? end + 1 : end
    return { to, words: kind, stop: to > end && mayEnd(text, to, false) }
  }
  return isSaint ? { to: end, words: saints[word] as string } : null
}

/** "N. Main St", "Ave NW", "wind NE". */
function directionAt(text: string, at: number, word: string, before: Before): Said | null {
  const name = Object.hasOwn(directions, word) ? directions[word] : undefined
  if (name === undefined) return null
  const end = at + word.length
  const to = text[end] === '.' ? end + 1 : end
  if (
    match(streetAhead, text, end) !== null ||
    match(/ (?:winds?|corner)\b/iy, text, end) !== null ||
    (word.length === 2 && match(/ of [A-Za-z]/y, text, end) !== null)
  )
    return { to, words: name }
  const isSpeed = text.startsWith('km/h ', at - 5)
  const isBehind = text[at - 1] === ' ' && streetWord.test(before.word)
  return isBehind || /^(?:winds?|mph|kph|knots?|kts)$/i.test(before.word) || isSpeed ? { to: end, words: name } : null
}

/** "Portland, OR", "Boston, MA 02134". */
function stateAt(text: string, at: number, word: string, before: Before): Said | null {
  const name = Object.hasOwn(states, word) ? states[word] : undefined
  if (name === undefined || !text.startsWith(', ', at - 2) || !/^[A-Z][a-z]/.test(before.word)) return null
  // A doctor's degree.
  if (word === 'MD' && /\bDr\.? (?:[A-Z][A-Za-z.]{0,20} ?){1,3}, $/.test(text.slice(Math.max(0, at - 64), at)))
    return null
  const end = at + word.length
  const hasCode = match(/ \d{5}(?!\d)/y, text, end) !== null
  const ends = shouts.test(word) ? /[.]?$/y : /(?: [a-z]|[,.;:!?)]|$)/y
  return hasCode || match(ends, text, end) !== null ? { to: end, words: name } : null
}
