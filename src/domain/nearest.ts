/** The name that a mistyped one most likely meant. */

/** A third of the letters may be wrong, and no more than three: beyond that it is another word. */
const wrongMax = (length: number): number => Math.min(3, Math.floor(length / 3))
/** Longer names are not typing mistakes, and comparing them would take time. */
const longestName = 64

/**
 * @param names in the order of preference where several are equally near
 * @returns null when none is near
 */
export function nearest(given: string, names: Iterable<string>): string | null {
  const wanted = given.toLowerCase()
  if (wanted.length > longestName) return null
  let best: string | null = null
  let least = wrongMax(wanted.length) + 1
  for (const name of names) {
    if (Math.abs(name.length - wanted.length) >= least) continue
    const wrong = distance(wanted, name.toLowerCase())
    if (wrong >= least) continue
    best = name
    least = wrong
  }
  return best
}

/**
 * Letters to insert, remove, replace or swap with their neighbour until one is the other: the optimal string alignment
 * distance (Damerau, "A technique for computer detection and correction of spelling errors", CACM 7(3), 1964).
 */
function distance(one: string, other: string): number {
  let [before, last] = [[] as number[], Array.from({ length: other.length + 1 }, (_, at) => at)]
  for (let row = 1; row <= one.length; row++) {
    const next = [row]
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1]
      let least = Math.min(last[column]! + 1, next[column - 1]! + 1, last[column - 1]! + (isSame ? 0 : 1))
      const isSwapped =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      if (isSwapped) least = Math.min(least, before[column - 2]! + 1)
      next.push(least)
    }
    ;[before, last] = [last, next]
  }
  return last[other.length]!
}
