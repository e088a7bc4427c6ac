/** Turns measured numbers into medians, 95th percentiles and a table in columns. */

export interface Spread {
  count: number
  min: number
  median: number
  p95: number
  max: number
}

/** @throws RangeError without values: a median of nothing would be an invented figure */
export function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0) throw new RangeError('nothing was measured')
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)]!
  const middle = sorted.length / 2
  const median = Number.isInteger(middle) ? (sorted[middle - 1]! + sorted[middle]!) / 2 : at(0.5)
  return { count: sorted.length, min: sorted[0]!, median, p95: at(0.95), max: sorted.at(-1)! }
}

export const medianOf = (values: readonly number[]): number => spreadOf(values).median

/**
 * Whole numbers stay as they are; others have one decimal below ten and none above, because no figure here is more
 * exact.
 */
export const round = (value: number): string =>
  Number.isInteger(value) || Math.abs(value) >= 10 ? value.toFixed(0) : value.toFixed(Math.abs(value) < 0.1 ? 3 : 1)

/** Numbers are aligned to the right, words to the left. The first row is the head. */
export function printTable(title: string, rows: readonly (readonly (string | number)[])[]): void {
  const cells = rows.map((row) => row.map((cell) => (typeof cell === 'number' ? round(cell) : cell)))
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)))
  const isNumber = widths.map((_, column) => typeof rows[1]?.[column] === 'number')
  console.log(`\n${title}`)
  for (const row of cells) {
    const padded = row.map((cell, column) =>
      isNumber[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
    )
    console.log(`  ${padded.join('  ').trimEnd()}`)
  }
}
