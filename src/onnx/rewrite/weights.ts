/** Weights as `MatMulNBits` takes them: unsigned bytes in blocks of one output's inputs, each block with its scale. */
import { discard } from '../discard.ts'

const blockSize = 32
/** The zero of unsigned bytes. */
const middle = 128
const largest = 127

export interface BlockWeights {
  /** [outputs, blocks, 32]; the last block of an output is filled up with zeros. */
  dims: readonly [number, number, number]
  blocks: Uint8Array
  /** [outputs, blocks] */
  scales: Float32Array
  /** The byte that means 0. */
  zero: number
}

interface ByteWeights {
  raw: Uint8Array
  outputs: number
  inputs: number
  /** They stand as [inputs, outputs]. */
  turned: boolean
  scale: number
  zero: number
  isSigned: boolean
}

/** Weights of eight bits: the same numbers. */
export function unsignedWeights({ raw, outputs, inputs, turned, scale, zero, isSigned }: ByteWeights): BlockWeights {
  const count = Math.ceil(inputs / blockSize)
  const width = count * blockSize
  const shift = isSigned ? middle : 0
  const blocks = new Uint8Array(outputs * width).fill(zero + shift)
  for (let output = 0; output < outputs; output++) {
    for (let input = 0; input < inputs; input++) {
      const at = turned ? input * outputs + output : output * inputs + input
      blocks[output * width + input] = raw[at]! + shift
    }
  }
  const scales = new Float32Array(outputs * count).fill(scale)
  return { dims: [outputs, count, blockSize], blocks, scales, zero: zero + shift }
}

/** Weights of 32 bits, each rounded to the nearest of 255 steps up to the largest of its block. */
export function roundedWeights(raw: Uint8Array, outputs: number, inputs: number, turned: boolean): BlockWeights {
  const values = floatsOf(raw)
  const count = Math.ceil(inputs / blockSize)
  const blocks = new Uint8Array(outputs * count * blockSize).fill(middle)
  const scales = new Float32Array(outputs * count)
  const [perOutput, perInput] = turned ? [1, outputs] : [inputs, 1]
  for (let output = 0; output < outputs; output++) {
    for (let block = 0; block < count; block++) {
      const from = block * blockSize
      const length = Math.min(blockSize, inputs - from)
      const start = output * perOutput + from * perInput
      let most = 0
      for (let at = 0; at < length; at++) most = Math.max(most, Math.abs(values[start + at * perInput]!))
      const scale = most / largest || 1
      const place = (output * count + block) * blockSize
      scales[output * count + block] = scale
      for (let at = 0; at < length; at++) {
        blocks[place + at] = middle + Math.round(values[start + at * perInput]! / scale)
      }
    }
  }
  // A copy of the embedding takes 106 MB.
  if (values.buffer !== raw.buffer) discard(values)
  return { dims: [outputs, count, blockSize], blocks, scales, zero: middle }
}

/** Without a copy where they begin at a multiple of four. */
function floatsOf(raw: Uint8Array): Float32Array {
  const aligned = raw.byteOffset % 4 === 0 ? raw : raw.slice()
  return new Float32Array(aligned.buffer, aligned.byteOffset, aligned.length / 4)
}
