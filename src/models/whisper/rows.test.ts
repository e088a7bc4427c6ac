import { expect, test } from 'bun:test'
import type { Tensor } from '../../onnx/session.ts'
import { joinRows, pickRows, pickTokens } from './rows.ts'

const tensor = (rows: number, first: number): Tensor => ({
  type: 'float32',
  dims: [rows, 1, 2],
  data: Float32Array.from({ length: 2 * rows }, (_, at) => first + at),
})

test('rows are joined in order', () => {
  const joined = joinRows([tensor(2, 0), tensor(1, 10)])
  expect(joined).toEqual({ type: 'float32', dims: [3, 1, 2], data: Float32Array.of(0, 1, 2, 3, 10, 11) })
})

test('rows are picked', () => {
  expect(pickRows(tensor(3, 0), [0, 2])).toEqual({
    type: 'float32',
    dims: [2, 1, 2],
    data: Float32Array.of(0, 1, 4, 5),
  })
})

test('a held tensor is read once, however many rows are picked', () => {
  let reads = 0
  const { data, ...rest } = tensor(4, 0)
  const held: Tensor = {
    ...rest,
    get data() {
      reads++
      return data
    },
  }
  pickRows(held, [0, 2, 3])
  expect(reads).toBe(1)
})

test('unchanged rows are not copied', () => {
  const whole = tensor(2, 0)
  expect(joinRows([whole])).toBe(whole)
  expect(pickRows(whole, [0, 1])).toBe(whole)
})

test.each([
  ['float16', Uint16Array.of(1, 2)],
  ['int64', BigInt64Array.of(1n, 2n)],
  ['int32', Int32Array.of(1, 2)],
  ['bool', Uint8Array.of(0, 1)],
] as const)('%s stays %s', (type, data) => {
  const one: Tensor = { type, dims: [2, 1], data }
  const joined = joinRows([one, one])
  expect(joined.data.constructor).toBe(data.constructor)
  expect(pickRows(joined, [1, 2])).toEqual({ type, dims: [2, 1], data: data.toReversed() as typeof data })
})

test('refuses an empty list of tensors', () => {
  expect(() => joinRows([])).toThrow('no tensors')
})

test('tokens are picked of each row', () => {
  const whole: Tensor = { type: 'float32', dims: [2, 3, 2], data: Float32Array.from({ length: 12 }, (_, at) => at) }
  expect(pickTokens(whole, [0, 2])).toEqual({
    type: 'float32',
    dims: [2, 2, 2],
    data: Float32Array.of(0, 1, 4, 5, 6, 7, 10, 11),
  })
  expect(pickTokens(whole, [0, 1, 2])).toBe(whole)
})
