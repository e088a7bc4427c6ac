/**
 * Words into pieces of limited tokens: the model was trained on sentences and skips words of longer ones. As in
 * Kyutai's pocket-tts, sentences share a piece while there is room, and one that is too long is cut at its commas. What
 * is still too long is cut at a space, and a word that is too long is cut within: nothing is left out.
 */
import { countChars } from '../../domain/charge.ts'
import type { SpokenWord } from '../../text/spoken.ts'

export interface Chunk {
  /** Single spaces, not prepared. */
  text: string
  /** Code points of the input that are covered once it is spoken; the last chunk's are all. */
  coveredChars: number
  /** Why it ends: how long the pause behind it is. 'nothing': it was cut for its length. */
  closes: SpokenWord['closes']
}

export interface Measure {
  /** Tokens of a text once it is prepared. */
  tokens(text: string): number
  /** At least `minTokens`. */
  maxTokens: number
}

/** One character can have 4 tokens, its mark 3, the space before it 1 and padding 8. */
export const minTokens = 16

type Words = readonly SpokenWord[]

/** @param words of the input @returns at least one chunk, unless there are no words */
export function* chunksOf(words: Iterable<SpokenWord>, input: string, measure: Measure): Generator<Chunk> {
  const packer = new Packer(measure)
  let held: Chunk | null = null
  for (const chunk of packer.pack(words)) {
    if (held !== null) yield held
    held = chunk
  }
  // The last chunk covers what follows it and is not spoken; no pause follows that would be longer than a sentence's.
  if (held !== null) yield { ...held, coveredChars: countChars(input), closes: 'sentence' }
}

class Packer {
  readonly #measure: Measure
  /** Clauses and sentences that share the open chunk. */
  #chunk: Words = []
  /** The open clause of a long sentence, otherwise the open sentence. */
  #open: SpokenWord[] = []
  /** The open sentence has more tokens than a chunk. */
  #isLong = false
  /** By the words that were taken completely. */
  #covered = 0

  constructor(measure: Measure) {
    this.#measure = measure
  }

  *pack(words: Iterable<SpokenWord>): Generator<Chunk> {
    for (const word of words) {
      for (const part of this.#cutWord(word)) {
        this.#open.push(part)
        if (!this.#fits(this.#open)) yield* this.#cutSentence()
      }
      this.#covered = word.end
      if (word.closes === 'sentence' || word.closes === 'paragraph') yield* this.#endSentence(word.closes)
      else if (this.#isLong && word.closes === 'clause') yield* this.#merge(this.#open.splice(0))
    }
    yield* this.#endSentence('paragraph')
  }

  *#endSentence(closes: 'sentence' | 'paragraph'): Generator<Chunk> {
    this.#isLong = false
    yield* this.#merge(this.#open.splice(0))
    if (closes === 'paragraph') yield* this.#merge([])
  }

  /** There are too many open words: their clauses become pieces, or all but the last word if there are none. */
  *#cutSentence(): Generator<Chunk> {
    this.#isLong = true
    const last = this.#open.pop()!
    for (let at = this.#open.findIndex(isClauseEnd); at !== -1; at = this.#open.findIndex(isClauseEnd)) {
      yield* this.#merge(this.#open.splice(0, at + 1))
    }
    if (!this.#fits([...this.#open, last])) yield* this.#merge(this.#open.splice(0))
    this.#open.push(last)
  }

  /** Into the open chunk if there is room, otherwise into a new one. @param piece nothing: the open chunk ends */
  *#merge(piece: Words): Generator<Chunk> {
    const together = [...this.#chunk, ...piece]
    if (piece.length > 0 && this.#fits(together)) {
      this.#chunk = together
      return
    }
    const last = this.#chunk.at(-1)
    if (last !== undefined) yield { text: textOf(this.#chunk), coveredChars: last.end, closes: last.closes }
    this.#chunk = piece
  }

  #fits(words: Words): boolean {
    return this.#measure.tokens(textOf(words)) <= this.#measure.maxTokens
  }

  /** The word, or pieces of it that fit into a chunk; only the last of them covers its characters. */
  *#cutWord(word: SpokenWord): Generator<SpokenWord> {
    let rest = word.text
    // No word of any language is longer than this, and measuring the whole rest for each piece would take forever.
    const longest = 8 * this.#measure.maxTokens
    while (rest.length > longest || !this.#fits([{ ...word, text: rest }])) {
      let length = Math.max(1, Math.min(rest.length - 1, longest))
      while (length > 1 && !this.#fits([{ ...word, text: rest.slice(0, length), mark: '' }])) length = (length * 3) >> 2
      length = wholeCharacters(rest, length)
      yield { text: rest.slice(0, length), mark: '', end: this.#covered, closes: 'nothing' }
      rest = rest.slice(length)
    }
    yield { ...word, text: rest }
  }
}

const isClauseEnd = ({ closes }: SpokenWord): boolean => closes === 'clause'

const textOf = (words: Words): string => words.map(({ text, mark }) => text + mark).join(' ')

/** At most as many units, without cutting a character or separating one from its marks; at least one. */
function wholeCharacters(text: string, length: number): number {
  let end = length
  while (end > 1 && /^[\p{M}\u200d\udc00-\udfff]/u.test(text.slice(end)) && end > length - 8) end--
  const isHalf = (text.codePointAt(end - 1) ?? 0) > 0xffff
  return isHalf ? end + 1 : end
}
