/**
 * The block half of Markdown: reads folded lines and gives out windows of prose. What is not prose (code fences, rules,
 * link definitions, comments, scripts) is skipped; headings, list items and table rows end as sentences do.
 *
 * Windows are bounded so that a megabyte without a line break streams, and so that everything that works on one window
 * costs a bounded amount per character whatever the text is.
 */
import { Folder, type Mapped } from './fold.ts'
import { type Line, readLine } from './lines.ts'

export interface Block extends Mapped {
  /** The end of the block: 'none' if the same paragraph continues in the next one. */
  after: 'none' | 'sentence' | 'paragraph'
}

const lineMax = 2048
const windowMax = 4096

/**
 * @param asWritten for other languages than English: only what no voice can say is folded
 * @returns the prose of the input, window by window, `ends` counting code points of the whole input
 */
export function* blocks(input: string, asWritten = false): Generator<Block> {
  const reader = new BlockReader()
  const folder = new Folder(input, asWritten)
  let whole = true
  while (!folder.done) {
    const line = folder.line(lineMax)
    yield* whole ? reader.startLine(line) : reader.continueLine(line)
    whole = line.whole
  }
  yield* reader.finish()
}

class BlockReader {
  private text = ''
  private ends: number[] = []
  private held: Block | null = null
  private skipUntil: string | null = null
  private fence: string | null = null
  private inTable = false
  private inList = false
  private current: Line['kind'] = 'blank';

  *startLine(raw: Mapped): Generator<Block> {
    if (this.skipUntil !== null) return yield* this.skip(raw)
    const line = readLine(raw.text, {
      fence: this.fence,
      inTable: this.inTable,
      inList: this.inList,
      open: this.text !== '',
    })
    this.current = line.kind
    if (line.kind === 'fence') {
      this.fence = this.fence === null ? line.marker : null
      return this.close('paragraph')
    }
    if (line.kind === 'code' || line.kind === 'definition') return
    this.inTable = line.kind === 'table-rule' || (this.inTable && line.kind === 'row')
    if (line.kind === 'blank' || line.kind === 'rule' || line.kind === 'table-rule') {
      if (line.kind !== 'table-rule') this.inList = false
      this.close(line.kind === 'table-rule' ? 'sentence' : 'paragraph')
      return
    }
    if (line.kind !== 'prose') this.close(line.kind === 'heading' ? 'paragraph' : 'sentence')
    if (line.kind === 'item') this.inList = true
    this.skipUntil = line.skipUntil
    if (this.skipUntil !== null) return
    yield* this.append(line.text, raw.ends.slice(line.from, line.from + line.text.length), '\n')
    if (line.kind === 'heading') this.close('paragraph')
    if (line.kind === 'row') this.close('sentence')
  }

  *continueLine(raw: Mapped): Generator<Block> {
    if (this.skipUntil !== null) return yield* this.skip(raw)
    const skipped = this.current === 'code' || this.current === 'definition' || this.current === 'fence'
    if (!skipped) yield* this.append(raw.text, raw.ends, '')
  }

  *finish(): Generator<Block> {
    this.close('sentence')
    if (this.held !== null) yield this.held
  }

  private *skip(raw: Mapped): Generator<Block> {
    const found = raw.text.toLowerCase().indexOf(this.skipUntil as string)
    if (found < 0) return
    const from = this.skipUntil === '-->' ? found + 3 : found
    this.skipUntil = null
    this.current = 'prose'
    yield* this.append(raw.text.slice(from), raw.ends.slice(from), '\n')
  }

  private *append(text: string, ends: number[], joint: string): Generator<Block> {
    if (this.held !== null && text.trim() !== '') {
      yield this.held
      this.held = null
    }
    if (this.text.length + text.length + 1 > windowMax) {
      const cut = cutPoint(this.text)
      yield { text: this.text.slice(0, cut), ends: this.ends.slice(0, cut), after: 'none' }
      this.text = this.text.slice(cut)
      this.ends = this.ends.slice(cut)
    }
    if (this.text !== '' && joint !== '') {
      this.text += joint
      this.ends.push(this.ends.at(-1) as number)
    }
    this.text += text
    for (const end of ends) this.ends.push(end)
  }

  /** Ends the open paragraph. A blank line after an item or a row makes the pause behind it longer. */
  private close(after: 'sentence' | 'paragraph'): void {
    if (this.text.trim() === '') {
      if (this.held !== null && after === 'paragraph') this.held.after = 'paragraph'
    } else {
      // append() has returned the block held before, because there is text.
      this.held = { text: this.text, ends: this.ends, after }
    }
    this.text = ''
    this.ends = []
  }
}

/**
 * Where to cut a full window: after a sentence if one ends in its second half, otherwise at a space, otherwise at its
 * end.
 */
function cutPoint(text: string): number {
  const half = text.length >> 1
  let space = -1
  for (let at = text.length - 1; at > half; at--) {
    const char = text[at]
    if (char !== ' ' && char !== '\n') continue
    if (space < 0) space = at + 1
    if (/[.!?]/.test(text[at - 1] as string)) return at + 1
  }
  return space < 0 ? text.length : space
}
