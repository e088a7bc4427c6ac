import { expect, test } from 'bun:test'
import { levelDb } from '../../audio/pcm.ts'
import { Seeded } from '../../testing/seeded.ts'
import { bandLevels, bandsHz, equalizer, filtered } from './spectrum.ts'

const rateHz = 16_000
const random = new Seeded(3)
const white = Float32Array.from({ length: 4 * rateHz }, () => 0.2 * (2 * random.next() - 1))
const sine = (hz: number) =>
  Float32Array.from({ length: rateHz }, (_, i) => 0.2 * Math.sin((2 * Math.PI * hz * i) / rateHz))
const flat = bandsHz.map(() => 0)

test('white noise is flat; a tone stands out in its own band', () => {
  const levels = bandLevels(white, rateHz)!
  const mean = levels.reduce((sum, level) => sum + level, 0) / levels.length
  for (const level of levels) expect(Math.abs(level - mean)).toBeLessThan(1.5)
  for (const band of [0, 5, 12, 17]) {
    const heard = bandLevels(sine(bandsHz[band]!), rateHz)!
    expect(heard.indexOf(Math.max(...heard))).toBe(band)
  }
})

test('pauses do not count; no sound has no colour', () => {
  const paused = new Float32Array(white.length * 2)
  paused.set(white, 8192)
  const [heard, alone] = [bandLevels(paused, rateHz)!, bandLevels(white, rateHz)!]
  for (const [band, level] of alone.entries()) expect(Math.abs(heard[band]! - level)).toBeLessThan(0.3)
  expect(bandLevels(new Float32Array(rateHz), rateHz)).toBeNull()
  expect(bandLevels(new Float32Array(100), rateHz)).toBeNull()
})

test('a band that holds nothing is 60 dB below the strongest, not infinitely', () => {
  const levels = bandLevels(sine(500), rateHz)!
  expect(Math.min(...levels)).toBeCloseTo(Math.max(...levels) - 60, 6)
})

test('the filter has the gains that it was made for, also at the rate that a clone is played at', () => {
  const gains = bandsHz.map((_, band) => (band < 6 ? -9 : band < 12 ? 0 : 9))
  for (const playedHz of [16_000, 19_200]) {
    const filter = equalizer(gains, playedHz)
    for (const band of [2, 9, 15]) {
      const hz = bandsHz[band]!
      const given = Float32Array.from({ length: playedHz }, (_, i) => 0.1 * Math.sin((2 * Math.PI * hz * i) / playedHz))
      const middle = (samples: Float32Array) => samples.slice(2000, 14_000)
      const gainDb = levelDb(middle(filtered(given, filter))) - levelDb(middle(given))
      expect(Math.abs(gainDb - gains[band]!)).toBeLessThan(1)
    }
  }
})

test('a flat filter changes nothing and delays nothing', () => {
  const output = filtered(white, equalizer(flat, rateHz))
  expect(output.length).toBe(white.length)
  for (let i = 0; i < 4000; i++) expect(Math.abs(output[i]! - white[i]!)).toBeLessThan(1e-6)
})
