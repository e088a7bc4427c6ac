/**
 * XML and XHTML as a row of tags and texts, read once from left to right. It accepts what browsers accept: books are
 * rarely well-formed. Entities that a document declares itself are not expanded, so none can grow.
 */

export type Markup =
  | { kind: 'text'; text: string }
  | { kind: 'open'; name: string; attributes: ReadonlyMap<string, string>; isEmpty: boolean }
  | { kind: 'close'; name: string }

/** Names of elements are in lower case and without their namespace prefix; attributes keep theirs. */
export function* markupOf(source: string): Generator<Markup> {
  let at = 0
  while (at < source.length) {
    const open = source.indexOf('<', at)
    if (open < 0) break
    if (open > at) yield { kind: 'text', text: decoded(source.slice(at, open)) }
    if (source.startsWith('<![CDATA[', open)) {
      const end = endOf(source, ']]>', open)
      yield { kind: 'text', text: source.slice(open + 9, end - 3) }
      at = end
    } else if (source.startsWith('<!--', open)) at = endOf(source, '-->', open)
    else if (source.startsWith('<?', open)) at = endOf(source, '?>', open)
    else if (source.startsWith('<!', open)) at = declarationEnd(source, open)
    else if (!/[A-Za-z/]/.test(source[open + 1] ?? '')) {
      yield { kind: 'text', text: '<' }
      at = open + 1
    } else {
      const end = tagEnd(source, open)
      const tag = tagOf(source.slice(open + 1, end))
      if (tag !== null) yield tag
      at = end + 1
    }
  }
  if (at < source.length) yield { kind: 'text', text: decoded(source.slice(at)) }
}

function endOf(source: string, mark: string, from: number): number {
  const found = source.indexOf(mark, from)
  return found < 0 ? source.length : found + mark.length
}

/** `<!DOCTYPE html [ ... ]>` */
function declarationEnd(source: string, from: number): number {
  const end = endOf(source, '>', from)
  const bracket = source.indexOf('[', from)
  return bracket < 0 || bracket > end ? end : endOf(source, '>', endOf(source, ']', bracket))
}

/** The position of the tag's `>`. A `>` inside quotes belongs to a value. */
function tagEnd(source: string, from: number): number {
  let quote = ''
  for (let at = from + 1; at < source.length; at++) {
    const char = source[at] ?? ''
    if (quote !== '') quote = char === quote ? '' : quote
    else if (char === '"' || char === "'") quote = char
    else if (char === '>') return at
  }
  return source.length
}

const local = (name: string): string => name.slice(name.indexOf(':') + 1).toLowerCase()

/** Limits the length of a tag; the rest of it is ignored. */
const maxTagChars = 4000
const attribute = /(?<![\w:.-])([\w:.-]+)\s{0,20}=\s{0,20}(?:"([^"]*)"|'([^']*)')/g

function tagOf(inside: string): Markup | null {
  if (inside.startsWith('/')) return { kind: 'close', name: local(inside.slice(1).trim()) }
  const name = /^[A-Za-z][\w:.-]*/.exec(inside)?.[0]
  if (name === undefined) return null
  const attributes = new Map<string, string>()
  for (const [, key = '', double, single] of inside.slice(0, maxTagChars).matchAll(attribute)) {
    attributes.set(key.toLowerCase(), decoded(double ?? single ?? ''))
  }
  return { kind: 'open', name: local(name), attributes, isEmpty: inside.endsWith('/') }
}

/** The named entities of XML, and those of HTML that books use. */
const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  shy: '',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  lsquo: '‘',
  rsquo: '’',
  sbquo: '‚',
  ldquo: '“',
  rdquo: '”',
  bdquo: '„',
  laquo: '«',
  raquo: '»',
  copy: '©',
  deg: '°',
  euro: '€',
  pound: '£',
  frac12: '½',
  times: '×',
  szlig: 'ß',
  aelig: 'æ',
  AElig: 'Æ',
  oelig: 'œ',
  OElig: 'Œ',
  oslash: 'ø',
  Oslash: 'Ø',
}

/** `&eacute;` is the letter e and this mark. */
const accents: Readonly<Record<string, string>> = {
  grave: '\u0300',
  acute: '\u0301',
  circ: '\u0302',
  tilde: '\u0303',
  uml: '\u0308',
  ring: '\u030a',
  cedil: '\u0327',
  caron: '\u030c',
}

const decoded = (text: string): string =>
  text.includes('&') ? text.replace(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(\w{2,8}));/g, entity) : text

function entity(whole: string, decimal?: string, hex?: string, name = ''): string {
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
  if (!Number.isNaN(code)) return isCharacter(code) ? String.fromCodePoint(code) : ''
  const accent = accents[name.slice(1)]
  return named[name] ?? (accent === undefined ? whole : `${name[0]}${accent}`.normalize('NFC'))
}

const isCharacter = (code: number): boolean => code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
