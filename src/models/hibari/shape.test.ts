import { expect, test } from 'bun:test'
import { Fft } from '../../audio/fft.ts'
import { bins, frameSamples } from './parameters.ts'
import { gainOf, type Shape, shapedPitch, Shaper } from './shape.ts'

const plain: Shape = { hz: 189, formants: 1, breathDb: 0, gainDb: gainOf([[0, 0]]) }
const rowOf = (value: (bin: number) => number) => Float32Array.from({ length: bins }, (_, bin) => value(bin))
const flat = rowOf(() => -3)
const shaped = (shape: Shape, logs: Float32Array, rests = flat, isVoiced = true) =>
  structuredClone(new Shaper(shape).shape([logs, flat], [rests, flat], [isVoiced, isVoiced])[0])

test('a gain goes through its knots and stays beyond them', () => {
  const gain = gainOf([
    [100, 6],
    [1000, 0],
  ])
  expect([gain[0], gain[5], gain[50], gain[600]]).toEqual([6, 6, 0, 0])
  expect(gain[20]).toBeWithin(1, 5)
})

test('the pitch moves with the shape within bounds, and what is unvoiced stays', () => {
  const moved = shapedPitch(Float32Array.of(189, 378, 3, -5, 60), { ...plain, hz: 378 })
  expect([...moved]).toEqual([378, 500, 3, -5, 120])
  expect(shapedPitch(Float32Array.of(60), { ...plain, hz: 60 })[0]).toBe(55)
})

test('a notch of two bins is filled, a formant of many stays where it is', () => {
  const notched = rowOf((bin) => (bin === 100 || bin === 101 ? -12 : -3))
  expect(Math.min(...shaped(plain, notched).harmonicLog)).toBeGreaterThan(-3.01)
  const formant = (centre: number) => rowOf((bin) => -5 + 4 * Math.exp(-(((bin - centre) / 12) ** 2)))
  const peakOf = (row: ArrayLike<number>) => Array.from(row).indexOf(Math.max(...Array.from(row)))
  expect(peakOf(shaped(plain, formant(100)).harmonicLog)).toBe(100)
  expect(peakOf(shaped({ ...plain, formants: 0.8 }, formant(100)).harmonicLog)).toBe(80)
  expect(peakOf(shaped({ ...plain, formants: 1.2 }, formant(100)).harmonicLog)).toBe(120)
  expect(peakOf(shaped({ ...plain, formants: 0.8 }, flat, formant(100)).restLog)).toBe(80)
})

test('gain reaches both parts, breath the rest alone and only where there is voice', () => {
  const louder = { ...plain, breathDb: 6, gainDb: gainOf([[0, 6]]) }
  const factor = (row: ArrayLike<number>) => Math.exp(row[300]! + 3)
  expect(factor(shaped(louder, flat).harmonicLog)).toBeCloseTo(10 ** 0.3, 3)
  expect(factor(shaped(louder, flat).restLog)).toBeCloseTo(10 ** 0.6, 3)
  expect(factor(shaped(louder, flat, flat, false).restLog)).toBeCloseTo(10 ** 0.3, 3)
  expect(Math.max(...shaped({ ...plain, gainDb: gainOf([[0, 200]]) }, flat).harmonicLog)).toBe(7)
})

test('the phase is that of the filter of least delay: its answer is in the first half', () => {
  const { harmonicLog, harmonicPhase } = shaped(
    plain,
    rowOf((bin) => -2 - bin / 150 + Math.cos(bin / 25)),
  )
  const re = new Float64Array(frameSamples)
  const im = new Float64Array(frameSamples)
  for (let bin = 0; bin < bins; bin++) {
    const mirrored = (frameSamples - bin) % frameSamples
    re[bin] = re[mirrored] = Math.exp(harmonicLog[bin]!) * Math.cos(harmonicPhase[bin]!)
    // The transform goes forward: with the other sign it goes back.
    im[bin] = -Math.exp(harmonicLog[bin]!) * Math.sin(harmonicPhase[bin]!)
    if (mirrored !== bin) im[mirrored] = -im[bin]!
  }
  new Fft(frameSamples).transform(re, im)
  const powers = re.map((sample) => sample ** 2)
  const whole = powers.reduce((sum, power) => sum + power, 0)
  const firstHalf = powers.subarray(0, frameSamples / 2).reduce((sum, power) => sum + power, 0)
  expect(firstHalf / whole).toBeGreaterThan(0.999)
})
