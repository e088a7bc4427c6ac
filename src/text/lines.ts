/**
 * Decides what one line means in Markdown. It looks only at the line and the few facts about previous lines that
 * matter.
 */

export interface Line {
  kind: 'blank' | 'rule' | 'fence' | 'code' | 'heading' | 'item' | 'row' | 'table-rule' | 'definition' | 'prose'
  /** The content without the mark, beginning at `from` in the line; always a piece of it of the same length. */
  text: string
  from: number
  /** For a fence: the marks that opened it. */
  marker: string
  /** Set when the line opens something that is skipped up to this text. */
  skipUntil: string | null
}

export interface LineContext {
  fence: string | null
  inTable: boolean
  inList: boolean
  /** Whether a paragraph is open. */
  open: boolean
}

export function readLine(line: string, context: LineContext): Line {
  const from = contentStart(line)
  const text = line.slice(from)
  const as = (kind: Line['kind'], skip = 0, content = text.slice(skip)): Line => ({
    kind,
    text: content,
    from: from + skip,
    marker: '',
    skipUntil: kind === 'prose' ? opensSkipped(content) : null,
  })
  const fence = /^(`{3,}|~{3,})([^`]*)$/.exec(text)
  if (context.fence !== null) {
    const marks = fence?.[1] ?? ''
    const closes = marks.startsWith(context.fence) && fence?.[2]?.trim() === ''
    return closes ? as('fence') : as('code')
  }
  if (text === '') return as('blank')
  if (fence !== null) return { ...as('fence'), marker: fence[1] as string }
  if (isRule(text)) return as('rule')
  const heading = /^#{1,6}\s+/.exec(text)
  if (heading !== null) return as('heading', heading[0].length, withoutClosingMarks(text.slice(heading[0].length)))
  if (isTableRule(text)) return as('table-rule')
  if ((text[0] === '|' || context.inTable) && text.indexOf('|', 1) > 0) return as('row')
  if (isDefinition(text)) return as('definition')
  return item(text, context, as) ?? as('prose')
}

function item(text: string, context: LineContext, as: (kind: Line['kind'], skip: number, content?: string) => Line) {
  const bullet = /^[-*+•∙‣◦▪–—]\s+(?:\[[ xX]\]\s+)?/.exec(text)
  if (bullet !== null) return as('item', bullet[0].length)
  const numbered = /^(\d{1,3})([.)])\s+/.exec(text)
  if (numbered === null) return null
  // As in CommonMark: a number that happens to be first after a line break does not start a list in mid-sentence.
  if (context.open && !context.inList && numbered[1] !== '1') return null
  const digits = (numbered[1] as string).length
  return as('item', 0, `${text.slice(0, digits)},${text.slice(digits + 1)}`)
}

/** Past indentation and the marks of block quotes. */
function contentStart(line: string): number {
  let at = 0
  for (;;) {
    while (line[at] === ' ') at++
    if (line[at] !== '>' || (line[at + 1] !== ' ' && line[at + 1] !== '>' && line[at + 1] !== undefined)) return at
    at++
  }
}

function isRule(text: string): boolean {
  const mark = text[0] as string
  if (!'-*_='.includes(mark)) return false
  let marks = 0
  for (const char of text) {
    if (char === mark) marks++
    else if (char !== ' ') return false
  }
  return marks >= 3
}

const isTableRule = (text: string): boolean => /^[-:| ]+$/.test(text) && text.includes('-') && text.includes('|')

/** `[label]: target "title"`; a speaker's name in brackets followed by his words is not one. */
function isDefinition(text: string): boolean {
  const label = /^\[[^\]]{1,200}\]: */.exec(text)
  if (label === null) return false
  const [target = '', ...title] = text.slice(label[0].length, label[0].length + 2048).split(' ')
  if (!/^<|[/.#]/.test(target) || /[.]$/.test(target)) return false
  const rest = title.join(' ').trim()
  return rest === '' || /^(".*"|'.*'|\(.*\))$/.test(rest)
}

function withoutClosingMarks(heading: string): string {
  let end = heading.length
  while (heading[end - 1] === ' ') end--
  let marks = end
  while (heading[marks - 1] === '#') marks--
  return marks < end && (marks === 0 || heading[marks - 1] === ' ') ? heading.slice(0, marks) : heading
}

function opensSkipped(text: string): string | null {
  if (text[0] !== '<') return null
  if (text.startsWith('<!--')) return text.includes('-->') ? null : '-->'
  const tag = /^<(script|style)\b/i.exec(text)?.[1]?.toLowerCase()
  if (tag === undefined) return null
  return text.toLowerCase().includes(`</${tag}`) ? null : `</${tag}`
}
