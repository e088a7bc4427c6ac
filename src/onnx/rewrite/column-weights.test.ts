import { expect, test } from 'bun:test'
import { forEachSeed } from '../../testing/seeded.ts'
import { columnBytes, convolutionBytes, signedBytes } from './column-weights.ts'

const bytesOf = (values: Float32Array): Uint8Array => new Uint8Array(values.buffer)

test('rounded weights are within half a step of the largest of their output, as stored or transposed', () =>
  forEachSeed(20, (random) => {
    const [outputs, inputs] = [random.whole(1, 9), random.whole(1, 100)]
    const values = Float32Array.from({ length: outputs * inputs }, () => 2 * random.next() - 1)
    for (const turned of [false, true]) {
      const { bytes, scales } = columnBytes(bytesOf(values), outputs, inputs, turned)
      for (let output = 0; output < outputs; output++) {
        for (let input = 0; input < inputs; input++) {
          const exact = values[turned ? input * outputs + output : output * inputs + input]!
          const found = bytes[input * outputs + output]! * scales[output]!
          expect(Math.abs(found - exact)).toBeLessThanOrEqual(0.5 * scales[output]! + 1e-6)
          expect(Math.abs(bytes[input * outputs + output]!)).toBeLessThanOrEqual(127)
        }
      }
    }
  }))

test('an output of zeros stays zero', () => {
  const { bytes, scales } = columnBytes(bytesOf(new Float32Array(8)), 2, 4, true)
  expect([...bytes, ...scales]).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 1, 1])
})

test('bytes stay the same numbers, signed or not, as stored or transposed', () =>
  forEachSeed(20, (random) => {
    const [outputs, inputs] = [random.whole(1, 9), random.whole(1, 100)]
    const raw = Uint8Array.from({ length: outputs * inputs }, () => random.whole(0, 255))
    for (const turned of [false, true]) {
      for (const shift of [0, 128]) {
        const found = signedBytes({ raw, outputs, inputs, turned, shift })
        for (let output = 0; output < outputs; output++) {
          for (let input = 0; input < inputs; input++) {
            const byte = raw[turned ? input * outputs + output : output * inputs + input]!
            expect(found[input * outputs + output]).toBe(shift === 0 ? (byte << 24) >> 24 : byte - shift)
          }
        }
      }
    }
  }))

test('weights of a convolution are turned, tap by tap', () => {
  // [outputs 2, channels 2, taps 3], each byte its own place.
  const raw = Uint8Array.from({ length: 12 }, (_, at) => at)
  const found = convolutionBytes({ raw, outputs: 2, channels: 2, taps: 3, shift: 0 })
  expect([...found]).toEqual([0, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11])
  const shifted = convolutionBytes({ raw, outputs: 2, channels: 2, taps: 3, shift: 128 })
  expect([...shifted]).toEqual([...found].map((byte) => byte - 128))
})
