/**
 * A graph that takes as long as a test needs: a series of matrix products with a known result. Each product is a node,
 * so that a run can be ended between any two of them.
 */
import type { Tensor } from '../onnx/session.ts'
import type { GraphSpec, NodeSpec } from './tiny-onnx.ts'

export interface LongGraph {
  nodes: number
  /** Rows and columns: each node computes 2 size³ operations. */
  size: number
}

/** From `x` to `y`, each place of which is the mean of its row in `x`. */
export function longGraph({ nodes, size }: LongGraph): GraphSpec {
  const dims = [size, size] as const
  return {
    name: 'long',
    nodes: products('x', 'y', nodes),
    inputs: [{ name: 'x', type: 'float32', dims }],
    outputs: [{ name: 'y', type: 'float32', dims }],
    constants: [meanOf(size)],
  }
}

/** Placed in the middle of a model of another shape. */
export const products = (from: string, to: string, nodes: number): NodeSpec[] =>
  Array.from({ length: nodes }, (_, at) => {
    const [x, y] = [at === 0 ? from : `${to}_${at}`, at + 1 === nodes ? to : `${to}_${at + 1}`]
    return { op: 'MatMul', inputs: [x, 'mean'], outputs: [y] }
  })

/** The matrix that they multiply by. */
export const meanOf = (size: number) => {
  const data = new Float32Array(size * size).fill(1 / size)
  return { name: 'mean', type: 'float32', dims: [size, size], data } as const
}

/** @param value of every place */
export const square = (size: number, value: number): Tensor => ({
  type: 'float32',
  dims: [size, size],
  data: new Float32Array(size * size).fill(value),
})
