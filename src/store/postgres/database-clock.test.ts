/**
 * The database's clock over a connection that is fast, slow or lost: a slow answer moves it only as far as necessary.
 */
import { expect, test } from 'bun:test'
import type { Sql } from '../database.ts'
import { DatabaseClock } from './database-clock.ts'

/** A box whose clock is a minute behind. */
class Clocks {
  mono = 1000
  /** For the next questions: milliseconds to the server, and back. */
  trip: [number, number] = [1, 1]
  readonly aheadMs = 500_000
  readonly own = { nowMs: () => this.mono + this.aheadMs - 60_000, monotonicMs: () => this.mono }
  readonly sql = {
    get: async () => {
      this.mono += this.trip[0]
      const now = this.mono + this.aheadMs
      this.mono += this.trip[1]
      return { now }
    },
  } as unknown as Sql

  get realMs(): number {
    return this.mono + this.aheadMs
  }
}

const opened = async () => {
  const clocks = new Clocks()
  return { clocks, clock: await DatabaseClock.open(clocks.own, clocks.sql) }
}

test('an immediate answer gives the exact time', async () => {
  const { clocks, clock } = await opened()
  expect(clock.nowMs()).toBe(clocks.realMs)
  clocks.mono += 5000
  expect(clock.nowMs()).toBe(clocks.realMs)
})

test('a question that was repeated for seconds changes nothing', async () => {
  const { clocks, clock } = await opened()
  for (const trip of [
    [3000, 1],
    [1, 3000],
    [90, 70],
  ] as [number, number][]) {
    clocks.trip = trip
    await clock.measure()
    expect(clock.nowMs()).toBe(clocks.realMs)
  }
})

test('a late first answer is corrected by the next', async () => {
  const clocks = new Clocks()
  clocks.trip = [4000, 0]
  const opening = DatabaseClock.open(clocks.own, clocks.sql)
  // The first question is on its way; the second finds the connection fast.
  clocks.trip = [1, 1]
  const clock = await opening
  expect(Math.abs(clock.nowMs() - clocks.realMs)).toBeLessThanOrEqual(1)
})

test('a clock that was reset is followed, even after a slow answer', async () => {
  const { clocks, clock } = await opened()
  Object.assign(clocks, { aheadMs: clocks.aheadMs + 3_600_000 })
  clocks.trip = [500, 500]
  await clock.measure()
  expect(Math.abs(clock.nowMs() - clocks.realMs)).toBeLessThanOrEqual(500)
})
