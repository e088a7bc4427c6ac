/** HTML and SSML in prose: which `<...>` is a tag and not a comparison, what it means for reading, and entities. */
import { foldText } from './fold.ts'
import { tableOf } from './rule.ts'

const paragraphTags = ['p', 'div', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'section', 'article', 'table', 'ul', 'ol', 'hr']
const sentenceTags = `
  br li tr dt dd dl pre blockquote header footer nav main aside figure figcaption details summary option title
  caption address s
`
  .trim()
  .split(/\s+/)
const otherTags = `
  a abbr audio b bdi bdo big body button canvas center cite code col colgroup data datalist del dfn dialog em embed
  fieldset font form head html i iframe img input ins kbd label legend link map mark menu meta meter object optgroup
  output param picture progress q rp rt ruby samp script select small source span strike strong style sub sup svg
  tbody template textarea tfoot thead time track tt u var video wbr td th speak break prosody emphasis say-as voice
  phoneme lang desc w lexicon
`
  .trim()
  .split(/\s+/)

const meanings = new Map<string, string>([
  ...otherTags.map((tag) => [tag, ''] as const),
  ...sentenceTags.map((tag) => [tag, '\u0001'] as const),
  ...paragraphTags.map((tag) => [tag, '\u0002'] as const),
  ['td', '|'],
  ['th', '|'],
  ['break', ','],
])

const tagPattern = /<(\/?)([A-Za-z][A-Za-z0-9:-]{0,30})((?:\s[^<>]{0,1000})?)(\/?)>/y
const declaration = /<[!?][A-Za-z[][^<>]{0,500}>/y

export interface Tag {
  name: string
  to: number
  /** Its replacement in the plain text: nothing, a break, or the words of an image. */
  text: string
}

/** The tag that begins at `at`, or null when `<` is just a sign there. */
export function tagAt(text: string, at: number): Tag | null {
  declaration.lastIndex = at
  if (declaration.test(text)) return { name: '', to: declaration.lastIndex, text: '' }
  tagPattern.lastIndex = at
  const found = tagPattern.exec(text)
  if (found === null) return null
  const name = (found[2] as string).toLowerCase()
  const attributes = found[3] as string
  const meaning = meanings.get(name)
  const certain = meaning !== undefined || found[1] === '/' || found[4] === '/' || attributes.includes('=')
  if (!certain) return null
  const alt = name === 'img' ? /\salt\s?=\s?"([^"]{0,500})"/i.exec(attributes)?.[1] : undefined
  return { name: found[1] === '/' ? `/${name}` : name, to: tagPattern.lastIndex, text: alt ?? meaning ?? '' }
}

const names = tableOf({
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ensp: ' ',
  emsp: ' ',
  thinsp: ' ',
  ndash: '–',
  mdash: '—',
  hellip: '...',
  lsquo: "'",
  rsquo: "'",
  ldquo: '"',
  rdquo: '"',
  laquo: '"',
  raquo: '"',
  copy: '©',
  reg: '',
  trade: '',
  deg: '°',
  plusmn: '±',
  times: '×',
  divide: '÷',
  euro: '€',
  pound: '£',
  yen: '¥',
  cent: '¢',
  sect: '§',
  bull: '•',
  middot: ' ',
  larr: '<-',
  rarr: '->',
  ne: '≠',
  le: '≤',
  ge: '≥',
  infin: '∞',
  frac12: ' 1/2',
  frac14: ' 1/4',
  frac34: ' 3/4',
  shy: '',
  zwj: '',
  zwnj: '',
  sup2: '^2',
  sup3: '^3',
  micro: 'µ',
  para: '',
  szlig: 'ss',
  aelig: 'ae',
  oslash: 'o',
  AElig: 'AE',
  Oslash: 'O',
  oelig: 'oe',
  eth: 'd',
  thorn: 'th',
  ETH: 'D',
  THORN: 'Th',
})

const entityPattern = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]{1,7}));/y

/** The entity at `at` and the folded text it means; null if `&` is just a sign there. */
export function entityAt(text: string, at: number): { to: number; text: string } | null {
  entityPattern.lastIndex = at
  const found = entityPattern.exec(text)
  if (found === null) return null
  const to = entityPattern.lastIndex
  const name = found[3]
  if (name !== undefined) {
    // &eacute; and its kin: the letter is the first of the name.
    const letter = /^([A-Za-z])(?:acute|grave|circ|uml|tilde|cedil|ring|caron|slash)$/.exec(name)?.[1]
    const known = names[name] ?? letter
    return known === undefined ? null : { to, text: known }
  }
  const code = found[1] === undefined ? Number.parseInt(found[2] as string, 16) : Number(found[1])
  return { to, text: code > 0 && code <= 0x10ffff ? foldText(String.fromCodePoint(code)) : '' }
}
