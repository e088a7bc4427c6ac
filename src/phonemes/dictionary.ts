/**
 * The CMU Pronouncing Dictionary in memory, as one array of bytes that is searched in place: about 2 MB, where a map of
 * strings would take 30. `scripts/g2p-train.ts` makes `dictionary.br` from it, one pronunciation per word.
 *
 * Packed: words in alphabetical order, each as (letters shared with the previous word, further letters, phones) with
 * the lengths before them; every sixteenth shares none, so that a search can begin there.
 */
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import { type Phone, phones } from './phones.ts'

const groupSize = 16

export class Dictionary {
  readonly #bytes: Uint8Array
  /** Start of each group of words. */
  readonly #groups: readonly number[]
  readonly size: number

  constructor(packed: Uint8Array) {
    this.#bytes = brotliDecompressSync(packed)
    const groups: number[] = []
    let count = 0
    for (let at = 0; at < this.#bytes.length; at = this.#next(at)) {
      if (count % groupSize === 0) groups.push(at)
      count++
    }
    this.#groups = groups
    this.size = count
  }

  /** @param word lower case */
  find(word: string): Phone[] | null {
    let low = 0
    let high = this.#groups.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if (this.#word(this.#groups[middle] as number, '') <= word) low = middle
      else high = middle
    }
    const end = this.#groups[low + 1] ?? this.#bytes.length
    let found = ''
    for (let at = this.#groups[low] ?? end; at < end; at = this.#next(at)) {
      found = this.#word(at, found)
      if (found === word) return this.#phones(at)
      if (found > word) return null
    }
    return null
  }

  has(word: string): boolean {
    return this.find(word) !== null
  }

  #next(at: number): number {
    const letters = at + 2 + this.#bytes[at + 1]!
    return letters + 1 + this.#bytes[letters]!
  }

  #word(at: number, before: string): string {
    const from = at + 2
    return before.slice(0, this.#bytes[at]!) + latin1(this.#bytes.subarray(from, from + this.#bytes[at + 1]!))
  }

  #phones(at: number): Phone[] {
    const from = at + 2 + this.#bytes[at + 1]!
    return Array.from(this.#bytes.subarray(from + 1, from + 1 + this.#bytes[from]!), (code) => phones[code] as Phone)
  }
}

const latin1 = (bytes: Uint8Array): string => String.fromCharCode(...bytes)

/** @param entries words in ASCII with the codes of their phones */
export function packDictionary(entries: ReadonlyMap<string, readonly number[]>): Uint8Array {
  const bytes: number[] = []
  let before = ''
  for (const [index, word] of [...entries.keys()].sort().entries()) {
    let shared = 0
    if (index % groupSize !== 0) while (shared < word.length && word[shared] === before[shared]) shared++
    const rest = word.slice(shared)
    const spoken = entries.get(word) as readonly number[]
    bytes.push(shared, rest.length, ...Buffer.from(rest, 'latin1'), spoken.length, ...spoken)
    before = word
  }
  return brotliCompressSync(Uint8Array.from(bytes), {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 },
  })
}
