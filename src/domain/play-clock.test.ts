import { expect, test } from 'bun:test'
import { PlayClock } from './play-clock.ts'

test('a listener runs dry once the received sound is played', () => {
  const clock = new PlayClock()
  expect([clock.dueMs, clock.aheadMs(50)]).toEqual([null, 0])
  clock.give(1000, 500)
  expect([clock.dueMs, clock.aheadMs(700), clock.aheadMs(9000)]).toEqual([1500, 800, 0])
  clock.give(1000, 900)
  expect([clock.dueMs, clock.givenMs, clock.gaps]).toEqual([2500, 2000, { count: 0, ms: 0 }])
})

test('a gap is counted, and delays everything after it', () => {
  const clock = new PlayClock()
  clock.give(1000, 0)
  clock.give(1000, 1300)
  expect([clock.dueMs, clock.gaps]).toEqual([2300, { count: 1, ms: 300 }])
  clock.give(1000, 2310)
  expect([clock.dueMs, clock.gaps]).toEqual([3310, { count: 1, ms: 300 }])
})

test('time in which the reader takes nothing makes no stream late', () => {
  const clock = new PlayClock()
  clock.hold(5000)
  clock.give(1000, 0)
  clock.hold(60_000)
  clock.give(1000, 60_010)
  expect([clock.dueMs, clock.gaps.count]).toEqual([61_010, 0])
})

test('a reader that takes no more than its buffer holds gets no further ahead than that', () => {
  const clock = new PlayClock()
  clock.give(5000, 0)
  for (let atMs = 1000; atMs <= 60_000; atMs += 1000) {
    clock.resume(atMs)
    clock.give(1000, atMs)
    expect(clock.aheadMs(atMs)).toBe(5000)
  }
})
