/**
 * An EPUB: a zip archive with a list of XHTML pages in reading order. Its table of contents says where chapters begin;
 * without one, headings of level 1 and 2 do.
 * Source: EPUB 3.3 (https://www.w3.org/TR/epub-33/), 4 and 5.4; the NCX of EPUB 2.
 */
import { type Book, BookError, type Chapter, titleOf, withWords } from './book.ts'
import { type Markup, markupOf } from './markup.ts'
import { type Block, blocksOf } from './xhtml.ts'
import { openZip, type Zip } from './zip.ts'

/** A larger one is refused before it is read. Pictures make books large, and they are not spoken. */
export const maxEpubBytes = 200 * 1024 * 1024

interface Item {
  path: string
  type: string
  properties: string
}

interface Package {
  title: string | null
  author: string | null
  items: ReadonlyMap<string, Item>
  /** Ids of items, in reading order. */
  spine: readonly string[]
  ncx: string | null
}

/** @throws BookError when it cannot be read or has nothing to speak */
export async function epubBook(bytes: Uint8Array): Promise<Book> {
  if (bytes.length > maxEpubBytes) throw new BookError('The book is larger than 200 MB.')
  const zip = openZip(bytes)
  const opfPath = rootOf(await textAt(zip, 'META-INF/container.xml'))
  const book = packageOf(await textAt(zip, opfPath), opfPath)
  const pages = book.spine.flatMap((id) => book.items.get(id) ?? []).filter(isPage)
  if (pages.length === 0) throw new BookError('The book lists no pages.')
  await refuseProtected(zip, pages)
  const contents = await contentsOf(zip, book)
  const read: { path: string; blocks: Block[] }[] = []
  for (const { path } of pages) read.push({ path, blocks: blocksOf(await textAt(zip, path)) })
  return { title: book.title, author: book.author, chapters: withWords(chaptersOf(read, contents, book.title)) }
}

const isPage = ({ type, properties }: Item): boolean => /html/.test(type) && !/\bnav\b/.test(properties)

async function textAt(zip: Zip, path: string): Promise<string> {
  const bytes = await zip.read(path)
  if (bytes === null) throw new BookError(`It is not a whole EPUB: ${path} is missing.`)
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  const encoding = isUtf16 ? (bytes[0] === 0xff ? 'utf-16le' : 'utf-16be') : 'utf-8'
  return new TextDecoder(encoding).decode(bytes)
}

function rootOf(container: string): string {
  const path = openTags(container, 'rootfile')[0]?.get('full-path')
  if (path === undefined) throw new BookError('It is not a whole EPUB: its container names no book.')
  return path
}

type Attributes = ReadonlyMap<string, string>

const openTags = (xml: string, name: string): Attributes[] =>
  [...markupOf(xml)].flatMap((piece) => (piece.kind === 'open' && piece.name === name ? [piece.attributes] : []))

function packageOf(opf: string, opfPath: string): Package {
  const items = openTags(opf, 'item').map((attributes): [string, Item] => [
    attributes.get('id') ?? '',
    {
      path: resolved(attributes.get('href') ?? '', opfPath),
      type: attributes.get('media-type') ?? '',
      properties: attributes.get('properties') ?? '',
    },
  ])
  const spine = openTags(opf, 'itemref').filter((attributes) => attributes.get('linear') !== 'no')
  return {
    title: textIn(opf, 'title'),
    author: textIn(opf, 'creator'),
    items: new Map(items),
    spine: spine.map((attributes) => attributes.get('idref') ?? ''),
    ncx: openTags(opf, 'spine')[0]?.get('toc') ?? null,
  }
}

/** The text of the first such element. */
function textIn(xml: string, name: string): string | null {
  let text: string | null = null
  for (const piece of markupOf(xml)) {
    if (piece.kind === 'open' && piece.name === name && !piece.isEmpty) text = ''
    else if (piece.kind === 'close' && piece.name === name && text?.trim()) return titleOf(text, '')
    else if (piece.kind === 'text' && text !== null) text += piece.text
  }
  return null
}

/** The path in the archive that `href` means in the file `from`, with its fragment. */
function resolved(href: string, from: string): string {
  const [path = '', fragment] = href.split('#')
  const folders = path.startsWith('/') ? [] : from.split('/').slice(0, -1)
  for (const part of unescaped(path).split('/')) {
    if (part === '..') folders.pop()
    else if (part !== '' && part !== '.') folders.push(part)
  }
  const target = path === '' ? from : folders.join('/')
  return fragment === undefined ? target : `${target}#${unescaped(fragment)}`
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Fonts may be scrambled. Scrambled pages need the shop's key. */
async function refuseProtected(zip: Zip, pages: readonly Item[]): Promise<void> {
  const list = await zip.read('META-INF/encryption.xml')
  if (list === null) return
  const scrambled = new Set(
    openTags(new TextDecoder().decode(list), 'cipherreference').map((attributes) =>
      resolved(attributes.get('uri') ?? '', ''),
    ),
  )
  if (pages.some(({ path }) => scrambled.has(path))) {
    throw new BookError('The book is copy-protected (DRM): its text is encrypted and cannot be read.')
  }
}

/** Titles by the place where they begin: a path, or a path and a fragment. */
async function contentsOf(zip: Zip, { items, ncx }: Package): Promise<ReadonlyMap<string, string>> {
  const all = [...items.values()]
  const nav = all.find(({ properties }) => /\bnav\b/.test(properties))
  const list = nav === undefined ? undefined : await zip.read(nav.path)
  if (nav !== undefined && list) {
    const found = linksOf(new TextDecoder().decode(list), nav.path)
    if (found.size > 0) return found
  }
  const old = items.get(ncx ?? '') ?? all.find(({ type }) => type === 'application/x-dtbncx+xml')
  const points = old === undefined ? null : await zip.read(old.path)
  return old === undefined || points === null ? new Map() : pointsOf(new TextDecoder().decode(points), old.path)
}

/** The links of `<nav epub:type="toc">`. */
function linksOf(xhtml: string, path: string): Map<string, string> {
  const found = new Map<string, string>()
  let inContents = false
  let link: { to: string; text: string } | null = null
  for (const piece of markupOf(xhtml)) {
    if (piece.kind === 'open' && piece.name === 'nav') inContents = isContents(piece)
    else if (piece.kind === 'close' && piece.name === 'nav') inContents = false
    else if (!inContents) continue
    else if (piece.kind === 'open' && piece.name === 'a') {
      link = { to: resolved(piece.attributes.get('href') ?? '', path), text: '' }
    } else if (piece.kind === 'text' && link !== null) link.text += piece.text
    else if (piece.kind === 'close' && piece.name === 'a' && link !== null) {
      if (!found.has(link.to)) found.set(link.to, titleOf(link.text, ''))
      link = null
    }
  }
  return found
}

const isContents = (piece: Extract<Markup, { kind: 'open' }>): boolean =>
  /\btoc\b/.test(`${piece.attributes.get('epub:type') ?? ''} ${piece.attributes.get('role') ?? ''}`)

/** The `navPoint`s of an NCX: the label comes before the place. */
function pointsOf(ncx: string, path: string): Map<string, string> {
  const found = new Map<string, string>()
  let inMap = false
  let label = ''
  for (const piece of markupOf(ncx)) {
    if (piece.kind !== 'text' && piece.name === 'navmap') inMap = piece.kind === 'open'
    if (!inMap) continue
    if (piece.kind === 'open' && piece.name === 'navlabel') label = ''
    else if (piece.kind === 'text') label += piece.text
    else if (piece.kind === 'open' && piece.name === 'content') {
      const to = resolved(piece.attributes.get('src') ?? '', path)
      if (!found.has(to)) found.set(to, titleOf(label, ''))
      label = ''
    }
  }
  return found
}

function chaptersOf(
  read: readonly { path: string; blocks: readonly Block[] }[],
  contents: ReadonlyMap<string, string>,
  title: string | null,
): Chapter[] {
  const chapters: { title: string; paragraphs: string[] }[] = [{ title: title ?? 'Beginning', paragraphs: [] }]
  const hasHeadings = read.some(({ blocks }) => blocks.some(({ headingLevel: level }) => level === 1 || level === 2))
  for (const { path, blocks } of read) {
    for (const [at, block] of blocks.entries()) {
      const begins =
        contents.size > 0
          ? ((at === 0 ? contents.get(path) : undefined) ?? titleByFragment(path, block, contents))
          : ownTitle(block, at, hasHeadings)
      if (begins !== undefined) chapters.push({ title: titleOf(begins, titleOf(block.text, '')), paragraphs: [] })
      chapters.at(-1)?.paragraphs.push(block.text)
    }
  }
  return chapters.map(({ title: name, paragraphs }) => ({ title: name, text: paragraphs.join('\n\n') }))
}

const titleByFragment = (path: string, { ids }: Block, contents: ReadonlyMap<string, string>): string | undefined =>
  ids.map((id) => contents.get(`${path}#${id}`)).find((found) => found !== undefined)

/** Used without a table of contents. A book without headings has one chapter for each page. */
function ownTitle({ text, headingLevel: level }: Block, at: number, hasHeadings: boolean): string | undefined {
  const begins = hasHeadings ? level === 1 || level === 2 : at === 0
  return begins ? text : undefined
}
