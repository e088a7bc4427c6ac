import { describe, expect, test } from 'bun:test'
import { concatFloats } from './pcm.ts'
import { Resampler, resamplerNear, rough } from './resample.ts'

const ratesHz = [8000, 16000, 22050, 24000, 32000, 44100, 48000]
const pairs = ratesHz.flatMap((from) => ratesHz.filter((to) => to !== from).map((to) => [from, to] as const))

const sine = (hz: number, rateHz: number, length: number): Float32Array =>
  Float32Array.from({ length }, (_, i) => Math.sin((2 * Math.PI * hz * i) / rateHz + 0.5))

function convert(samples: Float32Array, fromHz: number, toHz: number): Float32Array {
  const resampler = new Resampler(fromHz, toHz)
  return concatFloats([resampler.push(samples), resampler.flush()])
}

/** The middle half of a signal, far enough from its ends. */
const middle = (length: number): [number, number] => [Math.floor(length / 4), Math.floor((3 * length) / 4)]

interface Fit {
  gainDb: number
  phase: number
  /** Everything but the sine: images, aliases, noise. */
  restDb: number
}

/** Least squares of a sine and a cosine over the middle. */
function fitSine(samples: Float32Array, hz: number, rateHz: number): Fit {
  const [start, end] = middle(samples.length)
  let ss = 0
  let sc = 0
  let cc = 0
  let xs = 0
  let xc = 0
  for (let i = start; i < end; i++) {
    const s = Math.sin((2 * Math.PI * hz * i) / rateHz)
    const c = Math.cos((2 * Math.PI * hz * i) / rateHz)
    ss += s * s
    sc += s * c
    cc += c * c
    xs += samples[i]! * s
    xc += samples[i]! * c
  }
  const determinant = ss * cc - sc * sc
  const a = (xs * cc - xc * sc) / determinant
  const b = (xc * ss - xs * sc) / determinant
  let rest = 0
  for (let i = start; i < end; i++) {
    const angle = (2 * Math.PI * hz * i) / rateHz
    rest += (samples[i]! - a * Math.sin(angle) - b * Math.cos(angle)) ** 2
  }
  return {
    gainDb: 10 * Math.log10(a * a + b * b),
    phase: Math.atan2(b, a),
    restDb: 10 * Math.log10((2 * rest) / (end - start)),
  }
}

describe.each(pairs)('%d to %d Hz', (from, to) => {
  const lowerNyquist = Math.min(from, to) / 2
  const length = Math.round(from * 0.3)

  test('passes frequencies below 0.9 of the lower Nyquist frequency unshifted, and adds nothing', () => {
    for (const share of [0.01, 0.1, 0.33, 0.5, 0.7, 0.8, 0.85, 0.9]) {
      const hz = share * lowerNyquist
      const fit = fitSine(convert(sine(hz, from, length), from, to), hz, to)
      expect(Math.abs(fit.gainDb)).toBeLessThan(0.01)
      expect(Math.abs(fit.phase - 0.5)).toBeLessThan(0.001)
      expect(fit.restDb).toBeLessThan(-85)
    }
  })

  test('images and aliases of higher frequencies stay below -80 dB', () => {
    const nyquist = from / 2
    for (let hz = lowerNyquist; hz < nyquist * 0.999; hz += nyquist / 23) {
      const output = convert(sine(hz, from, length), from, to)
      const [start, end] = middle(output.length)
      let energy = 0
      for (let i = start; i < end; i++) energy += output[i]! ** 2
      expect(10 * Math.log10((2 * energy) / (end - start))).toBeLessThan(-80)
    }
    // Between the edges a sine may be weakened, but it may have no image above the output's or the input's band.
    for (const share of [0.92, 0.95, 0.98]) {
      const hz = share * lowerNyquist
      expect(fitSine(convert(sine(hz, from, length), from, to), hz, to).restDb).toBeLessThan(-80)
    }
  })

  test('gives exactly as many samples as the duration needs, and the same ones for any block size', () => {
    const seed = 20261121 + from + to
    let state = seed
    const random = () => (state = (state * 48271) % 2147483647) / 2147483647
    for (const samples of [0, 1, 2, 777, 4801].map((n) => Float32Array.from({ length: n }, () => random() - 0.5))) {
      const whole = convert(samples, from, to)
      expect(whole.length).toBe(Math.round((samples.length * to) / from))
      const resampler = new Resampler(from, to)
      const parts: Float32Array[] = []
      for (let at = 0; at < samples.length;) {
        const size = random() < 0.3 ? 1 : Math.floor(random() * 900)
        parts.push(resampler.push(samples.subarray(at, at + size)))
        at += size
      }
      parts.push(resampler.flush())
      expect(Buffer.from(concatFloats(parts).buffer).equals(Buffer.from(whole.buffer)), `seed ${seed}`).toBe(true)
    }
  })
})

describe.each([24_000, 44_100, 48_000])('the coarse filter from %d to 16000 Hz', (from) => {
  const convertRoughly = (samples: Float32Array) => {
    const resampler = new Resampler(from, 16_000, rough)
    return concatFloats([resampler.push(samples), resampler.flush()])
  }

  test('passes 7 kHz unchanged, and no audible alias of anything from 7.6 kHz up', () => {
    for (const hz of [50, 440, 1000, 3500, 7000]) {
      const fit = fitSine(convertRoughly(sine(hz, from, from / 2)), hz, 16_000)
      expect(Math.abs(fit.gainDb)).toBeLessThan(0.05)
      expect(fit.restDb).toBeLessThan(-55)
    }
    for (let hz = 8400; hz < from / 2; hz += 500) {
      const output = convertRoughly(sine(hz, from, from / 2))
      const [start, end] = middle(output.length)
      const energy = output.subarray(start, end).reduce((sum, sample) => sum + sample ** 2, 0)
      expect(10 * Math.log10((2 * energy) / (end - start))).toBeLessThan(-55)
    }
  })
})

test('a rate without a filter of its own uses the nearest one', () => {
  expect(() => new Resampler(44_101, 16_000)).toThrow(RangeError)
  expect(resamplerNear(44_101, 16_000).push(new Float32Array(44_100)).length).toBeGreaterThan(15_000)
  expect(() => resamplerNear(16_000 * 17, 16_000)).toThrow(RangeError)
})

test('an impulse keeps its position', () => {
  const impulse = new Float32Array(4000)
  impulse[1000] = 1
  const output = convert(impulse, 16000, 48000)
  expect(output.indexOf(Math.max(...output))).toBe(3000)
})

test('a constant stays constant', () => {
  const output = convert(new Float32Array(8000).fill(0.5), 22050, 32000)
  for (const sample of output.subarray(...middle(output.length))) expect(Math.abs(sample - 0.5)).toBeLessThan(1e-6)
})

test('can be reused after its end', () => {
  const samples = sine(440, 24000, 3000)
  const resampler = new Resampler(24000, 16000)
  const first = concatFloats([resampler.push(samples), resampler.flush()])
  expect(concatFloats([resampler.push(samples), resampler.flush()])).toEqual(first)
})

test('equal rates copy', () => {
  const resampler = new Resampler(24000, 24000)
  const samples = Float32Array.of(1, 2, 3)
  const output = resampler.push(samples)
  expect(output).toEqual(samples)
  expect(output.buffer).not.toBe(samples.buffer)
  expect(resampler.flush().length).toBe(0)
})

test.each([
  [0, 24000],
  [-8000, -8000],
  [24000, NaN],
  [24000.5, 48000],
  [8000, 1],
  [44101, 48000],
  [1000, 48000],
])('refuses %d to %d Hz', (from, to) => {
  expect(() => new Resampler(from, to)).toThrow(RangeError)
})
