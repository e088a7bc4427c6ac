/** Tensors between JavaScript and ONNX Runtime, where each is an `OrtValue *` that has to be given back. */
import type { Pointer } from 'bun:ffi'
import type { Tensor } from '../session.ts'
import { arrays, isKnownType } from '../tensor-checks.ts'
import type { OrtApi } from './api.ts'
import type { FfiDevice } from './device.ts'

/** By number (`ONNXTensorElementDataType`), with the names of its packages for JavaScript. */
const typeNames: Readonly<Record<number, string>> = {
  1: 'float32',
  2: 'uint8',
  3: 'int8',
  4: 'uint16',
  5: 'int16',
  6: 'int32',
  7: 'int64',
  8: 'string',
  9: 'bool',
  10: 'float16',
  11: 'float64',
  12: 'uint32',
  13: 'uint64',
  16: 'bfloat16',
}
const typeNumbers: Readonly<Record<Tensor['type'], number>> = {
  float32: 1,
  uint8: 2,
  int32: 6,
  int64: 7,
  bool: 9,
  float16: 10,
}

/** Pointers to values, as C wants them; 0n: none. */
export type Values = BigUint64Array<ArrayBuffer>

/** In memory that does not move while this array lives, which that of a small array may. */
export const noValues = (count: number): Values => new BigUint64Array(new ArrayBuffer(8 * count))

/** Gives all of them back and leaves none. */
export function releaseAll(api: OrtApi, values: Values): void {
  for (const value of values) if (value !== 0n) api.call.ReleaseValue(pointerOf(value))
  values.fill(0n)
}

export const pointerOf = (value: bigint | undefined): Pointer => Number(value) as Pointer

/**
 * A value over the tensor's own memory: nothing is copied. The caller holds the tensor until the value was used, and
 * lets nothing else run until then, because JavaScript may move an array's memory when its `buffer` is accessed.
 */
export const borrowed = (api: OrtApi, { type, dims, data }: Tensor): Pointer =>
  api.made((out) => {
    const shape = BigInt64Array.from(dims, BigInt)
    const { CreateTensorWithDataAsOrtValue: create } = api.call
    return create(api.cpuMemory, data, data.byteLength, shape, dims.length, typeNumbers[type], out)
  })

/** A value in memory of ONNX Runtime's own. */
export function copied(api: OrtApi, { type, dims, data }: Tensor): Pointer {
  const shape = BigInt64Array.from(dims, BigInt)
  const { CreateTensorAsOrtValue: create } = api.call
  const value = api.made((out) => create(api.allocator, shape, dims.length, typeNumbers[type], out))
  if (data.length > 0) api.libc.memcpy(dataOf(api, value), data, data.byteLength)
  return value
}

/**
 * @param from its address
 * @param value owned by the caller
 * @throws Error naming the output whose type is not one of `Tensor`
 */
export function read(api: OrtApi, from: FfiDevice, name: string, value: Pointer): Tensor {
  const { type, dims } = typeOf(api, name, value)
  const data = new arrays[type](dims.reduce((product, each) => product * each, 1))
  if (data.length > 0) from.download(data, dataOf(api, value))
  return { type, dims, data }
}

/** @throws as `read` */
export function typeOf(api: OrtApi, name: string, value: Pointer): Pick<Tensor, 'type' | 'dims'> {
  const info = api.made((out) => api.call.GetTensorTypeAndShape(value, out))
  const { type, dims } = shapeOf(api, info)
  api.call.ReleaseTensorTypeAndShapeInfo(info)
  if (!isKnownType(type)) throw new Error(`output ${name}: tensors of ${type} are not supported`)
  return { type, dims }
}

/** @param info an `OrtTensorTypeAndShapeInfo *` @returns -1 for lengths that are not known */
export function shapeOf(api: OrtApi, info: Pointer): { type: string; dims: number[] } {
  const { call } = api
  const number = Number(api.told((out) => call.GetTensorElementType(info, out)))
  const rank = Number(api.told((out) => call.GetDimensionsCount(info, out)))
  const dims = new BigInt64Array(rank)
  if (rank > 0) api.check(call.GetDimensions(info, dims, rank))
  return { type: typeNames[number] ?? `type ${number}`, dims: Array.from(dims, Number) }
}

const dataOf = (api: OrtApi, value: Pointer): Pointer => api.made((out) => api.call.GetTensorMutableData(value, out))
