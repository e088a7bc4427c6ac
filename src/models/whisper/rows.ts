/**
 * Tensors whose first dimension counts windows of a batch: one row each. Rows are contiguous, so joining and picking
 * them copies whole stretches.
 */
import type { Tensor, TensorData } from '../../onnx/session.ts'

/** @param tensors of one type, alike but for how many rows they have @returns the same tensor when it is alone */
export function joinRows(tensors: readonly Tensor[]): Tensor {
  const [first] = tensors
  if (first === undefined) throw new RangeError('no tensors to join')
  if (tensors.length === 1) return first
  const data = emptyLike(
    first.data,
    tensors.reduce((sum, tensor) => sum + tensor.data.length, 0),
  )
  let at = 0
  for (const tensor of tensors) {
    put(data, tensor.data, at)
    at += tensor.data.length
  }
  const rows = tensors.reduce((sum, { dims }) => sum + dims[0]!, 0)
  return { type: first.type, dims: [rows, ...first.dims.slice(1)], data }
}

/** @param rows ascending @returns the same tensor when that are all of them */
export function pickRows(tensor: Tensor, rows: readonly number[]): Tensor {
  const count = tensor.dims[0]!
  if (rows.length === count) return tensor
  // Once, because a held tensor makes a copy each time.
  const all = tensor.data
  const size = all.length / count
  const data = emptyLike(all, rows.length * size)
  for (const [at, row] of rows.entries()) put(data, all.subarray(row * size, (row + 1) * size), at * size)
  return { type: tensor.type, dims: [rows.length, ...tensor.dims.slice(1)], data }
}

/**
 * @param tensor [rows, tokens, columns]
 * @param tokens which ones of each row, each once @returns the same tensor when that are all of them
 */
export function pickTokens(tensor: Tensor, tokens: readonly number[]): Tensor {
  const [rows = 0, count = 0, columns = 0] = tensor.dims
  if (tokens.length === count) return tensor
  const data = emptyLike(tensor.data, rows * tokens.length * columns)
  for (let row = 0; row < rows; row++) {
    for (const [at, token] of tokens.entries()) {
      const from = (row * count + token) * columns
      put(data, tensor.data.subarray(from, from + columns), (row * tokens.length + at) * columns)
    }
  }
  return { type: tensor.type, dims: [rows, tokens.length, columns], data }
}

function emptyLike(data: TensorData, length: number): TensorData {
  if (data instanceof Float32Array) return new Float32Array(length)
  if (data instanceof Uint16Array) return new Uint16Array(length)
  if (data instanceof Uint8Array) return new Uint8Array(length)
  if (data instanceof Int32Array) return new Int32Array(length)
  return new BigInt64Array(length)
}

function put(into: TensorData, data: TensorData, at: number): void {
  if (into instanceof BigInt64Array) into.set(data as BigInt64Array, at)
  else into.set(data as Exclude<TensorData, BigInt64Array>, at)
}
