/**
 * Text to the ids of a SentencePiece unigram model, exactly as the SentencePiece library gives them: of all ways to cut
 * the text into pieces the one whose scores add up to most, found by Viterbi's algorithm.
 * T. Kudo, "Subword Regularization" (https://arxiv.org/abs/1804.10959) gives the model.
 *
 * Where two ways are equally good, which one wins hangs on rounding: everything is float32, as in the library (0.2.3;
 * older ones compare as float64, and cut long runs of one character differently). Of the npm packages that carry the
 * library itself, the only one kept up brings 4 MB of other models' vocabularies along.
 */
import { readSentencePieceModel, type SentencePieceModel } from './sentencepiece-model.ts'
import { SentencePieceNormalizer, utf8Length } from './sentencepiece-normalizer.ts'

/** How much worse than the worst piece a character without a piece is. */
const unknownPenalty = 10

interface Entry {
  id: number
  score: number
}

/** The best way to reach a position: over which piece, from where. */
interface Step {
  id: number
  from: number
  score: number
}

export class SentencePiece {
  readonly #normalizer: SentencePieceNormalizer
  readonly #entries: ReadonlyMap<string, Entry>
  /** Length of the longest piece, in UTF-16 units. */
  readonly #maxLength: number
  readonly #unknownId: number
  readonly #unknownScore: number
  /** Ids by byte; null: a character that no piece has is the unknown piece. */
  readonly #byteIds: readonly number[] | null
  /** Number of ids. */
  readonly size: number

  /** @param bytes of the model file @throws Error that says what is wrong with it */
  constructor(bytes: Uint8Array) {
    const model = readSentencePieceModel(bytes)
    const normal = model.pieces.filter(({ kind }) => kind === 'normal').map(({ score }) => score)
    // The library's starting value for the maximum is the smallest positive float.
    const maxScore = normal.reduce((max, score) => Math.max(max, score), 2 ** -126)
    this.#normalizer = new SentencePieceNormalizer(model)
    this.#entries = entriesOf(model, maxScore)
    this.#maxLength = [...this.#entries.keys()].reduce((max, { length }) => Math.max(max, length), 1)
    this.#unknownId = model.pieces.findIndex(({ kind }) => kind === 'unknown')
    if (this.#unknownId === -1) throw new Error('it has no unknown piece')
    this.#unknownScore = Math.fround(normal.reduce((min, score) => Math.min(min, score), 3.4e38) - unknownPenalty)
    this.#byteIds = model.byteFallback ? byteIdsOf(model) : null
    this.size = model.pieces.length
  }

  /** Whether there is a piece for a character alone. */
  knows(character: string): boolean {
    return this.#entries.has(character)
  }

  /** Time grows with the length of the text times that of the longest piece. */
  encode(text: string): number[] {
    const normalized = this.#normalizer.normalize(text)
    const ids: number[] = []
    for (const { id, from, to } of this.#path(normalized)) {
      if (id !== this.#unknownId) ids.push(id)
      else if (this.#byteIds !== null) {
        for (const byte of new TextEncoder().encode(normalized.slice(from, to))) ids.push(this.#byteIds[byte]!)
      } else if (ids.at(-1) !== this.#unknownId) ids.push(id)
    }
    return ids
  }

  /** The pieces of the best way in their order. */
  #path(text: string): { id: number; from: number; to: number }[] {
    const best: (Step | undefined)[] = Array.from({ length: text.length + 1 })
    best[0] = { id: -1, from: -1, score: 0 }
    for (let from = 0; from < text.length;) {
      const width = text.codePointAt(from)! > 0xffff ? 2 : 1
      const before = best[from]!.score
      let hasCharacter = false
      for (let to = from + 1; to <= Math.min(text.length, from + this.#maxLength); to++) {
        const entry = this.#entries.get(text.slice(from, to))
        if (entry === undefined) continue
        offer(best, to, { id: entry.id, from, score: entry.score + before })
        if (to === from + width) hasCharacter = true
      }
      if (!hasCharacter) {
        offer(best, from + width, { id: this.#unknownId, from, score: this.#unknownScore + before })
      }
      from += width
    }
    const path: { id: number; from: number; to: number }[] = []
    for (let to = text.length; to > 0; to = best[to]!.from) path.push({ id: best[to]!.id, from: best[to]!.from, to })
    return path.reverse()
  }
}

function offer(best: (Step | undefined)[], to: number, step: Step): void {
  const known = best[to]
  const score = Math.fround(step.score)
  if (known === undefined || score > known.score) best[to] = { ...step, score }
}

function entriesOf(model: SentencePieceModel, maxScore: number): Map<string, Entry> {
  const entries = new Map<string, Entry>()
  for (const [id, { text, score, kind }] of model.pieces.entries()) {
    if (kind === 'normal') entries.set(text, { id, score })
    // Better than anything else over the same characters, so that such a piece is never cut.
    if (kind === 'user') entries.set(text, { id, score: Math.fround(utf8Length(text) * maxScore - 0.1) })
  }
  return entries
}

function byteIdsOf({ pieces }: SentencePieceModel): number[] {
  const ids = Array.from({ length: 256 }, (_, byte) => {
    const name = `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`
    return pieces.findIndex(({ kind, text }) => kind === 'byte' && text === name)
  })
  if (ids.includes(-1)) throw new Error('it does not have a piece for every byte')
  return ids
}
