import { beforeEach, expect, test } from 'bun:test'
import { ManualClock } from '../testing/manual-clock.ts'
import { Residency } from './residency.ts'

const keepAliveMs = 1000
let clock: ManualClock
let events: string[]
let failing: Set<string>
beforeEach(() => {
  clock = new ManualClock()
  events = []
  failing = new Set()
})

class Model {
  constructor(readonly id: string) {}
  async unload(): Promise<void> {
    events.push(`unload ${this.id}`)
    if (failing.has(`unload ${this.id}`)) throw new Error('stuck')
  }
}
const residency = (keepMs = keepAliveMs) =>
  new Residency<Model>({
    load: async (id) => {
      events.push(`load ${id}`)
      if (failing.has(id)) throw new Error(`${id} is broken`)
      return new Model(id)
    },
    memoryBytes: (id) => id.length * 1000,
    keepAliveMs: keepMs,
    timers: clock,
    onEmpty: () => events.push('empty'),
    onError: (error) => events.push(String(error)),
  })
/** Lets what was begun run on: nothing in here waits for anything but promises. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

test('loaded once for all who ask at the same time', async () => {
  const models = residency()
  const leases = await Promise.all([models.use('a'), models.use('a'), models.use('a')])
  expect(new Set(leases.map((lease) => lease.model)).size).toBe(1)
  expect(events).toEqual(['load a'])
  expect(models.status()).toEqual([{ id: 'a', memoryBytes: 1000, activeStreams: 3, idleMsLeft: null }])
})

test('unloaded once nobody has used it for the whole time; releasing twice counts once', async () => {
  const models = residency()
  const [first, second] = await Promise.all([models.use('a'), models.use('a')])
  first.release()
  first.release()
  clock.advance(keepAliveMs * 10)
  expect(models.status()[0]?.activeStreams).toBe(1)
  second.release()
  clock.advance(keepAliveMs - 1)
  expect(models.status()[0]?.idleMsLeft).toBe(1)
  clock.advance(1)
  await settle()
  expect(events).toEqual(['load a', 'unload a', 'empty'])
  expect(models.status()).toEqual([])
})

test('a use within the time starts it afresh', async () => {
  const models = residency()
  ;(await models.use('a')).release()
  clock.advance(keepAliveMs - 1)
  const again = await models.use('a')
  clock.advance(keepAliveMs)
  again.release()
  clock.advance(keepAliveMs - 1)
  await settle()
  expect(events).toEqual(['load a'])
})

test('empty only when the last of several is gone', async () => {
  const models = residency()
  const long = await models.use('long')
  ;(await models.use('b')).release()
  clock.advance(keepAliveMs)
  await settle()
  expect(events).toEqual(['load long', 'load b', 'unload b'])
  long.release()
  clock.advance(keepAliveMs)
  await settle()
  expect(events.slice(3)).toEqual(['unload long', 'empty'])
})

test('used again while it is being unloaded: loaded after that, and not empty', async () => {
  const models = residency()
  ;(await models.use('a')).release()
  clock.advance(keepAliveMs)
  const lease = await models.use('a')
  await settle()
  expect(events).toEqual(['load a', 'unload a', 'load a'])
  expect(lease.model).toBeInstanceOf(Model)
})

test('0 keeps it for ever', async () => {
  const models = residency(0)
  ;(await models.use('a')).release()
  clock.advance(1e9)
  await settle()
  expect(events).toEqual(['load a'])
  expect(models.status()[0]?.idleMsLeft).toBeNull()
})

test('a failed load is told to all who waited, and the next use tries again', async () => {
  const models = residency()
  failing.add('a')
  const both = await Promise.allSettled([models.use('a'), models.use('a')])
  expect(both.map((result) => (result.status === 'rejected' ? String(result.reason) : ''))).toEqual([
    'Error: a is broken',
    'Error: a is broken',
  ])
  expect(models.status()).toEqual([])
  failing.clear()
  expect((await models.use('a')).model.id).toBe('a')
  expect(events).toEqual(['load a', 'load a'])
})

test('all are unloaded for the end, in use or not, and one that cannot be does not hold up the others', async () => {
  const models = residency()
  await models.use('a')
  ;(await models.use('b')).release()
  failing.add('unload a')
  await models.unloadAll()
  expect(events.slice(2).sort()).toEqual(['Error: stuck', 'unload a', 'unload b'])
})
