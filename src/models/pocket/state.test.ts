import { expect, test } from 'bun:test'
import type { Tensor } from '../../onnx/session.ts'
import { readState, writeState } from './state.ts'

const heard: Tensor = {
  type: 'float32',
  dims: [1, 3, 4],
  data: Float32Array.from({ length: 12 }, (_, at) => Math.sin(at)),
}
const state = writeState(heard, 'pocket-tts-english')

test('the state of a clip is read back as written, at any offset of its bytes', () => {
  const shifted = new Uint8Array(state.length + 3)
  shifted.set(state, 3)
  const read = readState(shifted.subarray(3), 'pocket-tts-english', 4)
  expect(read.heard).toEqual(heard)
  expect(read.key).toBe(readState(state, 'pocket-tts-english', 4).key)
})

test('the same clip gives the same bytes, another clip another key', () => {
  expect(writeState(heard, 'pocket-tts-english')).toEqual(state)
  const other = writeState({ ...heard, data: new Float32Array(12) }, 'pocket-tts-english')
  expect(readState(other, 'pocket-tts-english', 4).key).not.toBe(readState(state, 'pocket-tts-english', 4).key)
})

test('each damaged byte is detected', () => {
  for (let at = 0; at < state.length; at++) {
    const damaged = state.slice()
    damaged[at]! ^= 1
    expect(() => readState(damaged, 'pocket-tts-english', 4)).toThrow('clone it again')
  }
  for (const length of [0, 5, 40, state.length - 1]) {
    expect(() => readState(state.subarray(0, length), 'pocket-tts-english', 4)).toThrow('clone it again')
  }
})

test('a voice of another model, width or version is refused in words', () => {
  expect(() => readState(state, 'pocket-tts-german', 4)).toThrow(
    'cloned with pocket-tts-english, not with pocket-tts-german',
  )
  expect(() => readState(state, 'pocket-tts-english', 8)).toThrow('has 4 numbers per frame, but 8 are needed')
  const later = state.slice()
  later[8] = 2
  expect(() => readState(later, 'pocket-tts-english', 4)).toThrow('cloned by another version (2)')
  const flite = new TextEncoder().encode(`{"flite":1,"name":"awb"}${' '.repeat(100)}`)
  expect(() => readState(flite, 'pocket-tts-english', 4)).toThrow('not a cloned voice of Pocket TTS')
})
