/**
 * Chapters of plain text and of Markdown. A heading of level 1 or 2 begins a chapter, and in plain text a line such as
 * "Chapter 4" that has an empty line before and after it. Marks within lines stay: the service strips them anyway.
 */
import { type Book, type Chapter, titleOf, withWords } from './book.ts'

interface Heading {
  level: number
  title: string
}

/** @throws BookError when there is nothing to speak */
export function markdownBook(source: string): Book {
  const { front, rest } = frontMatter(lines(source))
  const chapters = divided(withoutHidden(rest), markdownHeading)
  const firstTitle = chapters.find(({ heading }) => heading?.level === 1)?.heading?.title
  return bookOf(chapters, front.get('title') ?? firstTitle ?? null, front.get('author') ?? null)
}

/** @throws BookError when there is nothing to speak */
export const textBook = (source: string): Book => bookOf(divided(lines(source), chapterLine), null, null)

interface Part {
  heading: Heading | null
  lines: string[]
}

const lines = (source: string): string[] => source.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)

function bookOf(parts: readonly Part[], title: string | null, author: string | null): Book {
  const chapters = parts.map(({ heading, lines: own }, index): Chapter => {
    const text = own.join('\n').trim()
    const otherwise = title ?? firstWords(text) ?? `Part ${index + 1}`
    return { title: titleOf(heading?.title ?? '', otherwise), text }
  })
  return { title, author, chapters: withWords(chapters) }
}

const firstWords = (text: string): string | null =>
  text === '' ? null : text.replace(/\s+/g, ' ').split(' ').slice(0, 8).join(' ')

/** @param headingAt what begins at a line; null: nothing */
function divided(all: readonly string[], headingAt: (all: readonly string[], at: number) => Heading | null): Part[] {
  const parts: Part[] = [{ heading: null, lines: [] }]
  for (const [at, line] of all.entries()) {
    const heading = headingAt(all, at)
    if (heading !== null) parts.push({ heading, lines: [] })
    parts.at(-1)?.lines.push(line)
  }
  return parts
}

function markdownHeading(all: readonly string[], at: number): Heading | null {
  const line = all[at] ?? ''
  const marked = /^ {0,3}(#{1,2})[ \t]+(.*)$/.exec(line)
  if (marked !== null) return { level: (marked[1] ?? '').length, title: plainTitle((marked[2] ?? '').trim()) }
  // A line that is underlined; `---` under an empty line is a rule.
  const under = /^ {0,3}(={3,}|-{3,})\s*$/.exec(all[at + 1] ?? '')?.[1]
  if (under === undefined || line.trim() === '' || (all[at - 1] ?? '').trim() !== '') return null
  return /^\s*([-*+>|]|\d+[.)]\s)/.test(line) ? null : { level: under[0] === '=' ? 1 : 2, title: plainTitle(line) }
}

/** `*One* [two](three)` as a title is "One two". */
const plainTitle = (text: string): string =>
  text
    .replace(/\s#+\s*$/, '')
    .replace(/!?\[([^\]]{0,300})\]\([^)]{0,1000}\)/g, '$1')
    .replace(/[*_`~]/g, '')
    .trim()

const numbers =
  'one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|' +
  'eighteen|nineteen|twenty|first|second|third|the'
const names = 'chapter|part|book|kapitel|teil|chapitre|capítulo|capitolo|hoofdstuk'
const counted = `(?:${names})\\s+(?:\\d+|[ivxlc]+|${numbers})`
const chapterWords = new RegExp(`^(?:${counted}|prologue|epilogue|prolog|epilog)(?![\\p{L}\\p{N}])`, 'iu')
const maxChapterLine = 80

function chapterLine(all: readonly string[], at: number): Heading | null {
  const line = (all[at] ?? '').trim()
  if (line.length > maxChapterLine || !chapterWords.test(line) || /[,;]$/.test(line)) return null
  const isAlone = (all[at - 1] ?? '').trim() === '' && (all[at + 1] ?? '').trim() === ''
  return isAlone ? { level: 2, title: line } : null
}

/**
 * Reads `title` and `author` from the block between two lines `---` at the top, as Pandoc and static sites write it.
 */
function frontMatter(all: readonly string[]): { front: Map<string, string>; rest: readonly string[] } {
  const front = new Map<string, string>()
  const end = all[0] === '---' ? all.slice(1, 200).findIndex((line) => /^(---|\.\.\.)$/.test(line)) : -1
  if (end < 0) return { front, rest: all }
  for (const line of all.slice(1, end + 1)) {
    const [, name = '', value = ''] = /^(title|author):\s*(.+)$/i.exec(line) ?? []
    if (name !== '') front.set(name.toLowerCase(), value.trim().replace(/^(["'])(.*)\1$/, '$2'))
  }
  return { front, rest: all.slice(end + 2) }
}

/** Without code blocks and comments, because a cut in their middle would have their rest read aloud. */
function withoutHidden(all: readonly string[]): string[] {
  const shown: string[] = []
  let fence: string | null = null
  let inComment = false
  for (const line of all) {
    const marks = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (fence !== null) {
      if (marks?.startsWith(fence) === true) fence = null
      continue
    }
    if (inComment || line.trimStart().startsWith('<!--')) {
      inComment = !line.includes('-->')
      continue
    }
    if (marks === undefined) shown.push(line)
    else fence = marks
  }
  return shown
}
