/** Results that stay where they were computed, and loops that take them as constants. */
import { describe, expect, test } from 'bun:test'
import { failureOf } from '../../testing/failure.ts'
import { type GraphSpec, onnxModel } from '../../testing/tiny-onnx.ts'
import type { Session, SessionOptions, Tensor } from '../session.ts'
import { createFfiSession } from './session.ts'

const row = (...data: number[]): Tensor => ({ type: 'float32', dims: [data.length], data: Float32Array.from(data) })
const port = (name: string) => ({ name, type: 'float32', dims: ['n'] }) as const
/** Twice what it is given, and the sum of that. */
const doubling: GraphSpec = {
  name: 'doubling',
  nodes: [
    { op: 'Add', inputs: ['x', 'x'], outputs: ['twice'] },
    { op: 'ReduceSum', inputs: ['twice'], outputs: ['sum'], attributes: { keepdims: 0n } },
  ],
  inputs: [port('x')],
  outputs: [port('twice'), { name: 'sum', type: 'float32', dims: [] }],
}
/** A total that grows by `scale` times `x` in each step. */
const totalling: GraphSpec = {
  name: 'totalling',
  nodes: [
    { op: 'Mul', inputs: ['x', 'scale'], outputs: ['scaled'] },
    { op: 'Add', inputs: ['total', 'scaled'], outputs: ['next'] },
    { op: 'ReduceSum', inputs: ['next'], outputs: ['sum'], attributes: { keepdims: 0n } },
  ],
  inputs: [port('total'), port('x'), port('scale')],
  outputs: [port('next'), { name: 'sum', type: 'float32', dims: [] }],
}

const kinds: [string, (graph: GraphSpec) => Promise<Session>][] = [
  ['on other threads', (graph) => createFfiSession(onnxModel(graph), { threads: 2 })],
  ['inline', (graph) => createFfiSession(onnxModel(graph), { threads: 1, inline: true } satisfies SessionOptions)],
]

describe.each(kinds)('%s', (_, open) => {
  test('only what is named is held, and its numbers are the same', async () => {
    const session = await open(doubling)
    const { read, held } = await session.runHolding({ x: row(1, 2, 3) }, (name) => name === 'twice')
    expect(read).toEqual({ sum: { type: 'float32', dims: [], data: Float32Array.of(12) } })
    expect(Object.keys(held)).toEqual(['twice'])
    const { type, dims, data } = held.twice!
    expect({ type, dims, data }).toEqual(row(2, 4, 6))
    held.twice!.release()
    held.twice!.release()
    await session.release()
  })

  test('what was released is an error, not memory of something else', async () => {
    const [first, next] = [await open(doubling), await open(totalling)]
    const { held } = await first.runHolding({ x: row(1, 2) }, (name) => name === 'twice')
    const scale = held.twice!
    scale.release()
    expect(() => scale.data).toThrow('the held twice was released')
    const options = { links: { total: 'next' }, start: { total: row(0, 0) }, constants: { scale } }
    expect(() => next.loop(options)).toThrow('the held twice was released')
    await Promise.all([first.release(), next.release()])
  })

  test('a loop keeps a held constant until it ends, although others give it back', async () => {
    const [first, next] = [await open(doubling), await open(totalling)]
    const { held } = await first.runHolding({ x: row(1, 2) }, (name) => name === 'twice')
    const loops = [1, 2].map(() =>
      next.loop({ links: { total: 'next' }, start: { total: row(0, 0) }, constants: { scale: held.twice! } }),
    )
    held.twice!.release()
    await first.release()
    loops[0]!.release()
    const steps = [await loops[1]!.step({ x: row(1, 1) }), await loops[1]!.step({ x: row(10, 0) })]
    expect(steps.map(({ sum }) => sum!.data[0])).toEqual([6, 26])
    await next.release()
  })
})

test('what is held is given back with its last user', async () => {
  const [first, next] = [await kinds[0]![1](doubling), await kinds[0]![1](totalling)]
  const numbers: Tensor = { type: 'float32', dims: [5e6], data: new Float32Array(5e6).fill(1) }
  const rss: number[] = []
  for (let round = 0; round < 12; round++) {
    const { held } = await first.runHolding({ x: numbers }, (name) => name === 'twice')
    const loop = next.loop({ links: { total: 'next' }, start: { total: row(0) }, constants: { scale: held.twice! } })
    held.twice!.release()
    loop.release()
    if (round > 2) rss.push(process.memoryUsage.rss())
  }
  // Each one is 20 MB: nine that were kept would be 180.
  expect(rss.at(-1)! - rss[0]!).toBeLessThan(90e6)
  await Promise.all([first.release(), next.release()])
})

test('a failed run holds nothing', async () => {
  const session = await kinds[0]![1](doubling)
  const wrong: Tensor = { type: 'int64', dims: [1], data: BigInt64Array.of(1n) }
  const error = await failureOf(session.runHolding({ x: wrong }, () => true))
  expect(error.message).toMatch(/unexpected input data type/i)
  await session.release()
})
