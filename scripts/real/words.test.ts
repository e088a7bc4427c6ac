import { expect, test } from 'bun:test'
import { lostWords, pointsMore, rateOf, wordErrors } from './words.ts'

test.each([
  ['a b c', 'a b c', 0],
  ['a b c', 'A, b-c!', 0],
  ['a b c', 'a x c', 1],
  ['a b c', 'a c', 1],
  ['a b c', 'a b b c', 1],
  ['', 'a b', 2],
  ["it's so", 'it’s', 1],
])('%j transcribed as %j: %d', (reference, heard, errors) => {
  expect(wordErrors(reference, heard).errors).toBe(errors)
})

test('a rate counts words, not sentences', () => {
  expect(rateOf([wordErrors('a b c d', 'a b c'), wordErrors('a', 'a')])).toBe(20)
})

test('the interval of a difference is around 0 for equal listeners, and beyond it for a worse one', () => {
  const clips = Array.from({ length: 40 }, (_, at) => ({ errors: at % 4, words: 20 }))
  expect(pointsMore(clips, clips)).toEqual({ low: 0, high: 0 })
  const other = clips.map((_, at) => ({ errors: (at + 2) % 4, words: 20 }))
  const equal = pointsMore(clips, other)
  expect([equal.low < 0, equal.high > 0]).toEqual([true, true])
  const worse = pointsMore(
    clips.map(({ errors, words }) => ({ errors: errors + 2, words })),
    other,
  )
  expect([worse.low > 0, worse.low < 10, worse.high > 10]).toEqual([true, true, true])
})

test.each([
  ['a b c', 'a b c', ''],
  ['a b c', 'a x c', ''],
  ['a b c', 'a c', 'b'],
  ['a b c d', 'c d', 'a b'],
  ['a b', '', 'a b'],
  ['', 'a b', ''],
  ['a b c', 'x a b', 'c'],
])('%j transcribed as %j loses %j', (reference, heard, lost) => {
  const words = reference.split(' ').filter(Boolean)
  const isLost = lostWords(words, heard.split(' ').filter(Boolean))
  expect(words.filter((_, at) => isLost[at]).join(' ')).toBe(lost)
})
