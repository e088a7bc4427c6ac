import { describe, expect, test } from 'bun:test'
import { Seeded } from '../testing/seeded.ts'
import { Fft, hann } from './fft.ts'

const lengths = [1, 2, 4, 8, 64, 3, 5, 7, 12, 15, 45, 98, 400, 480, 1001, 1024, 1200]

function noise(length: number, seed: number): [Float64Array, Float64Array] {
  const random = new Seeded(seed)
  const values = () => Float64Array.from({ length }, () => random.next() - 0.5)
  return [values(), values()]
}

/** Computed directly from the definition. */
function direct(re: Float64Array, im: Float64Array): [number, number][] {
  const { length } = re
  return Array.from({ length }, (_, k) => {
    let [sumRe, sumIm] = [0, 0]
    for (let n = 0; n < length; n++) {
      const angle = (-2 * Math.PI * ((k * n) % length)) / length
      sumRe += re[n]! * Math.cos(angle) - im[n]! * Math.sin(angle)
      sumIm += re[n]! * Math.sin(angle) + im[n]! * Math.cos(angle)
    }
    return [sumRe, sumIm]
  })
}

describe.each(lengths)('length %d', (length) => {
  test('equals the sum that defines it', () => {
    const [re, im] = noise(length, length)
    const expected = direct(re, im)
    new Fft(length).transform(re, im)
    const error = Math.max(...expected.map(([x, y], k) => Math.hypot(re[k]! - x, im[k]! - y)))
    expect(error, `seed ${length}`).toBeLessThan(1e-10)
  })

  test('keeps the energy (Parseval)', () => {
    const [re, im] = noise(length, 7 * length)
    const energy = () => re.reduce((sum, x, i) => sum + x * x + im[i]! ** 2, 0)
    const before = energy()
    new Fft(length).transform(re, im)
    expect(energy() / length / before, `seed ${7 * length}`).toBeCloseTo(1, 12)
  })

  test('gives the same result again with the same working space', () => {
    const fft = new Fft(length)
    const [first, second] = [noise(length, 3), noise(length, 3)]
    fft.transform(...noise(length, 4))
    fft.transform(...first)
    fft.transform(...second)
    expect(first).toEqual(second)
  })
})

test.each([64, 400])('a sine falls into its bin and its mirror, length %d', (length) => {
  const re = Float64Array.from({ length }, (_, n) => Math.sin((2 * Math.PI * 5 * n) / length))
  const im = new Float64Array(length)
  new Fft(length).transform(re, im)
  const size = re.map((x, k) => Math.hypot(x, im[k]!))
  for (let k = 0; k < length; k++) expect(size[k]!).toBeCloseTo(k === 5 || k === length - 5 ? length / 2 : 0, 9)
  expect(im[5]!).toBeCloseTo(-length / 2, 9)
})

test('an impulse has every frequency in equal strength', () => {
  const re = new Float64Array(12)
  const im = new Float64Array(12)
  re[0] = 1
  new Fft(12).transform(re, im)
  for (const x of re) expect(x).toBeCloseTo(1, 12)
  for (const y of im) expect(y).toBeCloseTo(0, 12)
})

test('wrong lengths are refused', () => {
  for (const length of [0, -4, 2.5, Number.NaN]) expect(() => new Fft(length)).toThrow(RangeError)
  expect(() => new Fft(8).transform(new Float64Array(8), new Float64Array(4))).toThrow('expected 8 samples')
})

test("Hann's window sums to one when the windows overlap by half", () => {
  for (const length of [8, 400]) {
    const window = hann(length)
    expect(window[0]).toBe(0)
    expect(window[length / 2]).toBe(1)
    for (let i = 0; i < length / 2; i++) expect(window[i]! + window[i + length / 2]!).toBeCloseTo(1, 12)
  }
})
