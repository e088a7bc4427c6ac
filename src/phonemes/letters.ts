/**
 * The pronunciation of a word that is in no dictionary: the likeliest phones for its letters, by a joint n-gram model
 * of letters and phones (Bisani and Ney 2008). `scripts/g2p/train.ts` makes `letters.zst` from the dictionary and
 * measures it on words that it has not seen.
 */
import { type Phone, parsePhones } from './phones.ts'

/** The packed file: JSON, its length before it, then each level's arrays. */
export interface LettersHeader {
  /** Longest n-gram. */
  order: number
  /** A letter and what it speaks, "K S" or ""; the number of its symbol is the place in this list plus 2. */
  pairs: readonly (readonly [string, string])[]
  /** N-grams of 1, 2, ... symbols. */
  levels: readonly number[]
}

/** ln of probabilities and weights are kept in steps of this size, from these values down. */
export const packing = { step: 1 / 16, log: 0, backoff: 3 } as const

export const startSymbol = 0
export const endSymbol = 1
const pairsFrom = 2

/** Hypotheses that are followed at once. */
const beam = 12
/** How much less likely than the best one, in ln, a hypothesis may be. */
const margin = 6

interface Level {
  symbols: Uint16Array
  /** Start of each n-gram's children in the next level; one more than there are n-grams. */
  children: Uint32Array
  logs: Uint8Array
  backoffs: Uint8Array
}

interface Hypothesis {
  score: number
  pair: number
  before: Hypothesis | null
  /** The last symbols, at most `order - 1`. */
  history: readonly number[]
}

export class Letters {
  readonly #order: number
  readonly #levels: readonly Level[]
  readonly #spoken: readonly (readonly Phone[])[]
  /** For each letter, the symbols that pronounce it. */
  readonly #symbols = new Map<string, number[]>()

  /** @param bytes as `packLetters` of the script writes them */
  constructor(bytes: Uint8Array) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const length = view.getUint32(0, true)
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))) as LettersHeader
    this.#order = header.order
    this.#spoken = header.pairs.map(([, spoken]) => (spoken === '' ? [] : parsePhones(spoken)))
    for (const [index, [letter]] of header.pairs.entries()) {
      this.#symbols.set(letter, [...(this.#symbols.get(letter) ?? []), index + pairsFrom])
    }
    let at = 4 + length
    // Copies, for an array of 16-bit numbers cannot begin at an odd byte.
    const take = (size: number) => new Uint8Array(bytes.subarray(at, (at += size)))
    const words = (count: number) => new Uint16Array(take(2 * count).buffer)
    this.#levels = header.levels.map((count) => ({
      symbols: words(count),
      children: running(words(count)),
      logs: take(count),
      backoffs: take(count),
    }))
  }

  /** @param word letters from a to z and apostrophes @returns empty when none of them is spoken */
  phones(word: string): Phone[] {
    let hypotheses: Hypothesis[] = [{ score: 0, pair: startSymbol, before: null, history: [startSymbol] }]
    for (const letter of word) {
      const symbols = this.#symbols.get(letter)
      if (symbols === undefined) continue
      hypotheses = hypotheses.flatMap((from) => this.#extend(from, symbols))
      hypotheses.sort((a, b) => b.score - a.score)
      const least = (hypotheses[0]?.score ?? 0) - margin
      hypotheses = hypotheses.slice(0, beam).filter(({ score }) => score >= least)
    }
    const ended = hypotheses.flatMap((from) => this.#extend(from, [endSymbol])).sort((a, b) => b.score - a.score)
    const readings = ended.map((hypothesis) => this.#read(hypothesis))
    // A word has one main stress: a likelier reading with none or two is not one.
    return readings.find((phones) => phones.filter(({ stress }) => stress === 1).length === 1) ?? readings[0] ?? []
  }

  #read(ended: Hypothesis): Phone[] {
    const pairs: number[] = []
    for (let at = ended.before; at !== null && at.pair !== startSymbol; at = at.before) pairs.unshift(at.pair)
    return pairs.flatMap((pair) => this.#spoken[pair - pairsFrom] as readonly Phone[])
  }

  #extend(from: Hypothesis, symbols: readonly number[]): Hypothesis[] {
    const contexts = this.#contexts(from.history)
    const kept = from.history.length < this.#order - 1 ? 0 : 1
    const history = from.history.slice(kept)
    return symbols.map((pair) => ({
      score: from.score + this.#log(contexts, pair),
      pair,
      before: from,
      history: [...history, pair],
    }))
  }

  /** The places of the history and of its ever shorter ends, -1 where one is not in the model. */
  #contexts(history: readonly number[]): number[] {
    return history.map((_, from) => {
      let place = -1
      for (let at = from; at < history.length; at++) {
        place = this.#find(at - from, place, history[at] as number)
        if (place < 0) return -1
      }
      return place
    })
  }

  #log(contexts: readonly number[], symbol: number): number {
    let weight = 0
    for (const [index, place] of contexts.entries()) {
      if (place < 0) continue
      const depth = contexts.length - index
      const found = this.#find(depth, place, symbol)
      if (found >= 0) return weight + packing.log - (this.#levels[depth] as Level).logs[found]! * packing.step
      weight += packing.backoff - (this.#levels[depth - 1] as Level).backoffs[place]! * packing.step
    }
    const alone = this.#find(0, -1, symbol)
    return alone < 0 ? -20 : weight + packing.log - (this.#levels[0] as Level).logs[alone]! * packing.step
  }

  /** Index in level `depth` of the n-gram at `parent` one level up followed by the symbol; -1: there is none. */
  #find(depth: number, parent: number, symbol: number): number {
    const level = this.#levels[depth]
    if (level === undefined) return -1
    let low = 0
    let high = level.symbols.length
    if (depth > 0) {
      const { children } = this.#levels[depth - 1] as Level
      low = children[parent]!
      high = children[parent + 1]!
    }
    while (low < high) {
      const middle = (low + high) >> 1
      const found = level.symbols[middle]!
      if (found === symbol) return middle
      if (found < symbol) low = middle + 1
      else high = middle
    }
    return -1
  }
}

/** 0, and the sums up to each of the counts. */
function running(counts: Uint16Array): Uint32Array {
  const sums = new Uint32Array(counts.length + 1)
  for (let index = 0; index < counts.length; index++) sums[index + 1] = sums[index]! + counts[index]!
  return sums
}
