import { describe, expect, test } from 'bun:test'
import { longTimes } from '../testing/long.ts'
import { Random } from './random.ts'
import { Schedule } from './schedule.ts'
import { soundsOf, type StreamPlan, World } from './schedule.fixture.ts'

/** Printed with every failure. To try another seed, change it by hand. */
const seeds = [1, 2, 3, 4, 5, 6, 7, 8]
const second = 1000

function crowd(random: Random, { streams, accounts, everyMs, speed }: Crowd): StreamPlan[] {
  let atMs = 0
  return Array.from({ length: streams }, (_, at) => {
    atMs += -Math.log(1 - random.next()) * everyMs
    const steps = 1 + Math.floor(12 * random.next())
    return {
      account: `account ${Math.floor(accounts * random.next() ** 2)}`,
      atMs,
      soundsMs: soundsOf(random, steps),
      speed: speed * (0.5 + random.next()),
      ...(at % 9 === 4 && { leavesAfter: Math.ceil(steps / 2) }),
      ...(at % 7 === 3 && { pause: { after: 1, ms: 20 * second * random.next() } }),
    }
  })
}

interface Crowd {
  streams: number
  accounts: number
  everyMs: number
  /** The average share of the machine. */
  speed: number
}

/** Steps of all simulations together. */
let steps = 0

test.each(seeds)('streams admitted by capacity never run dry, with four times as many coming (seed %p)', (seed) => {
  const random = new Random(seed)
  const slots = 1 + (seed % 4)
  // Each lasts 20 s on average: 40 at once are the machine's limit, and 160 arrive in that time.
  const world = new World(crowd(random, { streams: 600, accounts: 12, everyMs: 130, speed: 40 }), {
    slots,
    random,
    mostUse: 0.8,
  })
  world.run()
  steps += world.steps
  expect(world.idle).toBe(0)
  expect(world.streams.every(({ state }) => state === 'over')).toBe(true)
  const dry = world.streams.filter(({ heard }) => heard.gaps.count > 0)
  expect({ seed, dry: dry.map(({ heard }) => heard.gaps) }).toEqual({ seed, dry: [] })
})

test.each(seeds)('without admission every stream makes progress, and accounts get the same work (seed %p)', (seed) => {
  const random = new Random(seed)
  const slots = 1 + (seed % 4)
  // Ten greedy streams of one account and one stream of each other account, all endless.
  const endless = (account: string): StreamPlan => ({ account, atMs: 0, soundsMs: soundsOf(random, 2000), speed: 2 })
  const plans = [...Array.from({ length: 10 }, () => endless('greedy')), ...['a', 'b', 'c'].map(endless)]
  const world = new World(plans, { slots, random, mostUse: null })
  world.run(600 * second)
  steps += world.steps
  expect(world.idle).toBe(0)
  const shares = [...world.servedMs.values()].map((ms) => ms / (600 * second))
  for (const share of shares) expect(Math.abs(share - 1 / 4)).toBeLessThan(0.02)
  // A step takes at most 3.3 s of the machine; ten of its own account and three of others come before it.
  for (const { longestWaitMs, done } of world.streams) {
    expect(done).toBeGreaterThan(5)
    expect(longestWaitMs).toBeLessThan((10 * 4 + slots) * 3.3 * second)
  }
})

test.each(seeds)('a modest account is served at once beside a greedy one (seed %p)', (seed) => {
  const random = new Random(seed)
  const greedy = Array.from({ length: 16 }, (): StreamPlan => {
    return { account: 'greedy', atMs: 0, soundsMs: soundsOf(random, 300), speed: 10 }
  })
  const modest = Array.from({ length: 50 }, (_, at): StreamPlan => {
    return { account: 'modest', atMs: (at + 1) * 5 * second, soundsMs: soundsOf(random, 1), speed: 10 }
  })
  const world = new World([...greedy, ...modest], { slots: 2, random, mostUse: null })
  world.run(300 * second)
  steps += world.steps
  for (const { plan, firstMs } of world.streams.slice(16)) {
    // Its own step takes at most 0.33 s of the machine; a running step of another stream (0.65 s) shares it.
    expect(firstMs! - plan.atMs).toBeLessThan(2 * 330 + 650)
  }
})

test('computes hundreds of thousands of steps of thousands of streams that start, pause and disconnect', () => {
  const random = new Random(99)
  const enough = steps + 200_000 * longTimes
  while (steps < enough) {
    const plans = crowd(random, { streams: 2000, accounts: 20, everyMs: 400, speed: 50 + 60 * random.next() })
    const world = new World(plans, { slots: 1 + Math.floor(4 * random.next()), random, mostUse: null })
    world.run()
    steps += world.steps
    expect([world.idle, world.streams.filter(({ state }) => state !== 'over').length]).toEqual([0, 0])
  }
}, 120_000)

test('refuses zero slots', () => {
  expect(() => new Schedule({ slots: 0 })).toThrow(RangeError)
})

test('an account that used more than its share waits until the others have caught up', () => {
  const schedule = new Schedule({ slots: 1 })
  const claim = (account: string) => ({ account, isFirst: true, dueMs: null })
  const order: number[] = []
  let nowMs = 0
  const serve = (ms: number) => {
    const id = schedule.start(nowMs)!
    order.push(id)
    schedule.end(id, (nowMs += ms))
  }
  schedule.ask(1, claim('greedy'), 0)
  serve(10_000)
  for (const id of [2, 3, 4]) schedule.ask(id, claim('modest'), 0)
  schedule.ask(5, claim('greedy'), 0)
  for (let i = 0; i < 4; i++) serve(100)
  expect(order).toEqual([1, 2, 3, 4, 5])
})

test('first sounds are ordered by the work of their accounts, even while no stream runs dry', () => {
  const schedule = new Schedule({ slots: 1 })
  const order: number[] = []
  const firsts = ['greedy', 'greedy', 'greedy', 'modest']
  for (const [id, account] of firsts.entries()) schedule.ask(id, { account, isFirst: true, dueMs: null }, 0)
  schedule.ask(4, { account: 'greedy', isFirst: false, dueMs: 200 }, 0)
  schedule.ask(5, { account: 'modest', isFirst: false, dueMs: 3000 }, 0)
  for (let nowMs = 0; nowMs < 60; nowMs += 10) {
    const id = schedule.start(nowMs)!
    order.push(id)
    schedule.end(id, nowMs + 10)
  }
  // The listener of 4 is about to run dry. After that, the accounts take turns.
  expect(order.slice(0, 3).toSorted()).toEqual([0, 3, 4])
  expect([order[0], order.at(-1)]).toEqual([4, 5])
})

test('a withdrawn step is never served, and the step that replaces it keeps the shares right', () => {
  const schedule = new Schedule({ slots: 1 })
  schedule.ask(1, { account: 'a', isFirst: true, dueMs: null }, 0)
  schedule.ask(2, { account: 'b', isFirst: false, dueMs: 50 }, 0)
  schedule.withdraw(1)
  schedule.withdraw(1)
  expect([schedule.start(0), schedule.start(0), schedule.waiting, schedule.running]).toEqual([2, null, 0, 1])
  expect(schedule.end(2, 40)).toEqual({ machineMs: 40 })
  expect(schedule.start(40)).toBeNull()
})

test('steps that are computed together share the time of the machine', () => {
  const schedule = new Schedule({ slots: 2 })
  for (const id of [1, 2]) schedule.ask(id, { account: 'a', isFirst: true, dueMs: null }, 0)
  schedule.start(0)
  schedule.start(10)
  // A step alone takes half of the machine, so another could be computed beside it.
  expect(schedule.end(1, 30)).toEqual({ machineMs: 15 })
  expect(schedule.end(2, 40)).toEqual({ machineMs: 15 })
})

test('beside steps that have given sound, only urgent steps are computed', () => {
  const schedule = new Schedule({ slots: 1 })
  const ask = (id: number, isFirst: boolean, dueMs: number | null) =>
    schedule.ask(id, { account: `${id}`, isFirst, dueMs }, 0)
  ask(1, true, null)
  expect(schedule.start(0)).toBe(1)
  ask(2, false, 60_000)
  ask(3, true, null)
  expect(schedule.start(0)).toBeNull()
  schedule.bring(1, 0)
  expect([schedule.start(0), schedule.start(0)]).toEqual([3, null])
  schedule.bring(3, 0)
  // A listener who has a minute of sound left can wait until the others are finished.
  expect(schedule.start(0)).toBeNull()
  expect(schedule.start(59_950)).toBe(2)
})

describe('the last step of a stream', () => {
  const others = { account: 'others', isFirst: false }
  const last = { account: 'last', isFirst: false, dueMs: 60_000, isLast: true }

  test('goes before steps that have time', () => {
    const schedule = new Schedule({ slots: 1 })
    schedule.ask(1, { ...others, dueMs: 30_000 }, 0)
    schedule.ask(2, last, 0)
    expect(schedule.start(0)).toBe(2)
  })

  test('goes behind a first sound, and behind a listener who is about to run dry', () => {
    const schedule = new Schedule({ slots: 1 })
    schedule.ask(1, last, 0)
    schedule.ask(2, { account: 'first', isFirst: true, dueMs: null }, 0)
    schedule.ask(3, { ...others, dueMs: 50 }, 0)
    const order = [0, 10, 20].map((nowMs) => {
      const id = schedule.start(nowMs)!
      schedule.end(id, nowMs + 10)
      return id
    })
    expect(order).toEqual([3, 2, 1])
  })

  test('goes before no others where one of them would run dry in its turn', () => {
    const schedule = new Schedule({ slots: 1 })
    // A step is believed to take 100 ms: eight of them and the last one take 900, and 2 s of sound are kept.
    for (let id = 1; id <= 8; id++) schedule.ask(id, { ...others, dueMs: 2850 }, 0)
    schedule.ask(9, last, 0)
    expect(schedule.start(0)).toBe(1)
  })

  test('is computed beside steps that have brought sound, and leaves a slot to first sounds', () => {
    const schedule = new Schedule({ slots: 2 })
    const first = { account: 'first', isFirst: true, dueMs: null }
    for (const id of [1, 2]) schedule.ask(id, first, 0)
    for (const id of [schedule.start(0)!, schedule.start(0)!]) schedule.bring(id, 0)
    for (const id of [3, 4]) schedule.ask(id, last, 0)
    expect([schedule.start(0), schedule.start(0)]).toEqual([3, null])
    schedule.ask(5, first, 0)
    expect(schedule.start(0)).toBe(5)
  })
})

test.each(seeds)('streams end sooner where last steps pass, and listeners are no worse off (seed %p)', (seed) => {
  const worldOf = (knowsLast: boolean) => {
    const random = new Random(seed)
    const plans = crowd(random, { streams: 600, accounts: 12, everyMs: 500, speed: 40 })
    const world = new World(plans, { slots: 2, random: new Random(seed), mostUse: 0.8, knowsLast })
    world.run()
    const ends = world.streams.map(({ plan, endMs }) => endMs! - plan.atMs)
    return { meanMs: ends.reduce((sum, ms) => sum + ms, 0) / ends.length, streams: world.streams }
  }
  const [passing, inTurn] = [worldOf(true), worldOf(false)]
  expect(passing.meanMs).toBeLessThan(inTurn.meanMs)
  expect(passing.streams.every(({ heard }) => heard.gaps.count === 0)).toBe(true)
})
