/**
 * The merging of byte-pair encoding: the pair of neighbours with the lowest rank becomes one symbol, the leftmost
 * first, until no pair has a rank. A heap keeps the pairs, so that a word of a hundred thousand letters takes its
 * length and not its square: people send such words.
 */

/** By pair: its rank and the symbol that takes its place. */
export type Merges = ReadonlyMap<number, { rank: number; id: number }>

/** Symbols are below 2^20. */
export const pairKey = (left: number, right: number): number => left * 2 ** 20 + right

/** @returns the symbols after all merges */
export function mergePairs(symbols: readonly number[], merges: Merges): number[] {
  const ids = [...symbols]
  const next = ids.map((_, at) => at + 1)
  const previous = ids.map((_, at) => at - 1)
  const waiting = new Heap()
  const mergeAt = (at: number) => (at < 0 ? undefined : merges.get(pairKey(ids[at]!, ids[next[at]!] ?? Number.NaN)))
  const offer = (at: number) => {
    const merge = mergeAt(at)
    if (merge !== undefined) waiting.push(merge.rank * positions + at)
  }
  for (let at = 0; at < ids.length; at++) offer(at)
  for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
    const at = entry % positions
    const merge = mergeAt(at)
    // Something else has become of one of the two since.
    if (merge?.rank !== Math.floor(entry / positions)) continue
    const taken = next[at]!
    ids[at] = merge.id
    ids[taken] = gone
    next[at] = next[taken]!
    if (next[at] < ids.length) previous[next[at]] = at
    offer(previous[at]!)
    offer(at)
  }
  return ids.filter((id) => id !== gone)
}

/** An entry of the heap is a rank and a position in one number, so that equal ranks are merged from the left. */
const positions = 2 ** 32
/** No merge takes it. */
const gone = -1

/** Numbers, the lowest first out. */
class Heap {
  readonly #entries: number[] = []

  push(entry: number): void {
    const entries = this.#entries
    let at = entries.push(entry) - 1
    for (let above = (at - 1) >> 1; at > 0 && entries[above]! > entry; above = (at - 1) >> 1) {
      entries[at] = entries[above]!
      at = above
    }
    entries[at] = entry
  }

  pop(): number | undefined {
    const entries = this.#entries
    const lowest = entries[0]
    const last = entries.pop()
    if (last === undefined || entries.length === 0) return lowest
    let at = 0
    for (let below = 1; below < entries.length; below = 2 * at + 1) {
      if (below + 1 < entries.length && entries[below + 1]! < entries[below]!) below++
      if (entries[below]! >= last) break
      entries[at] = entries[below]!
      at = below
    }
    entries[at] = last
    return lowest
  }
}
