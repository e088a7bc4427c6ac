import { describe, expect, test } from 'bun:test'
import { Random } from '../../domain/random.ts'
import { bestOf, filterLogits, pickToken, probabilityOf, stopsEarly } from './sampling.ts'
import type { WhisperTokens } from './tokens.ts'

/** Ten tokens of text (0 is a blank, 1 is suppressed), the end of text, two special ones, and 100 timestamps. */
const tokens = {
  endOfText: 10,
  noTimestamps: 12,
  firstTimestamp: 13,
  suppressed: [1, 11],
  blank: [0],
} as unknown as WhisperTokens
const size = 113

/** @param high ids with a logit of their own; the others have 0 */
const logits = (high: Record<number, number> = {}) =>
  Float32Array.from({ length: size }, (_, id) => high[id] ?? (id < 13 ? 0 : -20))
/** Ids that may be written. */
function allowed(sampled: readonly number[], high?: Record<number, number>): number[] {
  const left = logits(high)
  filterLogits(left, sampled, tokens)
  return [...left.keys()].filter((id) => left[id]! > Number.NEGATIVE_INFINITY)
}
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

describe('allowed tokens', () => {
  test('at first: a timestamp of at most one second', () => {
    expect(allowed([])).toEqual(range(13, 63))
  })

  test('after the first timestamp: text', () => {
    expect(allowed([20])).toEqual([0, ...range(2, 10)])
  })

  test('after text: more text, or a later timestamp', () => {
    expect(allowed([20, 5])).toEqual([0, ...range(2, 10), ...range(21, 112)])
  })

  test('after text and a timestamp: the same timestamp again, a later one, or the end', () => {
    expect(allowed([20, 5, 30])).toEqual([10, ...range(30, 112)])
  })

  test('after a pair: text, and never an earlier timestamp', () => {
    expect(allowed([20, 5, 30, 30])).toEqual([0, ...range(2, 10)])
    expect(allowed([20, 5, 30, 30, 6])).toEqual([0, ...range(2, 10), ...range(31, 112)])
  })

  test('a timestamp if all timestamps together are likelier than any text', () => {
    const each = Object.fromEntries(range(13, 112).map((id) => [id, -4]))
    expect(allowed([20, 5], each)).toEqual(range(21, 112))
    expect(allowed([20, 5], { ...each, 7: 1 })).toContain(7)
  })
})

test('a text stops early that would end after a pair, with sound left', () => {
  const ending = logits({ 10: 5 })
  // The pair is at 340 ms.
  const pair = [20, 5, 30, 30]
  expect(stopsEarly(ending, pair, tokens, 340)).toBe(true)
  expect(stopsEarly(ending, pair, tokens, 339)).toBe(false)
  expect(stopsEarly(logits({ 10: 5, 4: 6 }), pair, tokens, 1000)).toBe(false)
  expect(stopsEarly(ending, [20, 5, 30], tokens, 1000)).toBe(false)
  expect(stopsEarly(ending, [20, 5], tokens, 1000)).toBe(false)
  expect(stopsEarly(ending, [20], tokens, 1000)).toBe(false)
})

describe('picking', () => {
  test('at temperature 0 takes the first of the best, and returns its probability', () => {
    const { id, logprob } = pickToken(Float32Array.of(0, Math.log(3), Math.log(3), -Infinity), 0, new Random(1))
    expect(id).toBe(1)
    expect(logprob).toBeCloseTo(Math.log(3 / 7), 6)
  })

  test('above it draws each as often as its probability at that temperature', () => {
    const random = new Random(3)
    const counts = [0, 0, 0, 0]
    for (let i = 0; i < 20_000; i++) {
      const { id, logprob } = pickToken(Float32Array.of(0, -Infinity, Math.log(2), Math.log(3)), 0.5, random)
      expect(logprob).toBeCloseTo(Math.log([1, 0, 2, 3][id]! / 6), 6)
      counts[id]!++
    }
    // At one half, the ratios are squared: 1, 4 and 9 of 14; three deviations are 0.011.
    for (const [id, weight] of [1, 0, 4, 9].entries()) expect(counts[id]! / 20_000).toBeCloseTo(weight / 14, 1.7)
    expect(counts[1]).toBe(0)
  })

  test('gives the same result again from the same seed', () => {
    const draw = (seed: number) =>
      Array.from(
        { length: 5 },
        (
          (random) => () =>
            random.next()
        )(new Random(seed)),
      )
    expect(draw(7)).toEqual(draw(7))
    expect(draw(7)).not.toEqual(draw(8))
    for (const value of draw(7)) expect(value).toBeWithin(0, 1)
  })
})

test('a probability may be limited to the ids before an end', () => {
  const row = Float32Array.of(0, Math.log(3), 50)
  expect(probabilityOf(row, 1, 2)).toBeCloseTo(0.75, 6)
  expect(probabilityOf(row, 2)).toBeCloseTo(1, 6)
})

test('finds the best of a few ids', () => {
  expect(bestOf(Float32Array.of(9, 1, 3, 2), [1, 3])).toBe(3)
})
