import { expect, test } from 'bun:test'
import { forEachSeed } from '../../testing/seeded.ts'
import { blocksOf, type BlockWeights, blockSize, roundedBlocks, unsignedBlocks, zeroByte } from './block-weights.ts'

/** As `MatMulNBits` reads them. */
function valueAt(
  { blocks, scales }: BlockWeights,
  inputs: number,
  zero: number,
  output: number,
  input: number,
): number {
  const count = blocksOf(inputs)
  const scale = scales[output * count + Math.floor(input / blockSize)]!
  return (blocks[output * count * blockSize + input]! - zero) * scale
}

const bytesOf = (values: Float32Array): Uint8Array => new Uint8Array(values.buffer)

test('rounded weights are within half a step of the largest of their block, turned round or not', () =>
  forEachSeed(20, (random) => {
    const [outputs, inputs] = [random.whole(1, 9), random.whole(1, 100)]
    const values = Float32Array.from({ length: outputs * inputs }, () => 2 * random.next() - 1)
    for (const turned of [false, true]) {
      const weights = roundedBlocks(bytesOf(values), outputs, inputs, turned)
      for (let output = 0; output < outputs; output++) {
        for (let input = 0; input < inputs; input++) {
          const exact = values[turned ? input * outputs + output : output * inputs + input]!
          expect(Math.abs(valueAt(weights, inputs, zeroByte(null), output, input) - exact)).toBeLessThanOrEqual(
            0.5 / 127 + 1e-6,
          )
        }
      }
    }
  }))

test('a block of zeros stays zero', () => {
  const weights = roundedBlocks(bytesOf(new Float32Array(64)), 2, 32, false)
  expect([0, 31].map((input) => valueAt(weights, 32, zeroByte(null), 1, input))).toEqual([0, 0])
})

test('weights of eight bits stay the same numbers, signed or not', () =>
  forEachSeed(20, (random) => {
    const [outputs, inputs] = [random.whole(1, 9), random.whole(1, 100)]
    const raw = Uint8Array.from({ length: outputs * inputs }, () => random.whole(0, 255))
    for (const [isSigned, zero] of [
      [true, 0],
      [false, 131],
    ] as const) {
      const weights = unsignedBlocks({ raw, outputs, inputs, turned: true, scale: 0.5, zero, isSigned })
      for (let output = 0; output < outputs; output++) {
        for (let input = 0; input < inputs; input++) {
          const byte = raw[input * outputs + output]!
          const expected = 0.5 * ((isSigned ? (byte << 24) >> 24 : byte) - zero)
          expect(valueAt(weights, inputs, zeroByte({ zero, isSigned }), output, input)).toBeCloseTo(expected, 10)
        }
      }
    }
  }))
