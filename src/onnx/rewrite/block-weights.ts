/** Weights as `MatMulNBits` takes them: unsigned bytes in blocks of one output's inputs, each block with its scale. */
import { discard } from '../discard.ts'
import { floatsOf, largest, middle, type StoredBytes } from './stored-weights.ts'

export const blockSize = 32

/** Blocks of one output; the last one is filled up with zeros. */
export const blocksOf = (inputs: number): number => Math.ceil(inputs / blockSize)

export interface BlockWeights {
  /** [outputs, blocks, 32] */
  blocks: Uint8Array
  /** [outputs, blocks] */
  scales: Float32Array
}

/** The byte that means 0. @param bytes null: weights of 32 bits */
export function zeroByte(bytes: Pick<StoredBytes, 'zero' | 'isSigned'> | null): number {
  if (bytes === null) return middle
  return bytes.isSigned ? bytes.zero + middle : bytes.zero
}

/** Weights of eight bits: the same numbers. */
export function unsignedBlocks({ raw, outputs, inputs, turned, scale, zero, isSigned }: StoredBytes): BlockWeights {
  const count = blocksOf(inputs)
  const width = count * blockSize
  const shift = isSigned ? middle : 0
  const blocks = new Uint8Array(outputs * width).fill(zero + shift)
  for (let output = 0; output < outputs; output++) {
    for (let input = 0; input < inputs; input++) {
      const at = turned ? input * outputs + output : output * inputs + input
      blocks[output * width + input] = raw[at]! + shift
    }
  }
  return { blocks, scales: new Float32Array(outputs * count).fill(scale) }
}

/** Weights of 32 bits, each rounded to the nearest of 255 steps up to the largest of its block. */
export function roundedBlocks(raw: Uint8Array, outputs: number, inputs: number, turned: boolean): BlockWeights {
  const values = floatsOf(raw)
  const count = blocksOf(inputs)
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
  if (values.buffer !== raw.buffer) discard(values)
  return { blocks, scales }
}
