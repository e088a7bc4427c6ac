import { describe, expect, test } from 'bun:test'
import { forEachSeed } from '../testing/seeded.ts'
import { Bucket, Throttle } from './throttle.ts'

describe('throttle', () => {
  test('accepts its count, then returns how long to wait', () => {
    const throttle = new Throttle([{ count: 3, spanMs: 1000 }])
    expect([0, 10, 20].map((now) => throttle.take('a', now).remaining)).toEqual([2, 1, 0])
    const refused = throttle.take('a', 30)
    expect(refused).toMatchObject({ allowed: false, retryAfterMs: 970, remaining: 0, limit: 3 })
    expect(throttle.take('b', 30).allowed).toBe(true)
    expect(throttle.take('a', 999).allowed).toBe(false)
    expect(throttle.take('a', 1000).allowed).toBe(true)
  })

  test('the tighter of two limits decides', () => {
    const throttle = new Throttle([
      { count: 600, spanMs: 60_000 },
      { count: 100, spanMs: 1000 },
    ])
    const burst = Array.from({ length: 101 }, () => throttle.take('a', 5).allowed)
    expect(burst.filter(Boolean)).toHaveLength(100)
    expect(throttle.take('a', 5).retryAfterMs).toBe(1000)
  })

  test('no sliding window ever holds more than the limit', () =>
    forEachSeed(50, (random) => {
      const limits = [
        { count: 20, spanMs: 1000 },
        { count: 5, spanMs: 100 },
      ] as const
      const throttle = new Throttle([...limits])
      const accepted: number[] = []
      for (let now = 0, i = 0; i < 500; i++, now += random.whole(0, 40)) {
        const verdict = throttle.take('a', now)
        if (verdict.allowed) accepted.push(now)
        else expect(throttle.take('a', now + verdict.retryAfterMs - 0.001).allowed).toBe(false)
      }
      for (const { count, spanMs } of limits) {
        for (const time of accepted) {
          const inWindow = accepted.filter((other) => other > time - spanMs && other <= time)
          expect(inWindow.length).toBeLessThanOrEqual(count)
        }
      }
    }))

  test('a request costs the same, however many came in the last minute', () => {
    const throttle = new Throttle([{ count: 1_000_000, spanMs: 60_000 }])
    const costMs = (from: number): number => {
      const began = performance.now()
      for (let n = 0; n < 20_000; n++) throttle.take('a', from + n / 10)
      return performance.now() - began
    }
    const first = costMs(0)
    for (let round = 1; round < 40; round++) costMs(2000 * round)
    // Filtering 600,000 times for each request would cost ten thousand times as much.
    expect(costMs(80_000)).toBeLessThan(50 * first + 50)
    expect(throttle.take('a', 82_000).remaining).toBe(1_000_000 - 600_000)
  })

  test('exactly the entries older than the span are dropped', () =>
    forEachSeed(50, (random) => {
      const throttle = new Throttle([{ count: 100_000, spanMs: 1000 }])
      const accepted: number[] = []
      for (let now = 0, i = 0; i < 2000; i++, now += random.whole(0, i % 500 === 0 ? 2000 : 4)) {
        accepted.push(now)
        const within = accepted.filter((time) => now - time < 1000).length
        expect(throttle.take('a', now).remaining).toBe(100_000 - within)
      }
    }))

  test('refused requests do not count', () => {
    const throttle = new Throttle([{ count: 1, spanMs: 100 }])
    throttle.take('a', 0)
    for (let now = 1; now < 100; now++) throttle.take('a', now)
    expect(throttle.take('a', 100).allowed).toBe(true)
  })
})

test('a bucket gives its capacity at once and refills with time', () => {
  const bucket = new Bucket(10, 6000)
  expect(Array.from({ length: 10 }, () => bucket.take('a', 0))).toEqual(Array(10).fill(0))
  expect(bucket.take('a', 0)).toBe(6000)
  expect(bucket.take('a', 3000)).toBe(3000)
  expect(bucket.take('a', 6000)).toBe(0)
  expect(bucket.take('a', 6000)).toBe(6000)
  expect(bucket.take('other', 6000)).toBe(0)
})

test('a request may bring its own count, which applies from then on', () => {
  const throttle = new Throttle([
    { count: 2, spanMs: 1000 },
    { count: 5, spanMs: 60_000 },
  ])
  const take = (nowMs: number, own: number | null) => throttle.take('ada', nowMs, own)
  expect(take(0, 3)).toMatchObject({ allowed: true, limit: 3, remaining: 2 })
  expect([take(0, 3).allowed, take(0, 3).allowed]).toEqual([true, false])
  expect([take(2000, 3).allowed, take(4000, 3).allowed, take(4000, null).allowed]).toEqual([true, false, true])
  expect(throttle.take('bob', 4000)).toMatchObject({ limit: 5, remaining: 4 })
})
