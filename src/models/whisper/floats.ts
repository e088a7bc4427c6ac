/**
 * Graphs of half precision take and give numbers of 16 bits in some places and of 32 in others, each export in its own;
 * here is what they are turned into. A tensor of 16 bits carries the bits themselves.
 */
import type { Tensor } from '../../onnx/session.ts'

export type FloatType = 'float32' | 'float16'

/** @returns the same tensor when it is of that type already */
export function asType(tensor: Tensor, type: FloatType): Tensor {
  if (tensor.type === type) return tensor
  const values = asFloat32(tensor)
  if (type === 'float32') return { type, dims: tensor.dims, data: values }
  return { type, dims: tensor.dims, data: new Uint16Array(Float16Array.from(values).buffer) }
}

/** @throws Error for a tensor of whole numbers */
export function asFloat32({ type, data }: Tensor): Float32Array {
  if (data instanceof Float32Array) return data
  if (type !== 'float16' || !(data instanceof Uint16Array)) throw new Error(`numbers came as ${type}`)
  return Float32Array.from(new Float16Array(data.buffer, data.byteOffset, data.length))
}
