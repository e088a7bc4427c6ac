/**
 * The graphs of the engine's self-test: y = x W + b, and a graph with states of all types. `bun
 * src/testing/selftest-graph.ts` writes them again.
 */
import { join } from 'node:path'
import { onnxModel, type GraphSpec, type TensorSpec } from './tiny-onnx.ts'

export const weights = [
  [1, 2, 3, 4],
  [10, 20, 30, 40],
  [100, 200, 300, 400],
] as const
export const bias = [0.5, 0.25, -0.5, -0.25] as const

const graph: GraphSpec = {
  name: 'selftest',
  nodes: [
    { op: 'MatMul', inputs: ['x', 'W'], outputs: ['xW'] },
    { op: 'Add', inputs: ['xW', 'b'], outputs: ['y'] },
  ],
  inputs: [{ name: 'x', type: 'float32', dims: ['n', 3] }],
  outputs: [{ name: 'y', type: 'float32', dims: ['n', 4] }],
  constants: [
    { name: 'W', type: 'float32', dims: [3, 4], data: Float32Array.from(weights.flat()) },
    { name: 'b', type: 'float32', dims: [4], data: Float32Array.from(bias) },
  ],
}

const past: TensorSpec = { name: 'past', type: 'float32', dims: [1, 'length', 2] }
const count: TensorSpec = { name: 'count', type: 'int64', dims: [] }
const flag: TensorSpec = { name: 'flag', type: 'bool', dims: [1] }
const half: TensorSpec = { name: 'half', type: 'float16', dims: [2] }
const named = (spec: TensorSpec, name: string): TensorSpec => ({ ...spec, name })

/** A cache that grows by x, a counter, a flag that toggles, halves that double. The output is the cache's sum. */
const loopGraph: GraphSpec = {
  name: 'selftest-loop',
  nodes: [
    { op: 'Concat', inputs: ['past', 'x'], outputs: ['present'], attributes: { axis: 1n } },
    { op: 'ReduceSum', inputs: ['present', 'axes'], outputs: ['sum'], attributes: { keepdims: 0n } },
    { op: 'Add', inputs: ['count', 'step'], outputs: ['next_count'] },
    { op: 'Not', inputs: ['flag'], outputs: ['next_flag'] },
    { op: 'Add', inputs: ['half', 'half'], outputs: ['next_half'] },
  ],
  inputs: [
    past,
    { name: 'x', type: 'float32', dims: [1, 1, 2] },
    count,
    { name: 'step', type: 'int64', dims: [] },
    flag,
    half,
  ],
  outputs: [
    { name: 'sum', type: 'float32', dims: [1, 2] },
    named(past, 'present'),
    named(count, 'next_count'),
    named(flag, 'next_flag'),
    named(half, 'next_half'),
  ],
  constants: [{ name: 'axes', type: 'int64', dims: [1], data: BigInt64Array.of(1n) }],
}

/** The expected content of each file in `models/`. */
export const selfTestGraphs: Readonly<Record<string, Uint8Array>> = {
  'selftest.onnx': onnxModel(graph),
  'selftest-loop.onnx': onnxModel(loopGraph),
}
export const selfTestFile = (name: string): string => join(import.meta.dir, '..', 'onnx', name)

if (import.meta.main) {
  for (const [name, bytes] of Object.entries(selfTestGraphs)) await Bun.write(selfTestFile(name), bytes)
}
