import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { longGraph, square } from '../../testing/long-graph.ts'
import { onnxModel } from '../../testing/tiny-onnx.ts'
import { until } from '../../testing/until.ts'
import { runCount, runsUnderWay } from '../runs.ts'
import type { Session, Tensor } from '../session.ts'
import { createFfiSession } from './session.ts'

// Real runs, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const size = 400
const bytes = onnxModel(longGraph({ nodes: 300, size }))
const open = () => createFfiSession(bytes, { threads: 2 })
const cpuMs = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
const nobody = new Error('no client waits for it any more')

let session: Session
/** Processor time of one run. */
let wholeMs: number
beforeAll(async () => {
  session = await open()
  await session.run({ x: square(size, 1) })
  const startMs = cpuMs()
  await session.run({ x: square(size, 1) })
  wholeMs = cpuMs() - startMs
})
afterAll(() => session.release())

const rounded = (tensor: Tensor | undefined) => [...new Set((tensor!.data as Float32Array).map(Math.round))]

test('the loop keeps running while a graph runs', async () => {
  let turns = 0
  let isOver = false
  const running = session.run({ x: square(size, 3) }).finally(() => (isOver = true))
  await until('ten turns', () => ++turns === 10 || isOver)
  expect([turns, isOver, runsUnderWay()]).toEqual([10, false, 1])
  expect(rounded((await running).y)).toEqual([3])
  expect(runsUnderWay()).toBe(0)
})

test.each([0.1, 0.3, 0.5, 0.7])(
  'a signal ends a run when %p of it is done, and the session still works',
  async (share) => {
    const abort = new AbortController()
    const runs = runCount()
    const startMs = cpuMs()
    const running = session.run({ x: square(size, 5) }, abort.signal).catch((error: unknown) => error)
    await until('a share is done', () => cpuMs() - startMs > share * wholeMs)
    abort.abort(nobody)
    expect(await running).toBe(nobody)
    // One node is a three hundredth of it; the rest is how long a busy machine takes to react.
    expect((cpuMs() - startMs) / wholeMs).toBeLessThan(share + 0.25)
    expect([runCount(), runsUnderWay()]).toEqual([runs, 0])
    expect(rounded((await session.run({ x: square(size, 7) })).y)).toEqual([7])
  },
)

test('an aborted signal starts nothing, and a signal that aborts after the run ends nothing', async () => {
  const startMs = cpuMs()
  await expect(session.run({ x: square(size, 1) }, AbortSignal.abort(nobody))).rejects.toBe(nobody)
  expect(cpuMs() - startMs).toBeLessThan(wholeMs / 2)
  const abort = new AbortController()
  const { y } = await session.run({ x: square(size, 2) }, abort.signal)
  abort.abort(nobody)
  expect(rounded(y)).toEqual([2])
})

test('sixteen runs at once, each with its own numbers, while memory is collected; some are aborted', async () => {
  const shorter = await createFfiSession(onnxModel(longGraph({ nodes: 60, size })), { threads: 2 })
  const aborts = Array.from({ length: 16 }, () => new AbortController())
  const running = aborts.map(({ signal }, at) => shorter.run({ x: square(size, at) }, signal).catch((error) => error))
  for (let i = 0; i < 20; i++) {
    Bun.gc(true)
    await until('a turn', () => true)
  }
  for (const at of [3, 8, 15]) aborts[at]!.abort(nobody)
  const found = await Promise.all(running)
  const expected = aborts.map((_, at) => ([3, 8, 15].includes(at) ? nobody : [at]))
  expect(found.map((one) => (one === nobody ? nobody : rounded(one.y)))).toEqual(expected)
  await shorter.release()
})

test('the input of a run may be overwritten at once', async () => {
  const x = square(size, 4)
  const running = session.run({ x })
  x.data.fill(9 as never)
  expect(rounded((await running).y)).toEqual([4])
})

test('releasing a session ends its running work, and memory is freed once that has ended', async () => {
  const own = await open()
  const startMs = cpuMs()
  const outcomes: string[] = []
  const running = [1, 2, 3].map((value) =>
    own.run({ x: square(size, value) }).then(
      () => outcomes.push('ran'),
      (error: Error) => outcomes.push(error.message),
    ),
  )
  await until('a share is done', () => cpuMs() - startMs > 0.2 * wholeMs)
  await Promise.all([own.release(), own.release()])
  expect(outcomes).toEqual(Array<string>(3).fill('the session was released'))
  expect(cpuMs() - startMs).toBeLessThan(1.5 * wholeMs)
  await Promise.all(running)
})

test('a loop whose step is aborted keeps its state; one that is released within a step is freed after it', async () => {
  const loop = session.loop({ links: { x: 'y' }, start: { x: square(size, 6) } })
  const abort = new AbortController()
  const startMs = cpuMs()
  const step = loop.step({}, abort.signal).catch((error: unknown) => error)
  await until('a share is done', () => cpuMs() - startMs > 0.3 * wholeMs)
  abort.abort(nobody)
  expect(await step).toBe(nobody)
  expect(rounded((await loop.states()).x)).toEqual([6])
  await loop.step({})
  expect(rounded((await loop.states()).x)).toEqual([6])
  const last = loop.step({}).catch((error: Error) => error.message)
  loop.release()
  expect(await last).toBe('the loop was released')
})

test.each([
  ['ends', 'exit', 7, ''],
  ['fails', 'throw', 1, ''],
  ['has nothing else to do', 'end', 0, 'the first is 1\n'],
])('a process that %s while a graph runs does so in order', async (_, mode, code, said) => {
  const command = [process.execPath, join(import.meta.dir, 'async-runs.fixture.ts'), mode]
  const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'ignore' })
  expect([await child.stdout.text(), await child.exited]).toEqual([said, code])
})
