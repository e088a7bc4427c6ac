import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { testEngineCommand, type TestEngine } from '../testing/engine-child.ts'
import { order } from '../testing/talk.ts'
import { testClip } from '../testing/test-voice.ts'
import { until } from '../testing/until.ts'
import { EngineClient } from './client.ts'
import { EnginePool } from './pool.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const never = new AbortController().signal
const pools: EnginePool[] = []
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()))
})

/** One engine for each of these. */
function poolOf(...engines: Partial<TestEngine>[]): EnginePool {
  const members = engines.map(
    (engine) =>
      new EngineClient({
        task: engine.task ?? 'text-to-speech',
        command: testEngineCommand(engine),
        env: {},
        readyMs: 10_000,
        stallMs: 10_000,
        loadMs: 10_000,
        log: () => {},
      }),
  )
  const pool = new EnginePool(members)
  pools.push(pool)
  return pool
}
const twoCards = () => poolOf({ device: 'cuda:0' }, { device: 'cuda:1' })

/** A stream that has begun and continues forever, unless it is ended. */
async function endless(pool: EnginePool) {
  const frames = pool.speak(order('!slow=2 !endless'), never)[Symbol.asyncIterator]()
  expect((await frames.next()).done).toBe(false)
  return frames
}
const read = (pool: EnginePool, text: string) => Array.fromAsync(pool.speak(order(text), never))
const streams = async (pool: EnginePool) => (await pool.engines()).map(({ activeStreams }) => activeStreams)
const loaded = async (pool: EnginePool) => (await pool.engines()).map(({ models }) => models.map(({ id }) => id))

test('an order goes to the engine with the least work', async () => {
  const pool = twoCards()
  const [first] = [await endless(pool), await endless(pool), await endless(pool), await endless(pool)]
  expect(await streams(pool)).toEqual([2, 2])
  await first.return?.()
  await until('it has ended', async () => (await streams(pool))[0] === 1)
  await endless(pool)
  expect(await streams(pool)).toEqual([2, 2])
})

test('streams that arrive at once are distributed, even while the engines are being started', async () => {
  const pool = twoCards()
  await Promise.all(Array.from({ length: 6 }, () => endless(pool)))
  expect(await streams(pool)).toEqual([3, 3])
})

test('one stream after the other finds its model in memory, and so does a clone', async () => {
  const pool = twoCards()
  await pool.start('test')
  await read(pool, 'one')
  await read(pool, 'two')
  const state = await pool.clone('test', testClip(100), never)
  expect(state.length).toBe(1)
  expect(await loaded(pool)).toEqual([['test'], []])
})

test('a model is prepared where the next order finds it, and what fails is left to that order', async () => {
  const pool = twoCards()
  const busy = await endless(pool)
  pool.prepare('test-slow')
  await until('it is in memory', async () => (await loaded(pool))[1]?.includes('test-slow') === true)
  expect(await loaded(pool)).toEqual([['test'], ['test-slow']])
  await busy.return?.()
  const broken = poolOf({ start: 'crash' })
  broken.prepare('test')
  await expect(read(broken, 'a')).rejects.toMatchObject({ code: 'engine_unavailable' })
})

test('a stream that is never begun does not count', async () => {
  const pool = twoCards()
  const unread = pool.speak(order('a'), never)[Symbol.asyncIterator]()
  await unread.return?.()
  expect((await unread.next()).done).toBe(true)
  await endless(pool)
  expect(await streams(pool)).toEqual([1, 0])
})

test('a crash costs the streams of one engine; new orders go to the other', async () => {
  const pool = twoCards()
  const [one, other] = [await endless(pool), await endless(pool)]
  const [dying] = await pool.engines()
  process.kill(dying?.pid ?? 0, 'SIGKILL')
  const broken = async () => {
    while (!(await one.next()).done);
  }
  await expect(broken()).rejects.toMatchObject({ code: 'generation_failed' })
  await read(pool, 'goes to the other')
  expect((await other.next()).done).toBe(false)
  const [, survivor] = await pool.engines()
  expect(survivor).toMatchObject({ restarts: 0, models: [{ id: 'test' }] })
  await until('the first is back', async () => (await pool.engines())[0]?.state === 'ready')
})

test('an engine that cannot start is skipped', async () => {
  const pool = poolOf({ start: 'crash' }, { device: 'cuda:1' })
  await pool.start().catch(() => {})
  expect((await read(pool, 'a')).length).toBe(1)
  expect(await loaded(pool)).toEqual([[], ['test']])
})

test('an engine that fell back to the CPU is not used while others have their cards', async () => {
  const pool = poolOf({ device: 'cpu', deviceReason: 'cuda:0: it is full' }, { device: 'cuda:1' })
  await pool.start()
  expect(pool.isOnCpu).toBe(false)
  await endless(pool)
  await endless(pool)
  expect(await streams(pool)).toEqual([0, 2])
})

test('an engine that has not started yet does not count as running on the CPU', async () => {
  const pool = poolOf({})
  expect(pool.isOnCpu).toBe(false)
  await pool.start()
  expect(pool.isOnCpu).toBe(true)
  await endless(pool)
  expect(await streams(pool)).toEqual([1])
})

test('a deleted model is dropped by all engines', async () => {
  const pool = twoCards()
  const open = [await endless(pool), await endless(pool)]
  expect(await loaded(pool)).toEqual([['test'], ['test']])
  pool.dismiss('test')
  for (const stream of open) await stream.return?.()
  await until('both dropped it', async () => (await loaded(pool)).flat().length === 0)
})

test('clips go to the engine with the least work', async () => {
  const task = 'automatic-speech-recognition'
  const pool = poolOf({ task, device: 'cuda:0' }, { task, device: 'cuda:1' })
  const held = Promise.withResolvers<void>()
  async function* clip() {
    await held.promise
    yield new Int16Array(16_000)
  }
  const input = {
    model: 'test-listener',
    share: 'account',
    task: 'transcribe',
    language: null,
    prompt: null,
    temperature: 0,
  } as const
  const parts = [0, 1].map(() => pool.transcribe({ ...input, words: false }, clip(), never)[Symbol.asyncIterator]())
  const first = parts.map((part) => part.next())
  await until('each has one', async () => Bun.deepEquals(await streams(pool), [1, 1]))
  held.resolve()
  expect((await Promise.all(first)).map(({ done }) => done)).toEqual([false, false])
})

test('an empty pool is refused', () => {
  expect(() => poolOf()).toThrow(RangeError)
})
