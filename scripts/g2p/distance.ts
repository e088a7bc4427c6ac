/** The distance between two pronunciations. */

/** The smallest number of symbols to insert, remove or change (Levenshtein). */
export function editDistance(one: readonly string[], other: readonly string[]): number {
  let above = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [row, symbol] of one.entries()) {
    const line = [row + 1]
    for (const [column, against] of other.entries()) {
      const changed = (above[column] as number) + (symbol === against ? 0 : 1)
      line.push(Math.min((above[column + 1] as number) + 1, (line[column] as number) + 1, changed))
    }
    above = line
  }
  return above.at(-1) as number
}
