import { expect, test } from 'bun:test'
import { forEachSeed } from '../testing/seeded.ts'
import { clipRateHz, speech, words } from '../testing/speech-clips.ts'
import { concatFloats, fromS16, levelDb } from './pcm.ts'
import { measurePitch } from './pitch.ts'
import { Stretcher } from './stretch.ts'

const rateHz = 24_000
const speeds = [0.25, 0.5, 0.8, 1.25, 2, 3, 4]

function stretched(pcm: Float32Array, speed: number, rate = rateHz, block = pcm.length): Float32Array {
  const stretcher = new Stretcher(rate, speed)
  const parts: Float32Array[] = []
  for (let at = 0; at < pcm.length; at += block) parts.push(stretcher.push(pcm.subarray(at, at + block)))
  return concatFloats([...parts, stretcher.flush()])
}

const sine = (hz: number, seconds: number) =>
  Float32Array.from({ length: seconds * rateHz }, (_, at) => 0.5 * Math.sin((2 * Math.PI * hz * at) / rateHz))

/** Upward zero crossings per second. */
const crossings = (pcm: Float32Array) => pcm.filter((sample, at) => sample >= 0 && pcm[at - 1]! < 0).length

test.each(speeds)('speed %p changes only the length of a tone', (speed) => {
  for (const hz of [90, 220, 1000]) {
    const tone = stretched(sine(hz, 2), speed)
    expect(tone.length).toBe(Math.round((2 * rateHz) / speed))
    // The end fades into silence.
    const heard = tone.subarray(0, tone.length - Math.round(0.05 * rateHz))
    expect((crossings(heard) * rateHz) / heard.length / hz).toBeWithin(0.98, 1.02)
    expect(Math.abs(levelDb(heard) - levelDb(sine(hz, 2)))).toBeLessThan(0.5)
  }
})

test.each(speeds)('speed %p: no click in a tone', (speed) => {
  for (const hz of [90, 220, 1000]) {
    const tone = stretched(sine(hz, 2), speed)
    const heard = tone.subarray(0, tone.length - Math.round(0.05 * rateHz))
    const steepest = 0.5 * ((2 * Math.PI * hz) / rateHz)
    for (let at = 1; at < heard.length; at++) expect(Math.abs(heard[at]! - heard[at - 1]!)).toBeLessThan(1.3 * steepest)
  }
})

const clip = fromS16(await speech(words, 'slt-180'))
const pitchOf = async (pcm: Float32Array) => (await measurePitch(pcm, clipRateHz, async () => {}))!.medianHz

test.each(speeds)('speed %p keeps the pitch and the level of speech', async (speed) => {
  const fast = stretched(clip, speed, clipRateHz)
  expect(fast.length).toBe(Math.round(clip.length / speed))
  expect((await pitchOf(fast)) / (await pitchOf(clip))).toBeWithin(0.98, 1.02)
  expect(Math.abs(levelDb(fast) - levelDb(clip))).toBeLessThan(1.5)
})

test('blocks of any size give the same sound', () =>
  forEachSeed(10, (random) => {
    const speed = random.pick(speeds)
    const pcm = clip.subarray(0, 20_000)
    expect(stretched(pcm, speed, clipRateHz, random.whole(1, 3000))).toEqual(stretched(pcm, speed, clipRateHz))
  }))

test('speed 1 returns the input', () => {
  expect(stretched(clip, 1, clipRateHz, 777)).toEqual(clip)
})

test('handles short and empty streams', () => {
  for (const length of [0, 1, 10, 500, 2000]) {
    for (const speed of speeds)
      expect(stretched(new Float32Array(length), speed).length).toBe(Math.round(length / speed))
  }
})

test('a stretcher starts afresh after its end', () => {
  const stretcher = new Stretcher(clipRateHz, 1.5)
  const first = concatFloats([stretcher.push(clip), stretcher.flush()])
  expect(concatFloats([stretcher.push(clip), stretcher.flush()])).toEqual(first)
})

test.each([0, 0.2, 4.1, NaN, -1])('refuses speed %p', (speed) => {
  expect(() => new Stretcher(rateHz, speed)).toThrow(RangeError)
})
