import { expect, test } from 'bun:test'
import { readNpy } from './npy.ts'

/** A file as `numpy.save` writes it: the header is padded to 128 bytes. */
function saved(descr: string, shape: string, bytes: Uint8Array, { fortran = 'False', version = 1 } = {}): Uint8Array {
  const header = `{'descr': '${descr}', 'fortran_order': ${fortran}, 'shape': ${shape}, }`.padEnd(117) + '\n'
  const length = version === 1 ? [118, 0] : [118, 0, 0, 0]
  const start = Uint8Array.of(0x93, ...Buffer.from('NUMPY'), version, 0, ...length)
  return new Uint8Array([...start, ...Buffer.from(header), ...bytes])
}

const bytes = (data: Float32Array | BigInt64Array) => new Uint8Array(data.buffer)

test('reads what numpy itself has saved', () => {
  // numpy.save of numpy.array([[1.5, -2]], numpy.float32).
  const file =
    'k05VTVBZAQB2AHsnZGVzY3InOiAnPGY0JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDEsIDIpLCB9ICAgICAgICAgICAgIC' +
    'AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAMA/AAAAwA=='
  expect(readNpy(new Uint8Array(Buffer.from(file, 'base64')))).toEqual({
    type: 'float32',
    dims: [1, 2],
    data: Float32Array.of(1.5, -2),
  })
})

test('reads shapes and types', () => {
  const seven = bytes(BigInt64Array.of(7n))
  expect(readNpy(saved('<i8', '()', seven))).toEqual({ type: 'int64', dims: [], data: BigInt64Array.of(7n) })
  expect(readNpy(saved('<i8', '(1,)', seven, { version: 2 })).dims).toEqual([1])
  expect(readNpy(saved('<f4', '(2, 0)', new Uint8Array(0)))).toEqual({
    type: 'float32',
    dims: [2, 0],
    data: new Float32Array(0),
  })
})

test('explains why a file cannot be read', () => {
  const two = bytes(Float32Array.of(1, 2))
  expect(() => readNpy(saved('<f8', '(1,)', two))).toThrow('numbers of type "<f8" are not supported')
  expect(() => readNpy(saved('<f4', '(1, 2)', two, { fortran: 'True' }))).toThrow('cannot be parsed')
  expect(() => readNpy(saved('<f4', '(3,)', two))).toThrow('are missing')
  expect(() => readNpy(new Uint8Array(0))).toThrow('not an array')
  expect(() => readNpy(Buffer.from('PK\u0003\u0004 is a zip file'))).toThrow('not an array')
})
