/**
 * Text word by word, for voices that take whole sentences and count them in pieces of their own. In English everything
 * is written out; in other languages the words stay as they were typed, because each reads numbers and addresses in its
 * own way, and only marks that are never read are removed.
 */
import { blocks } from './blocks.ts'
import { breaks, type Mapped } from './fold.ts'
import { plainText } from './inline.ts'
import type { Lexicon } from './lexicon.ts'
import { tokens } from './tokens.ts'

export interface SpokenWord {
  /** Without spaces; its mark is separate. */
  text: string
  /** The mark behind it, '' for none. */
  mark: string
  /** Code points of the input that are covered once it is spoken: never decreases. */
  end: number
  /** What ends with it. */
  closes: 'nothing' | 'clause' | 'sentence' | 'paragraph'
}

/** English, in ASCII. */
export function* englishWords(input: string, lexicon: Lexicon): Generator<SpokenWord> {
  const line = new Line()
  for (const block of blocks(input)) {
    for (const token of tokens(plainText(block), lexicon)) {
      if (token.kind === 'say') {
        for (const [index, word, all] of numbered(token.words.split(' '))) {
          yield* line.say(word, index === all - 1 ? token.end : line.covered)
        }
      } else if (token.kind === 'break') line.close('', token.boundary, token.end)
      else line.close(token.mark, token.kind === 'pause' ? 'clause' : 'sentence', token.end)
    }
    if (block.after !== 'none') line.close('', block.after, line.covered)
  }
  yield* line.finish()
}

/** Any language, as it was typed. */
export function* writtenWords(input: string): Generator<SpokenWord> {
  const line = new Line()
  for (const block of blocks(input, true)) {
    for (const piece of piecesOf(plainText(block))) {
      if (piece.text === breaks.sentence) line.close('', 'sentence', piece.end)
      else if (piece.text === breaks.paragraph) line.close('', 'paragraph', piece.end)
      else yield* sayWritten(line, piece)
    }
    if (block.after !== 'none') line.close('', block.after, line.covered)
  }
  yield* line.finish()
}

/** Holds the last word back until it is known what follows it. */
class Line {
  covered = 0
  #held: SpokenWord | null = null;

  *say(text: string, end: number): Generator<SpokenWord> {
    if (this.#held !== null) yield this.#held
    this.covered = Math.max(this.covered, end)
    this.#held = { text, mark: '', end: this.covered, closes: 'nothing' }
  }

  /** Later marks behind the same word count only when they close more: "word," and then the end of its line. */
  close(mark: string, closes: 'clause' | 'sentence' | 'paragraph', end: number): void {
    const word = this.#held
    if (word === null) return
    if (word.mark === '' || (word.closes === 'clause' && closes !== 'clause' && mark !== '')) word.mark = mark
    if (rank[closes] > rank[word.closes]) word.closes = closes
    this.covered = word.end = Math.max(word.end, end)
  }

  *finish(): Generator<SpokenWord> {
    if (this.#held !== null) yield this.#held
    this.#held = null
  }
}

const rank: Readonly<Record<SpokenWord['closes'], number>> = { nothing: 0, clause: 1, sentence: 2, paragraph: 3 }

interface Piece {
  text: string
  end: number
}

/** Cut at spaces; a break is a piece of its own. */
function* piecesOf({ text, ends }: Mapped): Generator<Piece> {
  // oxlint-disable-next-line no-control-regex -- U+0001 and U+0002 mark where a sentence and a paragraph end.
  const pattern = /[\u0001\u0002]|[^\s\u0001\u0002]+/g
  for (const { 0: found, index } of text.matchAll(pattern)) {
    yield { text: found, end: ends[index + found.length - 1] as number }
  }
}

/** Signs that are words of their own between spaces. */
const named = /^[%&+=€£¥$°§×÷±]+$/

function* sayWritten(line: Line, { text, end }: Piece): Generator<SpokenWord> {
  const bare = text.replace(/["()[\]{}<>|\\*_~^`]+/g, '').normalize('NFC')
  if (/^[-–]+$/.test(bare)) return line.close(',', 'clause', end)
  const [, word = '', marks = ''] = /^[.!?,;:'–-]*(.*?)([.!?,;:'–-]*)$/s.exec(bare) as RegExpExecArray
  if (!/[\p{L}\p{N}]/u.test(word) && !named.test(word)) return closeWith(line, bare, '', end)
  // The stop of an abbreviation or an ordinal: "3. Mai", "z. B.", "J. Weber".
  const short = marks === '.' && /^(\p{N}+|\p{L})$/u.test(word)
  yield* line.say(short ? `${word}.` : bare.startsWith("'") ? `'${word}` : word, end)
  if (!short) closeWith(line, marks, word, end)
}

function closeWith(line: Line, marks: string, word: string, end: number): void {
  const last = marks.includes('?') ? '?' : marks.includes('!') ? '!' : marks.startsWith('...') ? '...' : ''
  if (last === '...') line.close(last, 'clause', end)
  else if (last !== '' || marks.startsWith('.')) line.close(last === '' ? '.' : last, 'sentence', end)
  else if (/[,;:]/.test(marks)) line.close(/[,;:]/.exec(marks)![0], 'clause', end)
  else if (word !== '' && /–/.test(marks)) line.close(',', 'clause', end)
}

const numbered = <T>(items: readonly T[]): [number, T, number][] => items.map((item, at) => [at, item, items.length])
