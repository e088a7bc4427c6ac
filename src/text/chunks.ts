/**
 * Text into pieces of limited length, one at a time. A sentence never shares a piece with the next, and the first piece
 * is short. The models cut by their own symbols; this shows whether anything of a text can be spoken (`speakable`),
 * without reading further than the first piece.
 */
import { countChars } from '../domain/charge.ts'
import { blocks } from './blocks.ts'
import { plainText } from './inline.ts'
import type { Lexicon } from './lexicon.ts'
import { type Token, tokens } from './tokens.ts'

export interface ChunkOptions {
  /** Longest chunk after normalisation, in characters; at least 8. */
  maxChars: number
  /** The first chunk has at most this many words, cut at a clause where there is one, so that sound comes early. */
  firstMaxWords: number
  /** What is spoken instead of certain words. */
  lexicon: Lexicon
}

export interface Chunk {
  /** Normalised words and punctuation: ASCII, single spaces, at least one word. */
  text: string
  /**
   * Code points of the input that are covered once this chunk is spoken. Never decreases; the last chunk's is the
   * length of the input.
   */
  coveredChars: number
  /**
   * Why the chunk ends: sets the pause after it. 'clause' without a mark at its end: cut only because of its length.
   * The last one says 'sentence', because no paragraph follows.
   */
  boundary: 'clause' | 'sentence' | 'paragraph'
}

/** Longest word that is given to a voice whole. */
const wordMax = 40
/** A word without a vowel is spelled out, which takes this many times as long: it counts as that many letters. */
const spelledFactor = 4

/**
 * Reads the input as far as it must to be sure of the next chunk: one window and the word behind it.
 * @throws RangeError when the options leave no room for a word
 */
export function* chunks(input: string, options: ChunkOptions): Generator<Chunk> {
  if (!(options.maxChars >= 8) || !(options.firstMaxWords >= 1)) {
    throw new RangeError('A chunk needs room for at least 8 characters and 1 word.')
  }
  const packer = new Packer(options)
  for (const block of blocks(input)) {
    for (const token of tokens(plainText(block), options.lexicon)) yield* packer.take(token)
    if (block.after !== 'none') packer.end(block.after)
  }
  yield* packer.finish(countChars(input))
}

interface Unit {
  word: string
  /** The pause behind the word. */
  mark: string
  /** Code points covered behind the word; for a word inside a number, those before the number. */
  end: number
}

class Packer {
  private units: Unit[] = []
  private chars = 0
  private covered = 0
  private first = true
  /**
   * The last chunk made: it is returned when a word follows, because the very last one covers the rest of the input.
   */
  private held: Chunk | null = null

  constructor(private readonly options: ChunkOptions) {}

  *take(token: Token): Generator<Chunk> {
    if (token.kind === 'say') yield* this.say(token.words, token.end)
    else if (token.kind === 'pause') this.pause(token.mark, token.end)
    else if (token.kind === 'stop') this.close(token.mark, 'sentence', token.end)
    else this.end(token.boundary)
  }

  /** Ends the open sentence, or makes the pause behind the last one longer. */
  end(boundary: 'sentence' | 'paragraph'): void {
    if (this.units.length > 0) this.close('.', boundary, this.covered)
    else if (this.held !== null && boundary === 'paragraph') this.held.boundary = 'paragraph'
  }

  *finish(length: number): Generator<Chunk> {
    this.end('sentence')
    if (this.held !== null) yield { ...this.held, coveredChars: length, boundary: 'sentence' }
  }

  private *say(words: string, end: number): Generator<Chunk> {
    const pieces: string[] = []
    for (const word of words.split(' ')) {
      const longest = Math.min(wordMax, this.options.maxChars - 2) / (isSpelled(word) ? spelledFactor : 1)
      for (let from = 0; from < word.length; from += Math.ceil(longest)) {
        pieces.push(word.slice(from, from + Math.ceil(longest)))
      }
    }
    for (const [index, word] of pieces.entries()) {
      const last = index === pieces.length - 1
      yield* this.add({ word, mark: '', end: last ? end : this.covered })
    }
  }

  private *add(unit: Unit): Generator<Chunk> {
    if (this.held !== null) yield this.held
    this.held = null
    while (this.isFull(unit.word)) yield this.cut(cutIndex(this.units))
    this.units.push(unit)
    this.chars += roomOf(unit.word) + 1
    this.covered = unit.end
  }

  /** Whether the open chunk has no room for the word and a mark after it. */
  private isFull(word: string): boolean {
    if (this.first && this.units.length >= this.options.firstMaxWords) return true
    return this.units.length > 0 && this.chars + roomOf(word) + 1 > this.options.maxChars
  }

  private pause(mark: string, end: number): void {
    const last = this.units.at(-1)
    if (last === undefined || last.mark !== '') return
    last.mark = mark
    last.end = Math.max(last.end, end)
    this.chars++
    this.covered = last.end
  }

  private close(mark: string, boundary: 'sentence' | 'paragraph', end: number): void {
    const last = this.units.at(-1)
    if (last === undefined) return
    last.mark = mark === '.' && /[?!]/.test(last.mark) ? last.mark : mark
    last.end = Math.max(last.end, end)
    this.covered = last.end
    this.held = { ...this.cut(this.units.length), boundary }
  }

  /** The first `count` units as a chunk. */
  private cut(count: number): Chunk {
    const cut = this.units.slice(0, count)
    this.units = this.units.slice(count)
    this.chars = this.units.reduce((sum, unit) => sum + roomOf(unit.word) + unit.mark.length + 1, 0)
    this.first = false
    const text = cut.map((unit) => unit.word + unit.mark).join(' ')
    return { text, coveredChars: cut.at(-1)?.end ?? this.covered, boundary: 'clause' }
  }
}

const isSpelled = (word: string): boolean => word.length > 1 && !/[aeiouy]/i.test(word)
const roomOf = (word: string): number => word.length * (isSpelled(word) ? spelledFactor : 1)

const connectives = new Set(
  (
    'and but or nor because which who that when while if although though so then than with without for from to ' +
    'in into on ' +
    'at by of as until unless after before where'
  ).split(' '),
)

/** Where to cut full units: after the last pause, otherwise before a word that opens a clause, otherwise at the end. */
function cutIndex(units: readonly Unit[]): number {
  const third = Math.floor(units.length / 3)
  for (let count = units.length; count > third; count--) if (units[count - 1]?.mark !== '') return count
  const half = Math.max(1, Math.floor(units.length / 2))
  for (let count = units.length - 1; count >= half; count--) {
    if (connectives.has(units[count]?.word ?? '')) return count
  }
  return units.length
}
