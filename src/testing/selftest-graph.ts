/** The graph of the engine's self-test, y = x W + b. `bun src/testing/selftest-graph.ts` writes it again. */
import { join } from 'node:path'
import { onnxModel, type GraphSpec } from './tiny-onnx.ts'

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

export const selfTestFile = join(import.meta.dir, '..', 'models', 'selftest.onnx')
export const selfTestBytes = (): Uint8Array => onnxModel(graph)

if (import.meta.main) await Bun.write(selfTestFile, selfTestBytes())
