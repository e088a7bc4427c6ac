/**
 * Writes what is stored of a cloned voice: the encoder's output for the clip, about 50 KB per second. It is not the
 * language model's memory of it, which is larger and differs between the exports of one family, all of which should
 * speak with it.
 *
 * Layout, little-endian: 8 bytes magic, version, frames and width as 32-bit numbers, the family's name (its length as
 * 32-bit number, UTF-8), frames times width floats, and the SHA-256 of everything before.
 */
import type { Tensor } from '../../onnx/session.ts'

const magic = 'myna-pkt'
const version = 1
const fixedBytes = 24
const hashBytes = 32

/** @param heard float32 [1, frames, width] @param family the card's */
export function writeState(heard: Tensor, family: string): Uint8Array {
  const [, frames = 0, width = 0] = heard.dims
  const name = new TextEncoder().encode(family)
  const numbers = heard.data as Float32Array
  const body = new Uint8Array(fixedBytes + name.length + numbers.byteLength)
  body.set(new TextEncoder().encode(magic))
  const view = new DataView(body.buffer)
  for (const [at, value] of [version, frames, width, name.length].entries()) view.setUint32(8 + 4 * at, value, true)
  body.set(name, fixedBytes)
  body.set(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength), fixedBytes + name.length)
  const state = new Uint8Array(body.length + hashBytes)
  state.set(body)
  state.set(sha256(body), body.length)
  return state
}

export interface HeardVoice {
  /** float32 [1, frames, width]. */
  heard: Tensor
  /** Equal only for equal voices. */
  key: string
}

/** @throws Error that says what is wrong, for the log: the voice has to be cloned again */
export function readState(state: Uint8Array, family: string, width: number): HeardVoice {
  const view = new DataView(state.buffer, state.byteOffset, state.byteLength)
  const isOurs = state.length >= fixedBytes + hashBytes && utf8(state.subarray(0, 8)) === magic
  if (!isOurs) throw new Error('this is not a cloned voice of Pocket TTS: clone it again')
  const [found, frames, wide, nameLength] = [0, 1, 2, 3].map((at) => view.getUint32(8 + 4 * at, true))
  if (found !== version) throw new Error(`this voice was cloned by another version (${found}): clone it again`)
  const body = state.subarray(0, state.length - hashBytes)
  const hash = state.subarray(state.length - hashBytes)
  if (!sha256(body).equals(hash)) throw new Error('this cloned voice is damaged: clone it again')
  const name = utf8(body.subarray(fixedBytes, fixedBytes + nameLength!))
  if (name !== family) throw new Error(`this voice was cloned with ${name}, not with ${family}: clone it again`)
  const data = new Float32Array(new Uint8Array(body.subarray(fixedBytes + nameLength!)).buffer)
  if (wide !== width || data.length !== frames! * width) {
    throw new Error(`this cloned voice has ${wide} numbers per frame, but ${width} are needed: clone it again`)
  }
  return { heard: { type: 'float32', dims: [1, frames!, width], data }, key: Buffer.from(hash).toString('hex') }
}

const utf8 = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

const sha256 = (bytes: Uint8Array): Buffer => new Bun.CryptoHasher('sha256').update(bytes).digest()
