/**
 * Reads a safetensors file (https://github.com/huggingface/safetensors): eight bytes with the length of a header, the
 * header as JSON, and behind it the numbers of all tensors.
 */
import type { Tensor } from '../../onnx/session.ts'

const kinds: Readonly<Record<string, { type: Tensor['type']; bytes: number }>> = {
  F32: { type: 'float32', bytes: 4 },
  F16: { type: 'float16', bytes: 2 },
  I32: { type: 'int32', bytes: 4 },
  I64: { type: 'int64', bytes: 8 },
  U8: { type: 'uint8', bytes: 1 },
  BOOL: { type: 'bool', bytes: 1 },
}

/** @returns by name, each with numbers of its own @throws Error that says what is wrong, without naming the file */
export function readSafetensors(file: Uint8Array): Map<string, Tensor> {
  const length = file.length < 8 ? NaN : Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true))
  const body = 8 + length
  if (!(body <= file.length)) throw new Error('it is cut short, or not a safetensors file')
  const header = parse(file.subarray(8, body))
  const tensors = new Map<string, Tensor>()
  for (const [name, entry] of Object.entries(header)) {
    if (name !== '__metadata__') tensors.set(name, readTensor(name, entry, file.subarray(body)))
  }
  return tensors
}

function parse(bytes: Uint8Array): Record<string, unknown> {
  try {
    const header: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    if (typeof header === 'object' && header !== null) return { ...header }
  } catch {
    // Said below.
  }
  throw new Error('its header cannot be parsed')
}

function readTensor(name: string, entry: unknown, data: Uint8Array): Tensor {
  const { dtype, shape, data_offsets: offsets } = (entry ?? {}) as Record<string, unknown>
  const kind = kinds[String(dtype)]
  if (kind === undefined) throw new Error(`${name}: numbers of type ${String(dtype)} are not supported`)
  if (!isLengths(shape) || !isLengths(offsets) || offsets.length !== 2) throw new Error(`${name}: damaged header`)
  const [from, to] = offsets as [number, number]
  const size = shape.reduce((product, length) => product * length, kind.bytes)
  if (to > data.length || to - from !== size) throw new Error(`${name}: some of its numbers are missing`)
  return { type: kind.type, dims: shape, data: numbersOf(kind.type, new Uint8Array(data.subarray(from, to)).buffer) }
}

/** @param buffer nothing but the numbers, little-endian */
export function numbersOf(type: Tensor['type'], buffer: ArrayBuffer): Tensor['data'] {
  if (type === 'float32') return new Float32Array(buffer)
  if (type === 'int64') return new BigInt64Array(buffer)
  if (type === 'int32') return new Int32Array(buffer)
  return type === 'float16' ? new Uint16Array(buffer) : new Uint8Array(buffer)
}

const isLengths = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((length) => Number.isSafeInteger(length) && length >= 0)
