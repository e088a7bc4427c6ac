/** Sessions and loops give back the memory that they take. A leak would be ten times as large as the bounds here. */
import { expect, test } from 'bun:test'
import { onnxModel, type GraphSpec } from '../testing/tiny-onnx.ts'
import { until } from '../testing/until.ts'
import { createFfiSession } from './ffi/session.ts'
import type { Loop, Session, Tensor } from './session.ts'

const megabyte = 1_000_000
function residentNow(): number {
  Bun.gc(true)
  return process.memoryUsage.rss()
}
const filled = (count: number, value: number): Tensor => ({
  type: 'float32',
  dims: [count],
  data: new Float32Array(count).fill(value),
})
const open = (graph: GraphSpec): Promise<Session> => createFfiSession(onnxModel(graph), { threads: 1 })

const count = 25_000
const sum: GraphSpec = {
  name: 'sum',
  nodes: [{ op: 'Add', inputs: ['a', 'b'], outputs: ['c'] }],
  inputs: ['a', 'b'].map((name) => ({ name, type: 'float32', dims: ['n'] })),
  outputs: [{ name: 'c', type: 'float32', dims: ['n'] }],
}

test('10,000 runs of 300 kB each with the collector at work: right results, flat memory', async () => {
  const session = await open(sum)
  let wrong = 0
  let before = 0
  for (let run = 0; run < 10_000; run++) {
    if (run % 1000 === 100) Bun.gc(true)
    if (run === 1000) before = residentNow()
    const { c } = await session.run({ a: filled(count, run), b: filled(count, 1) })
    if (c!.data[0] !== run + 1 || c!.data[count - 1] !== run + 1) wrong++
  }
  expect(wrong).toBe(0)
  expect(residentNow() - before).toBeLessThan(100 * megabyte)
  await session.release()
}, 30_000)

test('failed runs keep no memory', async () => {
  const session = await open(sum)
  const before = residentNow()
  for (let run = 0; run < 3000; run++) {
    await session.run({ a: filled(count, 0), b: filled(count - 1, 0) }).catch(() => {})
  }
  expect(residentNow() - before).toBeLessThan(100 * megabyte)
  await session.release()
}, 30_000)

/** 40 MB for each of four values, which are all needed at the end. */
const inner = ['first', 'second', 'third', 'fourth']
const steep: GraphSpec = {
  name: 'steep',
  nodes: [
    ...inner.map((name, at) => ({ op: 'Softmax', inputs: [inner[at - 1] ?? 'x'], outputs: [name] })),
    { op: 'Sum', inputs: inner, outputs: ['sum'] },
    { op: 'Softmax', inputs: ['sum'], outputs: ['y'] },
  ],
  inputs: [{ name: 'x', type: 'float32', dims: ['rows', 'columns'] }],
  outputs: [{ name: 'y', type: 'float32', dims: ['rows', 'columns'] }],
}

test('a run takes no more memory than the one before it that had the same lengths', async () => {
  const session = await open(steep)
  const x: Tensor = { type: 'float32', dims: [1000, 10_000], data: new Float32Array(10_000_000) }
  await session.run({ x })
  const first = residentNow()
  for (let run = 0; run < 3; run++) await session.run({ x })
  expect(residentNow() - first).toBeLessThan(80 * megabyte)
  await session.release()
}, 30_000)

const accumulate: GraphSpec = {
  name: 'accumulate',
  nodes: [
    { op: 'Add', inputs: ['state', 'x'], outputs: ['next'] },
    { op: 'Add', inputs: ['x', 'fixed'], outputs: ['y'] },
  ],
  inputs: ['state', 'x', 'fixed'].map((name) => ({ name, type: 'float32', dims: ['n'] })),
  outputs: ['next', 'y'].map((name) => ({ name, type: 'float32', dims: ['n'] })),
}
const begin = (session: Session, size: number): Loop =>
  session.loop({ links: { state: 'next' }, start: { state: filled(size, 0) }, constants: { fixed: filled(size, 1) } })

test('a thousand steps and a thousand loops of 1 MB: all results are right, and memory stays flat', async () => {
  const session = await open(accumulate)
  const size = 250_000
  const x = filled(size, 1)
  const long = begin(session, size)
  await long.step({ x })
  const before = residentNow()
  for (let step = 1; step < 1000; step++) {
    const { y } = await long.step({ x })
    expect(y!.data[size - 1]).toBe(2)
    if (step % 100 === 0) Bun.gc(true)
  }
  expect((await long.states()).state?.data[size - 1]).toBe(1000)
  for (let i = 0; i < 1000; i++) {
    const loop = begin(session, size)
    await loop.step({ x })
    loop.release()
  }
  expect(residentNow() - before).toBeLessThan(100 * megabyte)
  await session.release()
}, 30_000)

test('memory that many loops took at once returns to the system at the next step of the rest', async () => {
  const session = await open(sum)
  const start = { a: filled(2_500_000, 0) }
  const x = filled(1, 1)
  const loops = Array.from({ length: 20 }, () => session.loop({ links: { a: 'c' }, start }))
  const before = residentNow()
  for (const loop of loops) await loop.step({ b: x })
  const full = residentNow()
  expect(full - before).toBeGreaterThan(150 * megabyte)
  for (const loop of loops.slice(1)) loop.release()
  await loops[0]!.step({ b: x })
  expect(residentNow() - before).toBeLessThan((full - before) / 2)
  await session.release()
}, 30_000)

/** 20 MB of weights. */
const heavy = onnxModel({
  name: 'heavy',
  nodes: [{ op: 'Add', inputs: ['x', 'weights'], outputs: ['y'] }],
  inputs: [{ name: 'x', type: 'float32', dims: [1] }],
  outputs: [{ name: 'y', type: 'float32', dims: [5_000_000] }],
  constants: [{ name: 'weights', type: 'float32', dims: [5_000_000], data: new Float32Array(5_000_000).fill(3) }],
})
const load = () => createFfiSession(heavy, { threads: 1 })

test('sessions that are released give back their weights', async () => {
  await (await load()).release()
  const before = residentNow()
  for (let i = 0; i < 30; i++) await (await load()).release()
  expect(residentNow() - before).toBeLessThan(100 * megabyte)
}, 30_000)

test('sessions that are never released give back their weights too', async () => {
  await (await load()).release()
  const before = residentNow()
  const forget = async () => {
    for (let i = 0; i < 20; i++) await load()
  }
  await forget()
  await until('they were collected', () => residentNow() - before < 100 * megabyte)
}, 30_000)
