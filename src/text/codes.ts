/**
 * Figures that count nothing and are read as they are dictated: codes, cards, emergency calls, rooms and roads. The
 * words around them say what they are.
 */
import { cardinal, digitWords, plural } from './numbers.ts'
import { isLetter, match, type Said } from './rule.ts'

/** What precedes a code of four or more digits. */
const codeBefore = new RegExp(
  String.raw`\b(?:(?:zip|postal|post|pass|bar|security|access|verification|confirmation)?[ -]?code|zip|pin|otp|` +
    String.raw`sku|upc|(?:account|acct|routing|serial|tracking|order|invoice|ticket|case|card|id|reference|ref)` +
    String.raw` (?:number|no\.?|id|#)|ending in)(?: (?:is|was|of|number))?:? ?#?$`,
  'i',
)
const codePattern = /\d{4,15}(?:-\d{4})?(?![\d-]|[.,:]\d)/y
const zipPattern = /\d{5}(?:-\d{4})?(?![\d-])/y
const areaPattern = /\d{3}(?!\d)/y
/** ISBNs, cards, accounts, social security: at least three groups, nine digits in all. */
const groupsPattern = new RegExp(
  String.raw`(?=(?:-?\d){9,19}(?![\d-]))\d{1,7}(?:-\d{1,7}){2,5}|\d{4}(?: \d{4}){3,6}(?: \d{1,3})?(?! ?\d)|` +
    String.raw`\d{3} \d{3,4} \d{4}(?! ?\d)`,
  'y',
)
const wordNumberPattern = /(1-)?([89]\d\d)-(?=[A-Z]{3})/y
/** Ten digits as North America numbers its telephones. */
const phonePattern = /[2-9]\d{2}[2-9]\d{6}(?![\d-]|[.,]\d)/y
const emergencyPattern = /(?:911|999|112|[2-8]11|988)(?![\d%/-]|[.,:]\d|['"])/y
const namedPattern = /(\d{3,4})(?:-(\d{1,3}))?(?![\d/:%-]|[.,]\d)/y
const namedBefore = new RegExp(
  String.raw`\b(?:room|flight|highway|hwy\.?|route|interstate|apartment|suite|exit|port|bus|boeing|airbus) ?$|` +
    String.raw`\b(?:[GR]TX|RX) ?$|\bflight [A-Z]{2} ?$`,
  'i',
)
const statusBefore = /\b(?:error|status|http|status code|error code) $/i
const statusPattern = /[1-5]\d\d(?![\d-]|[.,:]\d)/y
const statusAhead = new RegExp(
  String.raw`[45]\d\d(?= (?:errors?|page)\b)|` +
    String.raw`[1-5]\d\d(?= (?:status|response|Unauthorized|Forbidden|Not Found|Bad Request|Bad Gateway|Internal)\b)`,
  'y',
)
/** "The 747" is a plane and "the 405 freeway" a road; "the 777 seats" are counted. */
const planePattern =
  /7[0-8]7(?:-\d{1,3})?(?=$|[.,;:!?)](?!\d)| [A-Z]| (?:[a-z]{2,12}ed|is|was|has|flew|jet|plane|aircraft|fleet)\b)/y
const roadPattern = /[1-9]\d\d(?= (?:(?:north|south|east|west)bound|freeway|highway|motorway|bus|train|tram)\b)/y
/** An oil for engines: "10W-30". */
const oilPattern = /\d{1,2}W-\d{2}(?![\dA-Za-z%]|[.,]\d)/y
/** A picture's lines: "1080p". */
const linesPattern = /\d{3,4}(?=p(?![A-Za-z])|i(?![A-Za-z0-9]))/y

export function codeAt(text: string, at: number): Said | null {
  const left = text.slice(Math.max(0, at - 40), at)
  return dictatedAt(text, at, left) ?? wordNumberAt(text, at) ?? pairsAt(text, at, left)
}

/** Digit by digit. */
function dictatedAt(text: string, at: number, left: string): Said | null {
  if (isLetter(text[at - 1])) return null
  const found =
    match(groupsPattern, text, at) ??
    (/, [A-Z]{2} $/.test(left) ? match(zipPattern, text, at) : null) ??
    (/\barea code:? $/i.test(left) ? match(areaPattern, text, at) : null) ??
    (codeBefore.test(left) ? match(codePattern, text, at) : null) ??
    match(phonePattern, text, at) ??
    (/\bPorsche $/.test(left) ? null : emergencyAt(text, at, left))
  if (found === null) return null
  const groups = found[0].match(/\d+/g) as string[]
  return { to: at + found[0].length, words: groups.map(digitWords).join(' ') }
}

function emergencyAt(text: string, at: number, left: string): RegExpExecArray | null {
  const found = match(emergencyPattern, text, at)
  const isCalled = /\b(?:dial|dialed|dialing|call|called|calling|text|phone|ring) $/i.test(left)
  return found !== null && (isCalled || found[0] === '911') ? found : null
}

/** The digits of "1-800-FLOWERS". */
function wordNumberAt(text: string, at: number): Said | null {
  const found = match(wordNumberPattern, text, at)
  if (found === null) return null
  const area = found[2] as string
  const words = area.endsWith('00') ? cardinal(area) : digitWords(area)
  return { to: at + found[0].length, words: found[1] === undefined ? words : `one ${words}` }
}

/** "Room 101", "Flight 2490", "I-280", "a 404 error": in pairs, as roads and rooms are called. */
function pairsAt(text: string, at: number, left: string): Said | null {
  const status = (statusBefore.test(left) ? match(statusPattern, text, at) : null) ?? match(statusAhead, text, at)
  if (status !== null) return { to: at + status[0].length, words: pairWords(status[0]) }
  const lines = match(linesPattern, text, at)
  if (lines !== null && !isLetter(text[at - 1])) return { to: at + lines[0].length, words: pairWords(lines[0]) }
  const oil = match(oilPattern, text, at)
  if (oil !== null) return { to: at + oil[0].length, words: oil[0].split('W-').map(cardinal).join(' W ') }
  const isCalled = /\b(?:the|an?) $/i.test(left)
  const found =
    (isCalled ? (match(planePattern, text, at) ?? match(roadPattern, text, at)) : null) ??
    match(/7[0-8]7(?=s(?![A-Za-z0-9']))/y, text, at) ??
    namedAt(text, at, left)
  if (found === null) return null
  const words = (found[0].match(/\d+/g) as string[]).map(pairWords).join(' ')
  const to = at + found[0].length
  return match(/s(?![A-Za-z0-9'])/y, text, to) === null ? { to, words } : { to: to + 1, words: plural(words) }
}

const namedAt = (text: string, at: number, left: string): RegExpExecArray | null =>
  namedBefore.test(left) || /\bForm $|(?:^|[^A-Za-z])[A-Z]{1,4}-$/.test(left) ? match(namedPattern, text, at) : null

/** "101" -> "one oh one", "2490" -> "twenty four ninety", "500" -> "five hundred". */
export function pairWords(digits: string): string {
  if (digits.length < 3) return cardinal(digits)
  const first = digits.slice(0, -2)
  const last = digits.slice(-2)
  if (last === '00' || first.startsWith('0')) return cardinal(digits)
  return `${cardinal(first)} ${last.startsWith('0') ? `oh ${cardinal(last.slice(1))}` : cardinal(last)}`
}
