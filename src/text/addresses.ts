/** Web, mail and network addresses, versions and telephone numbers: what is read piece by piece. */
import { cardinal, digitWords } from './numbers.ts'
import { match, type Said, spell } from './rule.ts'

// oxlint-disable-next-line no-control-regex -- U+0001 and U+0002 mark where a sentence and a paragraph end.
const urlPattern = /(?:(?:https?|ftp|wss?):\/\/|www\.(?=[A-Za-z0-9]))([^\s<>"\u0001\u0002]{1,2100})/iy
const mailPattern =
  /(?:mailto:)?([A-Za-z0-9._%+-]{1,64})@((?:[A-Za-z0-9-]{1,63}\.){1,6}[A-Za-z]{2,24})(?![A-Za-z0-9@])/y
const endings =
  'com|org|net|edu|gov|mil|int|info|biz|io|ai|dev|app|co|me|tv|uk|us|eu|de|fr|ch|at|nl|be|es|it|ca|au|nz|jp|cn|' +
  'in|br|ru|pl|se|no|fi|dk|cz|ie|xyz|tech|cloud|online|site|blog|news'
const domainPattern = new RegExp(
  `(?:[A-Za-z0-9-]{1,63}\\.){1,5}(?:${endings})(?![A-Za-z0-9@-]|\\.[A-Za-z0-9])(?::\\d{2,5})?(/[^\\s"<>]{0,2000})?`,
  'y',
)
const ipPattern = /(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?::(\d{1,5}))?(?!\d|\.\d)/y
const versionPattern = /(\d{1,6}(?:\.\d{1,6}){2,5})(?:-([A-Za-z]{1,10})(?:\.(\d{1,4}))?)?(?![\d]|\.\d)/y
const phonePattern =
  /(?:\+\d{1,3}[ .-](?:\(\d{2,4}\)[ .-]?)?|\(\d{2,4}\)[ .-]?)\d{2,4}[ .-]\d{3,4}(?:[ .-]\d{2,4}){0,2}(?![\d]|[.,-]\d)/y
/** As other countries write theirs; eight digits at least. */
const foreignPhonePattern =
  /(?=\+(?:[ .()-]{0,2}\d){8,15}(?!\d))\+\d{1,3}(?:[ .-]{0,2}\(?\d{1,7}\)?){1,6}(?![\d]|[.,-]\d)/y
const plainPhonePattern = /(?:1-)?(?:(?=0)\d{3,4} \d{3,4} \d{3,4}|\d{3}([.-])\d{3}\1\d{4})(?![\d]|[.,-]\d)/y
const shortPhonePattern = /\d{3}-(?![1-9]\d00)\d{4}(?![\d]|[.,-]\d)/y

/** Longest address that is read to its end; of a longer one the host is enough. */
const readableChars = 60

/** "www dot example dot com slash path". Anything long or with a query is cut to its host. */
export function urlAt(text: string, at: number): Said | null {
  const found = match(urlPattern, text, at)
  if (found === null) return null
  const whole = withoutTrailingMarks(found[0])
  const address = whole.replace(/^[a-z]{2,5}:\/\//i, '').replace(/^[^/@]*@/, '')
  return { to: at + whole.length, words: speakAddress(address) }
}

/** "example.com/path" without a scheme. */
export function domainAt(text: string, at: number): Said | null {
  const found = match(domainPattern, text, at)
  if (found === null) return null
  const whole = withoutTrailingMarks(found[0])
  // "end.In" is two sentences without a space between, not a domain of India.
  if (/\.[A-Z][a-z]*$/.test(whole)) return null
  return { to: at + whole.length, words: speakAddress(whole) }
}

export function mailAt(text: string, at: number): Said | null {
  const found = match(mailPattern, text, at)
  if (found === null) return null
  return { to: at + found[0].length, words: `${speakParts(found[1] as string)} at ${speakHost(found[2] as string)}` }
}

function withoutTrailingMarks(address: string): string {
  let end = address.length
  while (end > 0 && /[.,;:!?'")\]}*_~|]/.test(address[end - 1] as string)) {
    // A closing bracket belongs to the address if it was opened in it.
    if (address[end - 1] === ')' && end < 200 && address.slice(0, end).includes('(')) break
    end--
  }
  return address.slice(0, end)
}

function speakAddress(address: string): string {
  const [, host = '', rest = ''] = /^([^/?#]*)(.*)$/s.exec(address) ?? []
  const path = rest.replace(/\/$/, '')
  if (address.length > readableChars || /[?#%=]/.test(path)) return speakHost(host)
  return `${speakHost(host)} ${speakParts(path)}`.trim()
}

function speakHost(host: string): string {
  const inBrackets = /^\[([0-9A-Fa-f:.]{2,45})\]/.exec(host)
  if (inBrackets !== null) return speakParts((inBrackets[1] as string) + host.slice(inBrackets[0].length))
  const [name = '', port] = host.slice(0, 255).split(':')
  const labels = name.split('.')
  const last = labels.length - 1
  const spoken = labels.map((label, index) =>
    index > 0 && index === last && /^[A-Za-z]{2}$/.test(label) ? spell(label) : speakParts(label),
  )
  return (
    spoken.filter((label) => label !== '').join(' dot ') + (port ? ` colon ${digitWords(port.replace(/\D/g, ''))}` : '')
  )
}

const marks: Record<string, string> = {
  '/': 'slash',
  '.': 'dot',
  '-': 'dash',
  _: 'underscore',
  '+': 'plus',
  '&': 'and',
  '@': 'at',
  '~': 'tilde',
  ':': 'colon',
}

function speakParts(text: string): string {
  const spoken = text.replace(
    /\d+|[^A-Za-z0-9]/g,
    (part) => ` ${/\d/.test(part) ? readNumber(part) : (marks[part] ?? '')} `,
  )
  return spoken.replace(/ +/g, ' ').trim()
}

const readNumber = (digits: string): string => (digits.length <= 4 ? cardinal(digits) : digitWords(digits))

/** An address of the internet protocol; its numbers are read digit by digit, as they are dictated. */
export function ipAt(text: string, at: number): Said | null {
  const found = match(ipPattern, text, at)
  if (found === null || found.slice(1, 5).some((part) => Number(part) > 255)) return null
  const port = found[5] === undefined ? '' : ` colon ${digitWords(found[5])}`
  return {
    to: at + found[0].length,
    words:
      found
        .slice(1, 5)
        .map((part) => digitWords(part as string))
        .join(' dot ') + port,
  }
}

/** "1.2.3-rc.1". */
export function versionAt(text: string, at: number): Said | null {
  const found = match(versionPattern, text, at)
  if (found === null) return null
  const numbers = (found[1] as string).split('.').map(readNumber).join(' point ')
  const label = found[2] === undefined ? '' : ` ${found[2].length < 3 ? spell(found[2]) : found[2]}`
  return { to: at + found[0].length, words: numbers + label + (found[3] === undefined ? '' : ` ${cardinal(found[3])}`) }
}

/** Groups of digits as telephone numbers are written, read digit by digit. */
export function phoneAt(text: string, at: number): Said | null {
  const found =
    match(phonePattern, text, at) ??
    match(foreignPhonePattern, text, at) ??
    match(plainPhonePattern, text, at) ??
    match(shortPhonePattern, text, at)
  if (found === null) return null
  // A zero that is dialled only from within the country.
  const groups = found[0].replace('(0)', '').match(/\d+/g) ?? []
  const plus = found[0][0] === '+' ? 'plus ' : ''
  return { to: at + found[0].length, words: plus + groups.map(digitWords).join(' ') }
}
