import { beforeEach, expect, test } from 'bun:test'
import { ManualClock } from '../../testing/manual-clock.ts'
import { Seeded } from '../../testing/seeded.ts'
import { Budget } from './budget.ts'
import { type Lease, NotLoaded, Residency } from './residency.ts'

const keepAliveMs = 1000
let clock: ManualClock
let events: string[]
let failing: Set<string>
let loadings: [id: string, isOver: boolean][]
let tries: [id: string, reason: string | null][]
beforeEach(() => {
  clock = new ManualClock()
  events = []
  failing = new Set()
  loadings = []
  tries = []
})

class Model {
  constructor(readonly id: string) {}
  async unload(): Promise<void> {
    events.push(`unload ${this.id}`)
    if (failing.has(`unload ${this.id}`)) throw new Error('stuck')
  }
}
const roomWaitMs = 500
/** Models with a name of one letter take 1000 bytes. */
const residency = (keepMs = keepAliveMs, bytes = 1e6) =>
  new Residency<Model>({
    load: async (id) => {
      events.push(`load ${id}`)
      if (failing.has(id)) throw new Error(`/data/models/${id}/graph.onnx is broken`)
      return new Model(id)
    },
    memoryBytes: (id) => id.length * 1000,
    keepAliveMs: keepMs,
    budget: new Budget({ bytes, waitMs: roomWaitMs, timers: clock }),
    device: 'cpu',
    timers: clock,
    filesDir: (id) => `/data/models/${id}`,
    onLoading: (id, isOver) => loadings.push([id, isOver]),
    onTried: (id, reason) => tries.push([id, reason]),
    onEmpty: () => events.push('empty'),
    onError: (error) => events.push(String(error)),
  })
/** Lets started work continue: everything here waits only for promises. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

test('loads once for all who ask at the same time', async () => {
  const models = residency()
  const leases = await Promise.all([models.use('a'), models.use('a'), models.use('a')])
  expect(new Set(leases.map((lease) => lease.model)).size).toBe(1)
  expect(events).toEqual(['load a'])
  expect(models.status()).toEqual([{ id: 'a', device: 'cpu', memoryBytes: 1000, activeStreams: 3, idleMsLeft: null }])
})

test('unloads a model that was unused for the whole time; releasing twice counts once', async () => {
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

test('a use within the time restarts it', async () => {
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

test('reports empty only when the last of several is gone', async () => {
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

test('used again while it is being unloaded: loads after that, and does not report empty', async () => {
  const models = residency()
  ;(await models.use('a')).release()
  clock.advance(keepAliveMs)
  const lease = await models.use('a')
  await settle()
  expect(events).toEqual(['load a', 'unload a', 'load a'])
  expect(lease.model).toBeInstanceOf(Model)
})

test('0 keeps it forever', async () => {
  const models = residency(0)
  ;(await models.use('a')).release()
  clock.advance(1e9)
  await settle()
  expect(events).toEqual(['load a'])
  expect(models.status()[0]?.idleMsLeft).toBeNull()
})

test('reports a failed load to all who waited, and the next use tries again', async () => {
  const models = residency()
  failing.add('a')
  const both = await Promise.allSettled([models.use('a'), models.use('a')])
  expect(both.map((result) => (result.status === 'rejected' ? String(result.reason) : ''))).toEqual([
    'NotLoaded: a could not be loaded: graph.onnx is broken',
    'NotLoaded: a could not be loaded: graph.onnx is broken',
  ])
  expect(models.status()).toEqual([])
  failing.clear()
  expect((await models.use('a')).model.id).toBe('a')
  expect(events).toEqual(['load a', 'load a'])
})

test('unloads all models at the end, in use or not, and one that fails does not delay the others', async () => {
  const models = residency()
  await models.use('a')
  ;(await models.use('b')).release()
  failing.add('unload a')
  await models.unloadAll()
  expect(events.slice(2).sort()).toEqual(['Error: stuck', 'unload a', 'unload b'])
})

test('reports each load when it begins and when it ends, however it ends', async () => {
  const models = residency()
  failing.add('b')
  await models.use('a')
  await models.use('a')
  await models.use('b').catch(() => {})
  expect(loadings).toEqual([
    ['a', false],
    ['a', true],
    ['b', false],
    ['b', true],
  ])
})

test('reports after each load whether it succeeded, without the location of the files', async () => {
  const models = residency(0, 5000)
  failing.add('b')
  await models.use('a')
  await models.use('a')
  await models.use('b').catch(() => {})
  await models.use('too large').catch(() => {})
  failing.clear()
  await models.use('b')
  expect(tries).toEqual([
    ['a', null],
    ['b', 'graph.onnx is broken'],
    ['too large', 'it needs 1 MB, and all models together may take 1 MB (MYNA_MODEL_MEMORY)'],
    ['b', null],
  ])
})

const failureOf = (use: Promise<unknown>): Promise<unknown> =>
  use.then(
    () => null,
    (error: unknown) => (error instanceof NotLoaded ? error.failure : error),
  )

test('a model that needs the room of others has those unused for longest unloaded before it is loaded', async () => {
  const models = residency(0, 5000)
  for (const id of ['a', 'b', 'c']) {
    const lease = await models.use(id)
    lease.release()
    clock.advance(1)
  }
  ;(await models.use('a')).release()
  await models.use('four')
  expect(events).toEqual(['load a', 'load b', 'load c', 'unload b', 'unload c', 'load four'])
  expect(models.status().map(({ id }) => id)).toEqual(['a', 'four'])
})

test('waits until a model in use becomes idle, and is not loaded if none does', async () => {
  const models = residency(0, 5000)
  const busy = await models.use('busy')
  const waiting = models.use('four')
  await settle()
  clock.advance(roomWaitMs - 1)
  busy.release()
  await waiting
  expect(events).toEqual(['load busy', 'unload busy', 'load four'])
  const late = failureOf(models.use('busy'))
  await settle()
  clock.advance(roomWaitMs)
  expect(await late).toEqual({ model: 'busy', reason: 'no_room' })
  // That is temporary, so it is not reported as a problem.
  expect(tries).toEqual([
    ['busy', null],
    ['four', null],
  ])
  expect(loadings.filter(([, isOver]) => !isOver).map(([id]) => id)).toEqual(['busy', 'four'])
})

test('a model that fails to load, or is too large, keeps no room from others', async () => {
  const models = residency(0, 5000)
  failing.add('fail')
  expect(await failureOf(models.use('fail'))).toEqual({ model: 'fail', reason: 'unusable' })
  expect(await failureOf(models.use('too large'))).toEqual({ model: 'too large', reason: 'unusable' })
  expect((await models.use('large')).model.id).toBe('large')
})

test('random lives: never more in memory than the budget, one copy of each model, and every use ends', async () => {
  for (let seed = 1; seed <= 100; seed++) {
    const { overfull, copies, outcomes, asked } = await live(new Seeded(seed))
    expect([seed, overfull, copies, outcomes.length]).toEqual([seed, [], [], asked])
    expect(outcomes).toContain('used')
  }
})

/** Models of 1 to 5 letters in a budget of 8, used, released and left alone at random. */
async function live(random: Seeded) {
  const resident = new Set<string>()
  const overfull: string[] = []
  const copies: string[] = []
  const outcomes: string[] = []
  const sizeOf = (id: string) => id.length * 1000
  const models = new Residency<{ unload(): Promise<void> }>({
    load: async (id) => {
      if (resident.has(id)) copies.push(id)
      resident.add(id)
      if ([...resident].reduce((sum, each) => sum + sizeOf(each), 0) > 8000) overfull.push([...resident].join(' '))
      await settle()
      const isBroken = random.chance(0.1)
      if (isBroken) resident.delete(id)
      if (isBroken) throw new Error('broken')
      return {
        unload: async () => {
          await settle()
          resident.delete(id)
        },
      }
    },
    memoryBytes: sizeOf,
    keepAliveMs: random.chance(0.5) ? 0 : keepAliveMs,
    budget: new Budget({ bytes: 8000, waitMs: roomWaitMs, timers: clock }),
    device: 'cpu',
    timers: clock,
    filesDir: () => null,
    onLoading: () => {},
    onTried: () => {},
    onEmpty: () => {},
    onError: () => {},
  })
  const leases: Lease<unknown>[] = []
  const use = async () => {
    try {
      leases.push(await models.use(random.pick(['a', 'bb', 'ccc', 'dddd', 'eeeee'])))
      outcomes.push('used')
    } catch (error) {
      outcomes.push(error instanceof NotLoaded ? error.failure.reason : String(error))
    }
  }
  const uses: Promise<void>[] = []
  for (let step = 0; step < 100; step++) {
    if (random.chance(0.4)) uses.push(use())
    else if (random.chance(0.7)) leases.splice(random.whole(0, leases.length), 1)[0]?.release()
    else clock.advance(random.whole(1, roomWaitMs))
    if (random.chance(0.7)) await settle()
  }
  for (let turn = 0; outcomes.length < uses.length && turn < 1000; turn++) {
    clock.advance(roomWaitMs / 4)
    await settle()
  }
  return { overfull, copies, outcomes, asked: uses.length }
}

test('a model whose files are gone is unloaded after its last use, and loaded anew by the next', async () => {
  const models = residency(0)
  const [first, second] = await Promise.all([models.use('a'), models.use('a')])
  models.dismiss('a')
  first.release()
  await settle()
  expect(events).toEqual(['load a'])
  second.release()
  await settle()
  expect([events, models.isEmpty]).toEqual([['load a', 'unload a', 'empty'], true])
  const { model } = await models.use('a')
  expect([model === first.model, events.at(-1)]).toEqual([false, 'load a'])
})

test('dismissing an unused model unloads it at once, whatever its time; a missing one is harmless', async () => {
  const models = residency()
  ;(await models.use('a')).release()
  models.dismiss('none')
  models.dismiss('a')
  models.dismiss('a')
  await settle()
  clock.advance(10 * keepAliveMs)
  await settle()
  expect(events).toEqual(['load a', 'unload a', 'empty'])
})

test('a load that fails after its model was dismissed says nothing of the model', async () => {
  const models = residency()
  failing.add('a')
  const use = models.use('a')
  models.dismiss('a')
  await expect(use).rejects.toThrow('a could not be loaded')
  expect(tries).toEqual([])
})

test('a model dismissed while it is being loaded serves the waiting uses, and is then unloaded', async () => {
  const models = residency(0)
  const using = models.use('a')
  models.dismiss('a')
  const lease = await using
  expect(models.status()[0]?.activeStreams).toBe(1)
  lease.release()
  await settle()
  expect(events).toEqual(['load a', 'unload a', 'empty'])
})
