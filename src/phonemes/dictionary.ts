/**
 * The CMU Pronouncing Dictionary in memory, as one array of bytes that is searched in place: about 2 MB, where a map of
 * strings would take 30. `scripts/g2p/train.ts` makes `dictionary.zst` from it, one pronunciation per word.
 *
 * Packed: how many groups of words there are (32 bits) and the length of each (16), so that nothing is searched for
 * when it is loaded; then the words in alphabetical order, each as (letters shared with the previous word, further
 * letters, phones) with the lengths before them. A group is sixteen words; its first one shares none, so that a search
 * can begin there.
 */
import { type Phone, phones } from './phones.ts'

const groupSize = 16
/** Of the number of groups, and of the length of one. */
const [countBytes, lengthBytes] = [4, 2]

export class Dictionary {
  readonly #bytes: Uint8Array
  /** Start of each group of words. */
  readonly #groups: Uint32Array

  /** @param packed as `packDictionary` gives it */
  constructor(packed: Uint8Array) {
    const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength)
    const count = view.getUint32(0, true)
    const groups = new Uint32Array(count)
    let at = countBytes + lengthBytes * count
    for (let group = 0; group < count; group++) {
      groups[group] = at
      at += view.getUint16(countBytes + lengthBytes * group, true)
    }
    this.#bytes = packed
    this.#groups = groups
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
  const starts: number[] = []
  let before = ''
  for (const [index, word] of [...entries.keys()].sort().entries()) {
    if (index % groupSize === 0) starts.push(bytes.length)
    let shared = 0
    if (index % groupSize !== 0) while (shared < word.length && word[shared] === before[shared]) shared++
    const rest = word.slice(shared)
    const spoken = entries.get(word) as readonly number[]
    bytes.push(shared, rest.length, ...Buffer.from(rest, 'latin1'), spoken.length, ...spoken)
    before = word
  }
  const packed = new DataView(new ArrayBuffer(countBytes + lengthBytes * starts.length))
  packed.setUint32(0, starts.length, true)
  for (const [group, start] of starts.entries()) {
    packed.setUint16(countBytes + lengthBytes * group, (starts[group + 1] ?? bytes.length) - start, true)
  }
  return Buffer.concat([new Uint8Array(packed.buffer), Uint8Array.from(bytes)])
}
