import { expect, test } from 'bun:test'
import { readSafetensors } from '../formats/safetensors.ts'
import type { Tensor } from '../../onnx/session.ts'
import { readBundle } from './bundle.ts'
import { bytesOf, golden } from './small.fixture.ts'
import { bytesOf as sizeOf, startWith, type Voice } from './states.ts'
import { readVoice, VoiceCache } from './voices.ts'

const { flowStates } = readBundle(new TextDecoder().decode(bytesOf(golden.files['bundle.json']!)))
const whole = Object.fromEntries(readSafetensors(bytesOf(golden.voice)))
const positions = golden.heard_frames + 1

const names: Partial<Record<Tensor['type'], string>> = { float32: 'F32', int64: 'I64' }

/** A safetensors file. */
function file(tensors: Record<string, Tensor>): Uint8Array {
  const header: Record<string, object> = {}
  const parts: Uint8Array[] = []
  let at = 0
  for (const [name, { type, dims, data }] of Object.entries(tensors)) {
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    header[name] = { dtype: names[type], shape: dims, data_offsets: [at, at + bytes.length] }
    parts.push(bytes)
    at += bytes.length
  }
  const json = Buffer.from(JSON.stringify(header))
  return Buffer.concat([new Uint8Array(BigUint64Array.of(BigInt(json.length)).buffer), json, ...parts])
}

const floats = (...dims: number[]): Tensor => ({
  type: 'float32',
  dims,
  data: new Float32Array(dims.reduce((size, length) => size * length, 1)),
})
const whole64 = (value: bigint): Tensor => ({ type: 'int64', dims: [1], data: BigInt64Array.of(value) })

test('a voice takes the first positions, and the rest is filled as the bundle says', () => {
  const voice = readVoice(flowStates, bytesOf(golden.voice))
  expect(voice.length).toBe(positions)
  const start = startWith(flowStates, voice)
  const [cache, end, step] = [start['state_0']!, start['state_1']!, start['state_2']!]
  expect([cache.dims, end.dims, step.data]).toEqual([[2, 1, 160, 2, 8], [0], BigInt64Array.of(BigInt(positions))])
  const given = whole['transformer.layers.0.self_attn/cache']!.data as Float32Array
  const numbers = cache.data as Float32Array
  // The keys of all positions come before the values.
  const width = 2 * 8
  for (const side of [0, 1]) {
    const at = side * 160 * width
    const from = side * positions * width
    expect(numbers.slice(at, at + positions * width)).toEqual(given.slice(from, from + positions * width))
    expect(numbers.slice(at + positions * width, at + 160 * width).every(Number.isNaN)).toBe(true)
  }
})

test('in older files the length of a tensor gives the length of the voice', () => {
  const older = Object.entries(whole).map(([name, tensor]) =>
    name.endsWith('/offset') ? [name.replace('offset', 'current_end'), floats(positions)] : [name, tensor],
  )
  expect(readVoice(flowStates, file(Object.fromEntries(older)))).toEqual(readVoice(flowStates, bytesOf(golden.voice)))
})

test('later files count empty positions, and the count must be 0', () => {
  const pad = (count: bigint) => file({ ...whole, 'transformer.layers.0.self_attn/pad': whole64(count) })
  expect(readVoice(flowStates, pad(0n)).length).toBe(positions)
  expect(() => readVoice(flowStates, pad(2n))).toThrow('pad is not 0')
})

const first = 'transformer.layers.0.self_attn'
const { [`${first}/cache`]: _, ...without } = whole
const foreign: [string, Record<string, Tensor>, string][] = [
  ['more layers', { ...whole, 'transformer.layers.7.self_attn/cache': floats(1) }, 'has no transformer.layers.7'],
  ['fewer layers', without, `it has no ${first}/cache`],
  ['other heads', { ...whole, [`${first}/cache`]: floats(2, 1, positions, 4, 4) }, 'which is another model'],
  ['positions that lie', { ...whole, [`${first}/offset`]: whole64(3n) }, 'how long the voice is'],
  ['more positions than there is room', { ...whole, ...long() }, 'which is another model'],
  ['nothing', {}, 'how long the voice is'],
]

function long(): Record<string, Tensor> {
  const all = Object.keys(whole).map((name) => [name, name.endsWith('cache') ? floats(2, 1, 160, 2, 8) : whole64(160n)])
  return Object.fromEntries(all)
}

test.each(foreign)('a voice of another model is refused: %s', (_, tensors, message) => {
  expect(() => readVoice(flowStates, file(tensors))).toThrow(message)
})

const voice = (floatCount: number): Voice => ({ length: 1, states: { a: floats(floatCount) } })

test('parallel requests build a voice once, and the voice unused for longest is evicted first', async () => {
  const made: string[] = []
  const cache = new VoiceCache(100)
  const get = (key: string) =>
    cache.get(key, async () => {
      made.push(key)
      return voice(10)
    })
  const [one, same] = await Promise.all([get('a'), get('a')])
  expect(one).toBe(same)
  expect(sizeOf(one)).toBe(40)
  await get('b')
  await get('a')
  await get('c')
  expect(cache.sizeBytes).toBe(80)
  await get('a')
  await get('b')
  expect(made).toEqual(['a', 'b', 'c', 'b'])
})

test('a voice larger than the cache is built but not kept', async () => {
  const cache = new VoiceCache(10)
  expect((await cache.get('a', async () => voice(10))).length).toBe(1)
  expect(cache.sizeBytes).toBe(0)
})

test('a voice that failed to build is tried again', async () => {
  const cache = new VoiceCache(100)
  await expect(cache.get('a', async () => Promise.reject(new Error('no file')))).rejects.toThrow('no file')
  expect((await cache.get('a', async () => voice(1))).length).toBe(1)
})
