import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { failureOf } from '../testing/failure.ts'
import { temporaryFolder } from '../testing/folder.ts'
import { onnxModel, type GraphSpec, type TensorSpec } from '../testing/tiny-onnx.ts'
import { createFfiSession } from './ffi/session.ts'
import { runCount } from './runs.ts'
import { verifyLoops } from './selftest.ts'
import type { CreateSession, Loop, Tensor } from './session.ts'

const floats = (dims: readonly number[], ...values: number[]): Tensor => ({
  type: 'float32',
  dims,
  data: Float32Array.from(values),
})
const matMul: GraphSpec = {
  name: 'product',
  nodes: [{ op: 'MatMul', inputs: ['a', 'b'], outputs: ['c'] }],
  inputs: [
    { name: 'a', type: 'float32', dims: ['rows', 2] },
    { name: 'b', type: 'float32', dims: [2, 2] },
  ],
  outputs: [{ name: 'c', type: 'float32', dims: ['rows', 2] }],
}
const cache = (name: string): TensorSpec => ({ name, type: 'float32', dims: ['', 2] })
/** A cache that grows by `x` times `scale`, a counter, and the amount in the cache. */
const growing: GraphSpec = {
  name: 'growing',
  nodes: [
    { op: 'Mul', inputs: ['x', 'scale'], outputs: ['scaled'] },
    { op: 'Concat', inputs: ['past', 'scaled'], outputs: ['present'], attributes: { axis: 0n } },
    { op: 'Add', inputs: ['count', 'one'], outputs: ['next_count'] },
    { op: 'ReduceSum', inputs: ['present'], outputs: ['sum'], attributes: { keepdims: 0n } },
  ],
  inputs: [
    cache('past'),
    { name: 'x', type: 'float32', dims: [1, 2] },
    { name: 'scale', type: 'float32', dims: [1] },
    { name: 'count', type: 'int64', dims: [] },
  ],
  outputs: [
    cache('present'),
    { name: 'next_count', type: 'int64', dims: [] },
    { name: 'sum', type: 'float32', dims: [] },
  ],
  constants: [{ name: 'one', type: 'int64', dims: [], data: BigInt64Array.of(1n) }],
}
const start = { past: floats([0, 2]), count: { type: 'int64', dims: [], data: BigInt64Array.of(0n) } } as const
const loopOptions = { links: { past: 'present', count: 'next_count' }, start, constants: { scale: floats([1], 2) } }

describe('the C API', () => {
  const open = (graph: GraphSpec) => createFfiSession(onnxModel(graph), { threads: 1 })

  test('a product of matrices whose number of rows is known only at run time', async () => {
    const session = await open(matMul)
    expect([session.inputs, session.outputs]).toEqual([
      [
        { name: 'a', type: 'float32', dims: ['rows', 2] },
        { name: 'b', type: 'float32', dims: [2, 2] },
      ],
      [{ name: 'c', type: 'float32', dims: ['rows', 2] }],
    ])
    const b = floats([2, 2], 1, 2, 3, 4)
    for (const rows of [1, 3]) {
      const a = floats([rows, 2], ...Array.from({ length: rows }, () => [5, 6]).flat())
      const { c } = await session.run({ b, a })
      expect(c).toEqual(floats([rows, 2], ...Array.from({ length: rows }, () => [23, 34]).flat()))
    }
    await session.release()
  })

  test('integers stay exact: Add of int64, from a file', async () => {
    const path = join(temporaryFolder(), 'add.onnx')
    const spec = (name: string) => ({ name, type: 'int64', dims: [2] }) as const
    const add: GraphSpec = {
      name: 'sum',
      nodes: [{ op: 'Add', inputs: ['x', 'one'], outputs: ['y'] }],
      inputs: [spec('x')],
      outputs: [spec('y')],
      constants: [{ ...spec('one'), data: BigInt64Array.from([1n, -1n]) }],
    }
    await Bun.write(path, onnxModel(add))
    const session = await createFfiSession(path, { threads: 1 })
    const { y } = await session.run({ x: { type: 'int64', dims: [2], data: BigInt64Array.from([2n ** 53n, 0n]) } })
    expect(y).toEqual({ type: 'int64', dims: [2], data: BigInt64Array.from([2n ** 53n + 1n, -1n]) })
    await session.release()
  })

  test('attributes: float, whole, list and a branch within a graph', async () => {
    const branch = (name: string, alpha: number): GraphSpec => ({
      name,
      nodes: [{ op: 'LeakyRelu', inputs: ['x'], outputs: [`${name}_y`], attributes: { alpha } }],
      inputs: [],
      outputs: [{ name: `${name}_y`, type: 'float32', dims: [1, 2] }],
    })
    const graph: GraphSpec = {
      name: 'choice',
      nodes: [
        {
          op: 'If',
          inputs: ['steep'],
          outputs: ['picked'],
          attributes: { then_branch: branch('steep_part', 0.5), else_branch: branch('flat_part', 0.25) },
        },
        { op: 'Transpose', inputs: ['picked'], outputs: ['turned'], attributes: { perm: [1n, 0n] } },
        { op: 'Concat', inputs: ['turned', 'turned'], outputs: ['y'], attributes: { axis: 1n } },
      ],
      inputs: [
        { name: 'steep', type: 'bool', dims: [1] },
        { name: 'x', type: 'float32', dims: [1, 2] },
      ],
      outputs: [{ name: 'y', type: 'float32', dims: [2, 2] }],
    }
    const session = await open(graph)
    const run = (steep: number) =>
      session.run({ steep: { type: 'bool', dims: [1], data: Uint8Array.of(steep) }, x: floats([1, 2], -8, 3) })
    expect((await run(1)).y).toEqual(floats([2, 2], -4, -4, 3, 3))
    expect((await run(0)).y).toEqual(floats([2, 2], -2, -2, 3, 3))
    await session.release()
  })

  test('a wrong name is reported in words', async () => {
    const session = await open(matMul)
    const a = floats([1, 2], 1, 2)
    await expect(session.run({ a })).rejects.toThrow('the graph takes a, b: it was not given b')
    await expect(session.run({ a, z: a })).rejects.toThrow('it has no input z; it was not given b')
    await session.release()
  })

  test('a tensor that does not match its own description never reaches native code', async () => {
    const session = await open(matMul)
    const b = floats([2, 2], 1, 0, 0, 1)
    const short = session.run({ a: { ...floats([9, 2]), data: new Float32Array(4) }, b })
    await expect(short).rejects.toThrow('a: float32 [9, 2] is 18 numbers in a Float32Array, not 4 in a Float32Array')
    const other = session.run({ a: { type: 'float32', dims: [1, 2], data: Int32Array.of(1, 2) }, b })
    await expect(other).rejects.toThrow('not 2 in a Int32Array')
    await session.release()
  })

  test('ONNX Runtime refuses a wrong shape or type, and the session keeps working', async () => {
    const session = await open(matMul)
    const b = floats([2, 2], 1, 0, 0, 1)
    expect((await failureOf(session.run({ a: floats([1, 3], 1, 2, 3), b }))).message).toMatch(/invalid dimensions/i)
    const bytes: Tensor = { type: 'uint8', dims: [1, 2], data: Uint8Array.of(1, 2) }
    expect((await failureOf(session.run({ a: bytes, b }))).message).toMatch(/unexpected input data type/i)
    const { c } = await session.run({ a: floats([1, 2], 7, 8), b })
    expect(c).toEqual(floats([1, 2], 7, 8))
    await session.release()
  })

  test('a released session does not run, and releasing twice is harmless', async () => {
    const session = await open(matMul)
    await session.release()
    await session.release()
    await expect(session.run({})).rejects.toThrow('the session was released')
    expect(() => session.loop({ links: {}, start: {} })).toThrow('the session was released')
  })

  test.each([
    ['bytes that are no graph', new TextEncoder().encode('not a graph')],
    ['half of a graph', onnxModel(matMul).slice(0, 60)],
    ['no bytes at all', new Uint8Array(0)],
    ['a file that is not there', '/nowhere/model.onnx'],
  ])('refuses %s', async (_name, model) => {
    await expect(createFfiSession(model, { threads: 1 })).rejects.toThrow()
  })

  test('a loop passes its states on, starting empty, and returns the other outputs', async () => {
    const session = await open(growing)
    const loop = session.loop(loopOptions)
    expect(await loop.states()).toEqual(start)
    expect(await loop.step({ x: floats([1, 2], 1, 2) })).toEqual({ sum: floats([], 6) })
    expect(await loop.step({ x: floats([1, 2], 10, 20) })).toEqual({ sum: floats([], 66) })
    const count: Tensor = { type: 'int64', dims: [], data: BigInt64Array.of(2n) }
    expect(await loop.states()).toEqual({ past: floats([2, 2], 2, 4, 20, 40), count })
    await session.release()
  })

  test('many loops can start from the same states, which stay unchanged; one can continue another', async () => {
    const session = await open(growing)
    const first = session.loop(loopOptions)
    await first.step({ x: floats([1, 2], 1, 1) })
    const states = await first.states()
    const others = [1, 2, 3].map(() => session.loop({ ...loopOptions, start: states }))
    const sums = await Promise.all(others.map((loop, i) => loop.step({ x: floats([1, 2], i, 0) })))
    expect(sums.map(({ sum }) => sum)).toEqual([floats([], 4), floats([], 6), floats([], 8)])
    expect([states.past, start.past]).toEqual([floats([1, 2], 2, 2), floats([0, 2])])
    ;(states.past!.data as Float32Array).fill(99)
    expect((await others[0]!.step({ x: floats([1, 2], 0, 0) })).sum).toEqual(floats([], 4))
    await session.release()
  })

  test('steps that are requested at once run one after the other', async () => {
    const session = await open(growing)
    const loop = session.loop(loopOptions)
    const sums = await Promise.all([1, 2, 3, 4].map((x) => loop.step({ x: floats([1, 2], x, 0) })))
    expect(sums.map(({ sum }) => sum!.data[0])).toEqual([2, 6, 12, 20])
    await session.release()
  })

  test('a failed step leaves the states unchanged', async () => {
    const session = await open(growing)
    const loop = session.loop(loopOptions)
    expect((await failureOf(loop.step({ x: floats([1, 3], 1, 2, 3) }))).message).toMatch(/invalid dimensions/i)
    await loop.step({ x: floats([1, 2], 1, 2) })
    expect((await failureOf(loop.step({ x: floats([2, 2], 1, 2, 3, 4) }))).message).toMatch(/invalid dimensions/i)
    await expect(loop.step({})).rejects.toThrow('it was not given x')
    expect(await loop.step({ x: floats([1, 2], 10, 20) })).toEqual({ sum: floats([], 66) })
    await session.release()
  })

  test('a loop that the graph cannot run is refused before its first step', async () => {
    const session = await open(growing)
    const refused = (change: object) => () => session.loop({ ...loopOptions, ...change })
    expect(refused({ links: { ...loopOptions.links, more: 'present' } })).toThrow('it was not given more')
    expect(refused({ links: { past: 'present' } })).toThrow('the loop starts from past: it has no input count')
    expect(refused({ links: { ...loopOptions.links, past: 'future' } })).toThrow('the graph has no output future')
    const twice = { links: { past: 'present', x: 'present' }, start: { past: start.past, x: floats([1, 2], 1, 2) } }
    expect(refused(twice)).toThrow('two states cannot come from the same output present')
    expect(refused({ constants: { pace: floats([1], 1) } })).toThrow('the graph has no input pace')
    const odd = { ...start, past: floats([5, 2]) }
    expect(refused({ start: odd })).toThrow('past: float32 [5, 2] is 10 numbers')
    await session.release()
  })

  test('an output that is also an input of the graph stays separate from the data it was given', async () => {
    const spec = (name: string) => ({ name, type: 'float32', dims: [1000] }) as const
    const session = await open({
      name: 'itself',
      nodes: [{ op: 'Add', inputs: ['own', 'last'], outputs: ['y'] }],
      inputs: [spec('own'), spec('last'), spec('x')],
      outputs: [spec('y'), spec('own'), spec('x')],
    })
    const filled = (value: number) => floats([1000], ...Array<number>(1000).fill(value))
    const loop = session.loop({ links: { own: 'own', last: 'x' }, start: { own: filled(5), last: filled(0) } })
    for (let i = 1; i < 50; i++) {
      const x = filled(i)
      expect((await loop.step({ x })).y).toEqual(filled(5 + i - 1))
      x.data.fill(-1 as never)
    }
    expect(await loop.states()).toEqual({ own: filled(5), last: filled(49) })
    await session.release()
  })

  test('states that pass through, only change their shape, or come from an input stay intact', async () => {
    const specs = ['a', 'b', 'c'].map((name) => ({ name, type: 'float32', dims: [2, 2] }) as const)
    const session = await open({
      name: 'passing',
      nodes: [
        { op: 'Identity', inputs: ['a'], outputs: ['next_a'] },
        { op: 'Reshape', inputs: ['b', 'shape'], outputs: ['next_b'] },
        { op: 'Identity', inputs: ['x'], outputs: ['next_c'] },
        { op: 'Add', inputs: ['c', 'x'], outputs: ['y'] },
      ],
      inputs: [...specs, { name: 'x', type: 'float32', dims: [2, 2] }],
      outputs: [...specs.map((spec) => ({ ...spec, name: `next_${spec.name}` })), { ...specs[0]!, name: 'y' }],
      constants: [{ name: 'shape', type: 'int64', dims: [2], data: BigInt64Array.of(2n, 2n) }],
    })
    const loop = session.loop({
      links: { a: 'next_a', b: 'next_b', c: 'next_c' },
      start: { a: floats([2, 2], 1, 2, 3, 4), b: floats([2, 2], 5, 6, 7, 8), c: floats([2, 2], 0, 0, 0, 0) },
    })
    for (let i = 0; i < 50; i++) {
      const { y } = await loop.step({ x: floats([2, 2], i, i, i, i) })
      expect(y).toEqual(floats([2, 2], ...Array<number>(4).fill(i === 0 ? 0 : 2 * i - 1)))
      if (i % 10 === 0) Bun.gc(true)
    }
    const { a, b } = await loop.states()
    expect([a, b]).toEqual([floats([2, 2], 1, 2, 3, 4), floats([2, 2], 5, 6, 7, 8)])
    await session.release()
  })

  test('a released loop or session refuses every use', async () => {
    const session = await open(growing)
    const [first, second] = [session.loop(loopOptions), session.loop(loopOptions)]
    const refused = async (loop: Loop) => {
      await expect(loop.step({ x: floats([1, 2], 1, 2) })).rejects.toThrow('was released')
      await expect(loop.states()).rejects.toThrow('the loop was released')
    }
    await second.step({ x: floats([1, 2], 1, 2) })
    const underWay = first.step({ x: floats([1, 2], 1, 2) }).catch((error: unknown) => error)
    first.release()
    first.release()
    await underWay
    await refused(first)
    expect((await second.step({ x: floats([1, 2], 1, 2) })).sum).toEqual(floats([], 12))
    await session.release()
    await refused(second)
    second.release()
  })

  test('messages and timers have their turn between two runs', async () => {
    const session = await open(matMul)
    const feeds = { a: floats([1, 2], 1, 2), b: floats([2, 2], 1, 0, 0, 1) }
    let runs = 0
    let isOver = false
    const timer = new Promise<void>((resolve) => setImmediate(resolve)).then(() => (isOver = true))
    while (!isOver && runs < 100) {
      await session.run(feeds)
      runs++
    }
    await timer
    // A run uses a thread beside the loop. How many tiny runs fit before the turn depends on the machine.
    expect(runs).toBeLessThan(100)
    await session.release()
  })
})

test('every run counts as a sign of life, those of loops too, but failed ones do not', async () => {
  const session = await createFfiSession(onnxModel(growing), { threads: 1 })
  const loop = session.loop(loopOptions)
  const before = runCount()
  await loop.step({ x: floats([1, 2], 1, 2) })
  await session.run({ x: floats([1, 2], 1, 2), ...start, scale: floats([1], 1) })
  await loop.step({ x: floats([1, 3], 1, 2, 3) }).catch(() => {})
  expect(runCount() - before).toBe(2)
  await session.release()
})

test('a back end that loses a state fails the self-test', async () => {
  expect((await failureOf(verifyLoops(wrong))).message).toBe('it computes wrongly')
})

/** As if a state had been overwritten: its first number differs. */
const wrong: CreateSession = async (model, options) => {
  const session = await createFfiSession(model, options)
  return {
    inputs: session.inputs,
    outputs: session.outputs,
    run: (feeds) => session.run(feeds),
    runHolding: (...given) => session.runHolding(...given),
    release: () => session.release(),
    loop: (options) => {
      const loop = session.loop(options)
      return {
        step: (feeds) => loop.step(feeds),
        states: async () => ({ ...(await loop.states()), past: floats([1, 3, 2], 0, -2, 10, -20, 100, -200) }),
        release: () => loop.release(),
      }
    },
  }
}
