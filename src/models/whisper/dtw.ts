/**
 * Dynamic time warping (H. Sakoe and S. Chiba, 1978): the cheapest way through a matrix from its first corner to its
 * last, by steps down, right or both.
 */

/**
 * @param cost row by row, with `columns` in each
 * @returns for each row, the first column in which the way is in it
 */
export function firstColumns(cost: Float32Array, columns: number): Int32Array {
  const rows = cost.length / columns
  const steps = cheapestSteps(cost, rows, columns)
  const first = new Int32Array(rows)
  let row = rows - 1
  let column = columns - 1
  while (row >= 0 && column >= 0) {
    first[row] = column
    const step = row === 0 ? right : column === 0 ? down : steps[row * columns + column]!
    if (step !== right) row--
    if (step !== down) column--
  }
  return first
}

const both = 0
const down = 1
const right = 2

/**
 * For each place, the last step of the cheapest path to it. If down and diagonal cost the same, right is taken, even if
 * it costs more: so does the reference, and the difference is one position.
 */
function cheapestSteps(cost: Float32Array, rows: number, columns: number): Uint8Array {
  const steps = new Uint8Array(rows * columns)
  const far = Number.POSITIVE_INFINITY
  let above = new Float32Array(columns + 1).fill(far)
  above[0] = 0
  for (let row = 0; row < rows; row++) {
    const here = new Float32Array(columns + 1).fill(far)
    for (let column = 0; column < columns; column++) {
      const fromBoth = above[column]!
      const fromAbove = above[column + 1]!
      const fromLeft = here[column]!
      let least = fromLeft
      let step = right
      if (fromBoth < fromAbove && fromBoth < fromLeft) {
        least = fromBoth
        step = both
      } else if (fromAbove < fromBoth && fromAbove < fromLeft) {
        least = fromAbove
        step = down
      }
      here[column + 1] = cost[row * columns + column]! + least
      steps[row * columns + column] = step
    }
    above = here
  }
  return steps
}
