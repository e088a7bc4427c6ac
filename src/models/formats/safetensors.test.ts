import { expect, test } from 'bun:test'
import { readSafetensors } from './safetensors.ts'

/** Two floats named a in the format, or with another header if one is given. */
function file(header: unknown = { a: { dtype: 'F32', shape: [2], data_offsets: [0, 8] } }): Uint8Array {
  const json = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header))
  const length = new Uint8Array(BigUint64Array.of(BigInt(json.length)).buffer)
  return new Uint8Array([...length, ...json, ...new Uint8Array(Float32Array.of(1, -2).buffer)])
}

test('reads what the library itself has written', () => {
  // safetensors.numpy.save of five tensors, with metadata.
  const written =
    'EAEAAAAAAAB7Il9fbWV0YWRhdGFfXyI6eyJmb3JtYXQiOiJwdCJ9LCJhL29mZnNldCI6eyJkdHlwZSI6Ikk2NCIsInNoYXBlIjpbMV0sImRhdGFf' +
    'b2Zmc2V0cyI6WzAsOF19LCJhL2NhY2hlIjp7ImR0eXBlIjoiRjMyIiwic2hhcGUiOlsyLDNdLCJkYXRhX29mZnNldHMiOls4LDMyXX0sImUiOnsi' +
    'ZHR5cGUiOiJGMzIiLCJzaGFwZSI6WzBdLCJkYXRhX29mZnNldHMiOlszMiwzMl19LCJ0Ijp7ImR0eXBlIjoiQk9PTCIsInNoYXBlIjpbMl0sImRh' +
    'dGFfb2Zmc2V0cyI6WzMyLDM0XX19ICAgICAgIAMAAAAAAAAAAAAAAAAAgD8AAABAAABAQAAAgEAAAKBAAQA='
  expect(Object.fromEntries(readSafetensors(new Uint8Array(Buffer.from(written, 'base64'))))).toEqual({
    'a/cache': { type: 'float32', dims: [2, 3], data: Float32Array.of(0, 1, 2, 3, 4, 5) },
    'a/offset': { type: 'int64', dims: [1], data: BigInt64Array.of(3n) },
    e: { type: 'float32', dims: [0], data: new Float32Array(0) },
    t: { type: 'bool', dims: [2], data: Uint8Array.of(1, 0) },
  })
})

test('the numbers are a copy: the file need not stay in memory', () => {
  const bytes = file()
  const { data } = readSafetensors(bytes).get('a')!
  expect(data.buffer.byteLength).toBe(8)
  bytes.fill(0)
  expect(data).toEqual(Float32Array.of(1, -2))
})

const broken: [string, Uint8Array, string][] = [
  ['nothing', new Uint8Array(0), 'cut short'],
  ['half of the header', file().subarray(0, 20), 'cut short'],
  ['a length beyond all files', new Uint8Array(16).fill(255), 'cut short'],
  ['half of the numbers', file().subarray(0, -4), 'a: some of its numbers are missing'],
  ['no JSON', file('{"a":'), 'its header cannot be parsed'],
  ['another type', file({ a: { dtype: 'F8_E4M3', shape: [8], data_offsets: [0, 8] } }), 'F8_E4M3 are not supported'],
  ['a shape that lies', file({ a: { dtype: 'F32', shape: [3], data_offsets: [0, 8] } }), 'are missing'],
  ['a negative length', file({ a: { dtype: 'F32', shape: [-2], data_offsets: [0, 8] } }), 'damaged header'],
  ['no offsets', file({ a: { dtype: 'F32', shape: [2] } }), 'damaged header'],
]

test.each(broken)('%s is refused in words', (_, bytes, message) => {
  expect(() => readSafetensors(bytes)).toThrow(message)
})
