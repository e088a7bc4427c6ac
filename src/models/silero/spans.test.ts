import { expect, test } from 'bun:test'
import { speechSpans } from './detector.ts'

const windowMs = 32
/** Runs of the same probability: [windows, probability]. */
function spansOf(runs: readonly [number, number][], totalMs?: number) {
  const probabilities = runs.flatMap(([count, probability]) => Array<number>(count).fill(probability))
  const spans = speechSpans(probabilities, windowMs, totalMs ?? probabilities.length * windowMs)
  return spans.map(({ startMs, endMs }) => [startMs, endMs])
}

test('one burst, padded on both sides', () => {
  expect(
    spansOf([
      [10, 0],
      [20, 0.9],
      [10, 0],
    ]),
  ).toEqual([[10 * 32 - 30, 30 * 32 + 30]])
})

test('padding stops at the ends of the sound', () => {
  expect(spansOf([[20, 0.9]], 630)).toEqual([[0, 630]])
})

test('a burst of 250 ms or less does not count as speech', () => {
  expect(
    spansOf([
      [10, 0],
      [7, 0.9],
      [10, 0],
    ]),
  ).toEqual([])
  expect(
    spansOf([
      [10, 0],
      [8, 0.9],
      [10, 0],
    ]),
  ).toHaveLength(1)
})

test('the threshold to continue is lower than the threshold to begin', () => {
  expect(spansOf([[40, 0.45]])).toEqual([])
  expect(
    spansOf([
      [10, 0],
      [10, 0.5],
      [20, 0.36],
      [10, 0],
    ]),
  ).toEqual([[290, 40 * 32 + 30]])
})

test('a silence below 100 ms is bridged, a longer one separates', () => {
  expect(
    spansOf([
      [10, 0.9],
      [3, 0],
      [10, 0.9],
    ]),
  ).toEqual([[0, 23 * 32]])
  expect(
    spansOf([
      [10, 0.9],
      [5, 0],
      [10, 0.9],
      [5, 0],
    ]),
  ).toEqual([
    [0, 350],
    [450, 830],
  ])
})

test('silence that never lasts is part of the speech; empty sound has no speech', () => {
  expect(
    spansOf([
      [9, 0.9],
      [2, 0.1],
      [1, 0.4],
      [2, 0.1],
    ]),
  ).toEqual([[0, 318]])
  expect(spansOf([])).toEqual([])
})
