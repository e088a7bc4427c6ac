import { expect, test } from 'bun:test'
import { ManualClock } from '../testing/manual-clock.ts'
import { type Place, Queue } from './queue.ts'

const patient = 20_000
const noSignal = new AbortController().signal

/** Places in a queue with one running and two waiting, and what became of their turns. */
function scene(runningMax = 1, waitingMax = 2) {
  const clock = new ManualClock()
  const queue = new Queue(runningMax, waitingMax, clock)
  const turns: string[] = []
  const enter = (name: string, maxMs = patient, signal = noSignal): Place => {
    const place = queue.reserve()
    place.turn(maxMs, signal).then(
      () => turns.push(name),
      (error: unknown) => turns.push(`${name}: ${error instanceof Error && 'code' in error ? error.code : error}`),
    )
    return place
  }
  const settled = async () => {
    await new Promise((resolve) => setImmediate(resolve))
    return turns
  }
  return { clock, queue, enter, settled }
}

test('turns come in the order of the reservations, one for each place that is given back', async () => {
  const { queue, enter, settled } = scene()
  const a = enter('a')
  const b = enter('b')
  enter('c')
  expect([await settled(), queue.running, queue.depth]).toEqual([['a'], 1, 2])
  a.leave()
  expect([await settled(), queue.running, queue.depth]).toEqual([['a', 'b'], 1, 1])
  b.leave()
  expect([await settled(), queue.running, queue.depth]).toEqual([['a', 'b', 'c'], 1, 0])
})

test('a newcomer does not overtake waiting requests', async () => {
  const { enter, settled } = scene(2, 3)
  const a = enter('a')
  enter('b')
  enter('c')
  a.leave()
  enter('d')
  expect(await settled()).toEqual(['a', 'b', 'c'])
})

test('one request too many is refused with the time to wait, and leaves no trace', () => {
  const { queue, enter } = scene()
  const places = [enter('a'), enter('b'), enter('c')]
  expect(() => queue.reserve()).toThrow(expect.objectContaining({ code: 'engine_overloaded', retryAfterMs: 4000 }))
  expect([queue.running, queue.depth]).toEqual([1, 2])
  for (const place of places) place.leave()
  expect([queue.running, queue.depth]).toEqual([0, 0])
})

test('a turn that does not come in time is refused, and its place is free again', async () => {
  const { clock, queue, enter, settled } = scene()
  const a = enter('a', 100)
  enter('b', 100)
  clock.advance(99)
  expect(await settled()).toEqual(['a'])
  clock.advance(1)
  expect([await settled(), queue.depth]).toEqual([['a', 'b: engine_overloaded'], 0])
  a.leave()
  expect([await settled(), queue.running, clock.waiting]).toEqual([['a', 'b: engine_overloaded'], 0, 0])
})

test('a turn that came no longer has a deadline', async () => {
  const { clock, enter, settled } = scene()
  const a = enter('a')
  enter('b', 100)
  a.leave()
  clock.advance(1000)
  expect([await settled(), clock.waiting]).toEqual([['a', 'b'], 0])
})

test('an abort ends the wait with its reason and lets the next one in', async () => {
  const { clock, queue, enter, settled } = scene()
  const a = enter('a')
  const abort = new AbortController()
  enter('b', patient, abort.signal)
  enter('c')
  abort.abort('b left')
  expect([await settled(), queue.depth]).toEqual([['a', 'b: b left'], 1])
  a.leave()
  expect([await settled(), clock.waiting]).toEqual([['a', 'b: b left', 'c'], 0])
})

test('an abort before the turn is requested counts too', async () => {
  const { queue, enter, settled } = scene()
  enter('a')
  enter('b', patient, AbortSignal.abort('gone'))
  expect([await settled(), queue.depth]).toEqual([['a', 'b: gone'], 0])
})

test('leaving twice, or at any stage, gives back exactly one place', async () => {
  const { queue, enter, settled } = scene(1, 3)
  const a = enter('a')
  const b = enter('b')
  const c = queue.reserve()
  b.leave()
  b.leave()
  c.leave()
  expect([queue.running, queue.depth]).toEqual([1, 0])
  a.leave()
  a.leave()
  expect([queue.running, queue.depth]).toEqual([0, 0])
  enter('d')
  enter('e')
  expect([await settled(), queue.running, queue.depth]).toEqual([['a', 'd'], 1, 1])
})
