import { expect, test } from 'bun:test'
import { forEachSeed } from '../../testing/seeded.ts'
import { firstColumns } from './dtw.ts'

test('follows a diagonal', () => {
  const cost = Float32Array.of(0, 1, 1, 1, 0, 1, 1, 1, 0)
  expect([...firstColumns(cost, 3)]).toEqual([0, 1, 2])
})

test('a row may last, and rows may share a column', () => {
  expect([...firstColumns(Float32Array.of(0, 0, 0, 9, 9, 9, 9, 0), 4)]).toEqual([0, 3])
  expect([...firstColumns(Float32Array.of(1, 1, 1), 1)]).toEqual([0, 0, 0])
})

/** Tries all possible paths. */
function cheapest(cost: Float32Array, columns: number, row = 0, column = 0): number {
  const rows = cost.length / columns
  const own = cost[row * columns + column]!
  if (row === rows - 1 && column === columns - 1) return own
  const next = [
    row + 1 < rows ? cheapest(cost, columns, row + 1, column) : Infinity,
    column + 1 < columns ? cheapest(cost, columns, row, column + 1) : Infinity,
    row + 1 < rows && column + 1 < columns ? cheapest(cost, columns, row + 1, column + 1) : Infinity,
  ]
  return own + Math.min(...next)
}

/** The cheapest path that enters each row at the given column. */
function along(cost: Float32Array, columns: number, first: Int32Array): number {
  let sum = 0
  for (const [row, from] of first.entries()) {
    const next = first[row + 1]
    // The path leaves a row at the next row's first column or at the column before it.
    const to = next === undefined ? columns - 1 : next
    const span = Array.from(cost.subarray(row * columns + from, row * columns + to + 1))
    const isLast = next === undefined
    const whole = span.reduce((total, value) => total + value, 0)
    sum += isLast || span.length === 1 ? whole : Math.min(whole, whole - span.at(-1)!)
  }
  return sum
}

test('no path is cheaper', () =>
  forEachSeed(200, (random) => {
    const [rows, columns] = [random.whole(1, 5), random.whole(1, 6)]
    const cost = Float32Array.from({ length: rows * columns }, () => 2 * random.next() - 1)
    const first = firstColumns(cost, columns)
    expect(along(cost, columns, first)).toBeCloseTo(cheapest(cost, columns), 5)
  }))
