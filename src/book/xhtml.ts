/** A page of a book as paragraphs and headings: what a reader would read aloud, without notes, numbers and pictures. */
import { markupOf } from './markup.ts'

export interface Block {
  text: string
  /** 1 to 6; 0: not a heading. */
  headingLevel: number
  /** Ids of the elements that begin with it or inside it, because a table of contents points to those. */
  ids: readonly string[]
}

const blockTags = new Set(
  (
    'p div h1 h2 h3 h4 h5 h6 section article ul ol li dl dt dd blockquote pre hr table tr td th figure figcaption ' +
    'header footer main aside address center br'
  ).split(' '),
)
const skippedTags = new Set('head script style nav svg math rt rp audio video iframe object noscript'.split(' '))
/** In `epub:type` and, with `doc-` before it, in `role`: not to be read aloud. */
const skippedTypes = new Set(
  (
    'pagebreak noteref footnote footnotes endnote endnotes rearnote rearnotes toc landmarks page-list index cover ' +
    'copyright-page'
  ).split(' '),
)
const emptyTags = new Set('area br col embed hr img input link meta param source wbr'.split(' '))

/** @param xhtml the whole document */
export function blocksOf(xhtml: string): Block[] {
  const page = new Page()
  for (const piece of markupOf(xhtml)) {
    if (piece.kind === 'text') page.text(piece.text)
    else if (piece.kind === 'close') page.close(piece.name)
    else page.open(piece.name, piece.attributes, piece.isEmpty || emptyTags.has(piece.name))
  }
  return page.finish()
}

class Page {
  readonly #blocks: Block[] = []
  #parts: string[] = []
  #ids: string[] = []
  #level = 0
  /** The element whose content is skipped, and how many elements of that name are open inside. */
  #skipped: { name: string; depth: number } | null = null

  open(name: string, attributes: ReadonlyMap<string, string>, isEmpty: boolean): void {
    const id = attributes.get('id') ?? (name === 'a' ? attributes.get('name') : undefined)
    // A skipped page number may be what the contents point to.
    if (id !== undefined) this.#mark(id, blockTags.has(name))
    if (this.#skipped !== null) {
      if (name === this.#skipped.name && !isEmpty) this.#skipped.depth++
      return
    }
    const types = `${attributes.get('epub:type') ?? ''} ${attributes.get('role') ?? ''}`.split(/\s+/)
    if (skippedTags.has(name) || types.some((type) => skippedTypes.has(type.replace('doc-', '')))) {
      if (!isEmpty) this.#skipped = { name, depth: 1 }
      return
    }
    if (!blockTags.has(name)) return
    this.#end()
    if (id !== undefined) this.#ids.push(id)
    this.#level = headingLevel(name)
  }

  close(name: string): void {
    if (this.#skipped !== null) {
      if (name === this.#skipped.name && --this.#skipped.depth === 0) this.#skipped = null
      return
    }
    if (blockTags.has(name)) this.#end()
  }

  text(text: string): void {
    if (this.#skipped === null) this.#parts.push(text)
  }

  finish(): Block[] {
    this.#end()
    return this.#blocks
  }

  #mark(id: string, beginsBlock: boolean): void {
    // The ids of a block are recorded once the open block has ended.
    if (!beginsBlock || this.#skipped !== null) this.#ids.push(id)
  }

  #end(): void {
    const text = this.#parts.join('').replace(/\s+/g, ' ').trim()
    this.#parts = []
    // Marks without words belong to what follows them.
    if (text === '') return
    this.#blocks.push({ text, headingLevel: this.#level, ids: this.#ids })
    this.#ids = []
    this.#level = 0
  }
}

const headingLevel = (name: string): number => (/^h[1-6]$/.test(name) ? Number(name[1]) : 0)
