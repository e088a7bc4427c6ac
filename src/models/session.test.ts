import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onnxModel, type GraphSpec } from '../testing/tiny-onnx.ts'
import { createSession, type Tensor } from './session.ts'

const folder = mkdtempSync(join(tmpdir(), 'myna-session-'))
afterAll(() => rmSync(folder, { recursive: true }))

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
const open = (graph: GraphSpec) => createSession(onnxModel(graph), { threads: 1 })

test('a product of matrices whose rows are known only at run time', async () => {
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
    const { c } = await session.run({ a, b })
    expect(c).toEqual(floats([rows, 2], ...Array.from({ length: rows }, () => [23, 34]).flat()))
  }
  await session.release()
})

test('whole numbers stay whole: Add of int64, from a file', async () => {
  const path = join(folder, 'add.onnx')
  const spec = (name: string) => ({ name, type: 'int64', dims: [2] }) as const
  const add: GraphSpec = {
    name: 'sum',
    nodes: [{ op: 'Add', inputs: ['x', 'one'], outputs: ['y'] }],
    inputs: [spec('x')],
    outputs: [spec('y')],
    constants: [{ ...spec('one'), data: BigInt64Array.from([1n, -1n]) }],
  }
  await Bun.write(path, onnxModel(add))
  const session = await createSession(path, { threads: 1 })
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

test('wrong names are told in words', async () => {
  const session = await open(matMul)
  const a = floats([1, 2], 1, 2)
  await expect(session.run({ a })).rejects.toThrow('the graph takes a, b: it was not given b')
  await expect(session.run({ a, z: a })).rejects.toThrow('it has no input z; it was not given b')
  await session.release()
})

test('a wrong shape is refused by ONNX Runtime, and the session goes on working', async () => {
  const session = await open(matMul)
  const b = floats([2, 2], 1, 0, 0, 1)
  await expect(session.run({ a: floats([1, 3], 1, 2, 3), b })).rejects.toThrow(/invalid dimensions/i)
  const { c } = await session.run({ a: floats([1, 2], 7, 8), b })
  expect(c).toEqual(floats([1, 2], 7, 8))
  await session.release()
})

test('a released session does not run, and releasing twice is harmless', async () => {
  const session = await open(matMul)
  await session.release()
  await session.release()
  await expect(session.run({})).rejects.toThrow('the session was released')
})

test('bytes that are no graph are refused', async () => {
  await expect(createSession(new TextEncoder().encode('not a graph'), { threads: 1 })).rejects.toThrow()
})
