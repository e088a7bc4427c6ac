import { expect, test } from 'bun:test'
import { hzToMel, melFilters, MelMeter, melToHz, type MelOptions } from './mel.ts'

const whisper: MelOptions = { sampleRateHz: 16_000, fftLength: 400, bands: 80, minHz: 0, maxHz: 8000, norm: 'slaney' }
const fine: MelOptions = { ...whisper, sampleRateHz: 24_000, fftLength: 16_384, bands: 40, maxHz: 12_000 }

test('the scale is linear to 1 kHz and logarithmic above, and can be inverted', () => {
  expect(hzToMel(0)).toBe(0)
  expect(hzToMel(200)).toBeCloseTo(3, 12)
  expect(hzToMel(1000)).toBeCloseTo(15, 12)
  expect(hzToMel(6400)).toBeCloseTo(42, 12)
  for (const hz of [1, 80, 999, 1000, 1001, 4321, 20_000]) expect(melToHz(hzToMel(hz))).toBeCloseTo(hz, 8)
})

// The numbers follow from the scale alone: 8 kHz is 45.2456 mel, so the bands of Whisper are 0.558588 mel apart, which
// below 1 kHz is 37.2392 Hz. Bin 1 is 40 Hz: above the top of band 0 and below that of band 1.
test("Whisper's filters have the weights that follow from the scale", () => {
  const [first, second] = melFilters(whisper)
  const step = 37.2392
  expect(first?.firstBin).toBe(1)
  expect([...first!.weights]).toEqual([expect.closeTo(((2 * step - 40) / step) * (1 / step), 6)])
  expect([...second!.weights]).toEqual([
    expect.closeTo(((40 - step) / step) * (1 / step), 6),
    expect.closeTo(((3 * step - 80) / step) * (1 / step), 6),
  ])
})

test.each([80, 128])('of %d bands in 201 bins, every band has weight, and no weight is negative', (bands) => {
  const filters = melFilters({ ...whisper, bands })
  expect(filters.length).toBe(bands)
  for (const { firstBin, weights } of filters) {
    expect(weights.length).toBeGreaterThan(0)
    expect(firstBin + weights.length).toBeLessThanOrEqual(201)
    expect(Math.min(...weights)).toBeGreaterThanOrEqual(0)
  }
})

test('with slaney every triangle has an area of 1', () => {
  const hzPerBin = fine.sampleRateHz / fine.fftLength
  for (const { weights } of melFilters(fine)) {
    expect(weights.reduce((sum, weight) => sum + weight, 0) * hzPerBin).toBeCloseTo(1, 3)
  }
})

test('with peak, the triangles together weigh every bin between the outer bands exactly once', () => {
  const sums = new Float64Array(fine.fftLength / 2 + 1)
  const filters = melFilters({ ...fine, norm: 'peak' })
  for (const { firstBin, weights } of filters)
    for (const [i, weight] of weights.entries()) sums[firstBin + i]! += weight
  const edgeMel = (at: number) => (hzToMel(12_000) * at) / 41
  const bin = (mel: number) => (melToHz(mel) * fine.fftLength) / fine.sampleRateHz
  const inner = sums.subarray(Math.ceil(bin(edgeMel(1))), Math.floor(bin(edgeMel(40))))
  expect(inner.length).toBeGreaterThan(5000)
  for (const sum of inner) expect(sum).toBeCloseTo(1, 9)
})

test('bands above the Nyquist frequency exist and are empty', () => {
  const filters = melFilters({ ...whisper, sampleRateHz: 8000, fftLength: 512 })
  expect(filters.length).toBe(80)
  expect(filters.at(-1)?.weights.length).toBe(0)
})

test('a sine is loudest in the band around it, whatever surrounds the frame', () => {
  const options = { ...whisper, norm: 'peak' } as const
  const meter = new MelMeter(options)
  const bands = new Float64Array(80)
  for (const band of [5, 20, 40, 60, 77]) {
    const hz = melToHz((hzToMel(8000) * (band + 1)) / 81)
    const sine = Float32Array.from({ length: 4000 }, (_, n) => Math.sin((2 * Math.PI * hz * n) / 16_000))
    for (const start of [-100, 0, 1800, 3700]) {
      meter.measure(sine, start, bands)
      expect(bands.indexOf(Math.max(...bands))).toBe(band)
    }
  }
})

test('a frame without samples is silent, and a short frame may use a longer transform', () => {
  const meter = new MelMeter({ ...whisper, fftLength: 512 }, 400)
  const bands = new Float64Array(80).fill(1)
  for (const start of [-400, 10, 99_999]) {
    meter.measure(new Int16Array(10).fill(1000), start, bands)
    expect(Math.max(...bands)).toBe(0)
  }
  meter.measure(new Int16Array(10).fill(1000), -200, bands)
  expect(Math.max(...bands)).toBeGreaterThan(0)
  expect(() => new MelMeter(whisper, 401)).toThrow(RangeError)
})
