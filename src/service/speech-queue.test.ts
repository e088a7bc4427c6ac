import { beforeEach, expect, test } from 'bun:test'
import { ManualClock } from '../testing/manual-clock.ts'
import { unknownSpeed } from './speeds.ts'
import { type SpeechPlace, SpeechQueue, type SpeechQueueOptions } from './speech-queue.ts'

const patient = 20_000
const noSignal = new AbortController().signal
const minute = 60_000

let clock: ManualClock
let turns: string[]
beforeEach(() => {
  clock = new ManualClock()
  turns = []
})

/**
 * A machine that makes ten seconds of sound in one second, so that eight streams may play at once. Two and a half of
 * them would play at a quarter of that: three begin at once.
 */
const queueOf = (change: Partial<SpeechQueueOptions> = {}) =>
  new SpeechQueue({
    streamsMax: Infinity,
    waitingMax: 100,
    engines: 1,
    speedOf: () => ({ speed: 10, stepMs: 100 }),
    clock,
    timer: clock,
    ...change,
  })

function enter(
  queue: SpeechQueue,
  accountId: string,
  soundMs = minute,
  maxMs = patient,
  signal = noSignal,
): SpeechPlace {
  const place = queue.reserve({ accountId, model: 'voice', soundMs })
  place.turn(maxMs, signal).then(
    () => turns.push(accountId),
    (error: unknown) => turns.push(`${accountId}: ${error instanceof Error && 'code' in error ? error.code : error}`),
  )
  return place
}
const settled = async () => {
  await new Promise((resolve) => setImmediate(resolve))
  return turns
}
const many = (queue: SpeechQueue, count: number) => Array.from({ length: count }, (_, at) => enter(queue, `${at}`))

test('as many streams begin as could play on a quarter of the machine; the next waits until one ends', async () => {
  const queue = queueOf()
  const places = many(queue, 9)
  expect([(await settled()).length, queue.running, queue.depth]).toEqual([3, 3, 6])
  expect(queue.facts.use).toBeCloseTo(0.33)
  places[0]!.leave()
  places[0]!.leave()
  expect([(await settled()).length, queue.running, queue.depth]).toEqual([4, 3, 5])
})

test('streams with seven seconds in advance let others begin, as many as the machine can serve', async () => {
  const queue = queueOf()
  const places = many(queue, 20)
  let given = 0
  for (let turn = 0; turn < 12; turn++) {
    for (; given < queue.running; given++) places[given]!.gave(7000, clock.monotonicMs())
    clock.advance(100)
  }
  expect([(await settled()).length, queue.depth]).toEqual([8, 12])
  expect(queue.facts.use).toBeWithin(0.6, 0.8)
})

test('streams with sound in advance make room before they end', async () => {
  const queue = queueOf()
  const places = many(queue, 9)
  for (const place of places.slice(0, 3)) place.gave(50_000, 0)
  clock.advance(100)
  expect([(await settled()).length, queue.depth]).toEqual([6, 3])
})

test('a model that proves to be faster admits more', async () => {
  let speed = 4
  const queue = queueOf({ speedOf: () => ({ speed, stepMs: 100 }) })
  many(queue, 9)
  expect((await settled()).length).toBe(1)
  speed = 40
  clock.advance(100)
  expect((await settled()).length).toBe(9)
})

test('one stream may always play, and two of a model that cannot keep up', async () => {
  const queue = queueOf({ speedOf: () => ({ speed: 0.3, stepMs: 500 }) })
  many(queue, 4)
  expect((await settled()).length).toBe(1)
  const other = queueOf({ speedOf: () => ({ speed: 2.6, stepMs: 0 }) })
  const [first] = many(other, 4)
  expect(other.running).toBe(1)
  first!.gave(3500, 0)
  clock.advance(100)
  expect(other.running).toBe(2)
})

test('no account takes what is left for others, and an account without a running stream goes first', async () => {
  const queue = queueOf({ speedOf: () => ({ speed: 20, stepMs: 0 }) })
  const greedy = Array.from({ length: 20 }, () => enter(queue, 'greedy'))
  expect((await settled()).length).toBe(3)
  enter(queue, 'modest')
  enter(queue, 'other')
  expect((await settled()).slice(3)).toEqual(['modest', 'other'])
  greedy[0]!.leave()
  enter(queue, 'third')
  expect([(await settled()).at(-1), queue.running, queue.depth]).toEqual(['third', 5, 17])
})

test('a fixed number of streams is kept, however fast the machine is', async () => {
  const queue = queueOf({ streamsMax: 2, speedOf: () => ({ speed: Infinity, stepMs: 0 }) })
  const places = many(queue, 4)
  expect(await settled()).toEqual(['0', '1'])
  places[1]!.leave()
  expect(await settled()).toEqual(['0', '1', '2'])
})

test('two engines do twice the work', async () => {
  const queue = queueOf({ engines: 2 })
  many(queue, 20)
  expect((await settled()).length).toBe(5)
})

test('one request too many is refused, with the time until all work is done', async () => {
  const queue = queueOf({ waitingMax: 3 })
  many(queue, 6)
  // Six minutes of sound, at ten times real time.
  const refused = expect.objectContaining({ code: 'engine_overloaded', retryAfterMs: 36_000 })
  expect(() => queue.reserve({ accountId: 'late', model: 'voice', soundMs: minute })).toThrow(refused)
  expect([queue.running, queue.depth, queue.facts.shed]).toEqual([3, 3, 1])
  await settled()
})

test('waiting too long is refused, leaving is forgotten, and a turn that came has no deadline', async () => {
  const queue = queueOf({ streamsMax: 1 })
  const leaving = new AbortController()
  const first = enter(queue, 'first')
  enter(queue, 'late', minute, 1000)
  enter(queue, 'gone', minute, patient, leaving.signal)
  enter(queue, 'last')
  leaving.abort('left')
  clock.advance(1000)
  first.leave()
  clock.advance(patient)
  expect(await settled()).toEqual(['first', 'gone: left', 'late: engine_overloaded', 'last'])
  expect([queue.running, queue.depth, queue.facts.shed]).toEqual([1, 0, 1])
})

test('a signal that has already aborted gives the place back', async () => {
  const queue = queueOf({ streamsMax: 1 })
  enter(queue, 'first')
  enter(queue, 'gone', minute, patient, AbortSignal.abort('left'))
  expect([await settled(), queue.depth]).toEqual([['first', 'gone: left'], 0])
})

test('a gap counts when no sound was ready, but not when the client did not ask', () => {
  const queue = queueOf()
  const place = enter(queue, 'a')
  place.gave(1000, 0)
  clock.advance(1500)
  place.gave(1000, 0)
  expect(queue.facts.gaps).toEqual({ count: 1, ms: 500 })
  clock.advance(60_000)
  place.gave(1000, clock.monotonicMs())
  clock.advance(500)
  place.gave(1000, clock.monotonicMs())
  expect(queue.facts.gaps).toEqual({ count: 1, ms: 500 })
})

test('after gaps, less is promised, and more again with time', async () => {
  const queue = queueOf()
  const [first, ...others] = many(queue, 7)
  const gap = () => {
    first!.gave(100, 0)
    clock.advance(1200)
    first!.gave(100, 0)
    clock.advance(5)
  }
  expect(first!.mayPlay(100)).toBe(true)
  for (let i = 0; i < 8; i++) gap()
  // The less the estimates are trusted, the more sound is ready before the first of it is sent.
  expect([first!.mayPlay(1400), first!.mayPlay(15_000)]).toEqual([false, true])
  for (const place of others) place.leave()
  const again = many(queue, 7)
  expect(queue.running).toBe(1)
  for (const place of again) place.leave()
  clock.advance(60_000)
  many(queue, 7)
  expect(queue.running).toBe(3)
  await settled()
})

test('where the machine is slower than a listener, the sound that would be missing later is made first', () => {
  const alone = (speed: number, stepMs = 0) => {
    const place = enter(queueOf({ speedOf: () => ({ speed, stepMs }) }), 'a', 10_000)
    return (readyMs: number) => place.mayPlay(readyMs)
  }
  // Half as fast, and four fifths of that are assumed: of ten seconds, six must be ready.
  expect([0, 100, 5900, 6100].map(alone(0.5))).toEqual([false, false, false, true])
  expect([0, 100].map(alone(2))).toEqual([true, true])
  // Each step takes a second until it gives sound.
  expect([100, 1100, 1300].map(alone(2, 2000))).toEqual([false, false, true])
})

test('a model that has not spoken here yet shows with its first sound how fast it is', () => {
  const alone = (speed = unknownSpeed) => enter(queueOf({ speedOf: () => speed }), 'a', 10_000)
  expect([alone().mayPlay(200), alone().mayPlay(800)]).toEqual([false, true])
  expect([30, 150, 300].map((firstMs) => alone().mayPlay(200, firstMs))).toEqual([true, true, false])
  expect(alone().mayPlay(200, 0.2)).toBe(false)
  // What is known of a model counts more than one sound.
  expect(alone({ speed: 0.5, stepMs: 0 }).mayPlay(200, 30)).toBe(false)
  // A second sound that is long in coming makes it slower.
  const slow = alone()
  expect(slow.mayPlay(200, 300)).toBe(false)
  clock.advance(700)
  expect(slow.mayPlay(400, 300)).toBe(false)
})

test("other listeners' share is not assumed, and sound is held back for ten seconds at most", () => {
  const queue = queueOf({ speedOf: () => ({ speed: 1.3, stepMs: 0 }) })
  const place = enter(queue, 'a', 10_000)
  expect(place.mayPlay(100)).toBe(true)
  place.mayPlay(3000)
  enter(queue, 'b')
  expect([queue.running, place.mayPlay(100)]).toEqual([2, false])
  const slow = enter(queueOf({ speedOf: () => ({ speed: 0.5, stepMs: 0 }) }), 'a')
  expect(slow.mayPlay(100)).toBe(false)
  clock.advance(9900)
  expect(slow.mayPlay(5000)).toBe(false)
  clock.advance(100)
  expect(slow.mayPlay(5000)).toBe(true)
})

test('other work waits while a listener has little sound left, but at most a second', async () => {
  const queue = queueOf()
  let held = 0
  const hold = () => queue.roomForOthers(noSignal).then(() => held++)
  await hold()
  const place = enter(queue, 'a', 10_000)
  void hold()
  clock.advance(100)
  await settled()
  expect(held).toBe(1)
  place.gave(5000, 0)
  clock.advance(100)
  await settled()
  expect(held).toBe(2)
  clock.advance(4500)
  void hold()
  for (let i = 0; i < 10; i++) {
    clock.advance(100)
    await settled()
  }
  expect(held).toBe(3)
  await expect(queue.roomForOthers(AbortSignal.abort('gone'))).rejects.toBe('gone')
})

test('reports whether a listener has little sound left', () => {
  const queue = queueOf()
  expect(queue.isPressed(1000)).toBe(false)
  const place = enter(queue, 'a', 10_000)
  expect(queue.isPressed(1000)).toBe(true)
  place.gave(5000, 0)
  expect([queue.isPressed(1000), queue.isPressed(6000)]).toEqual([false, true])
  clock.advance(4500)
  expect(queue.isPressed(1000)).toBe(true)
  place.gave(5000, 0)
  clock.advance(9000)
  expect(queue.isPressed(1000)).toBe(false)
})
