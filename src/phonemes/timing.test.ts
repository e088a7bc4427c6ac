import { expect, test } from 'bun:test'
import { spanTimes } from './timing.ts'

const times = (symbols: string, spans: [number, number, number][], lengths: number[], longestEnd = 100, early = 0) =>
  spanTimes({ symbols, spans: spans.map(([from, to, end]) => ({ from, to, end })), lengths, early, longestEnd })

test('half of a space belongs to the word before it and half to the word after it', () => {
  // Pad, a, b, space, c, pad.
  expect(
    times(
      'ab c',
      [
        [0, 2, 5],
        [3, 4, 9],
      ],
      [10, 1, 2, 4, 3, 10],
    ),
  ).toEqual([
    { end: 5, from: 10, to: 15 },
    { end: 9, from: 15, to: 20 },
  ])
})

test('the pause of a mark belongs to no word, and the sound before it counts up to its limit', () => {
  // Pad, a, comma, space, b, stop, pad.
  const spans: [number, number, number][] = [
    [0, 2, 2],
    [3, 5, 5],
  ]
  expect(times('a, b.', spans, [10, 4, 8, 2, 20, 9, 10], 6)).toEqual([
    { end: 2, from: 10, to: 14 },
    { end: 5, from: 23, to: 30 },
  ])
})

test('every time moves forward by the same amount, but never below zero', () => {
  expect(times('a', [[0, 1, 1]], [2, 5, 2], 100, 3)).toEqual([{ end: 1, from: 0, to: 4 }])
})
