import { expect, test } from 'bun:test'
import { ClipRefused } from '../architecture.ts'
import { voiceClip } from './clone.ts'
import written from './text.golden.json'

const rateHz = 24_000
const frame = 1920
const clipOf = (pcm: Float32Array, sampleRateHz = rateHz) => ({ pcm, sampleRateHz })
const toned = (seconds: number, hz = 200, rate = rateHz) =>
  Float32Array.from({ length: seconds * rate }, (_, at) => 0.3 * Math.sin((2 * Math.PI * hz * at) / rate))

const kinds: Record<string, (at: number) => number> = {
  'speech that goes on': (at) => 0.3 * Math.sin(at / 9),
  'silence behind': (at) => (at < 13_000 ? 0.3 * Math.sin(at / 9) : 0.001 * Math.sin(at / 7)),
  'dying away': (at) => 0.3 * Math.sin(at / 9) * Math.exp(-at / 3000),
}

test.each(written.clips)('a clip ends in a short pause, as in the package: $kind', ({ kind, length, samples }) => {
  const pcm = voiceClip(clipOf(Float32Array.from({ length: 24_000 }, (_, at) => kinds[kind]!(at))), rateHz, frame)
  expect(pcm.length).toBe(Math.ceil(length / frame) * frame)
  const ours = pcm.filter((_, at) => at < length && at % 997 === 0)
  expect(ours.length).toBe(samples.length)
  // The package fades to its last sample, ours to the sample after it.
  for (const [at, sample] of ours.entries()) expect(Math.abs(sample - samples[at]!)).toBeLessThan(1e-3)
})

test('the level stays, the sample rate becomes the model’s, and the length is a whole number of frames', () => {
  const pcm = voiceClip(clipOf(toned(2, 200, 48_000), 48_000), rateHz, frame)
  expect(pcm.length % frame).toBe(0)
  expect(pcm.length).toBe(Math.ceil((2.08 * rateHz) / frame) * frame)
  const same = toned(2)
  for (let at = 1000; at < 40_000; at += 500) expect(Math.abs(pcm[at]! - same[at]!)).toBeLessThan(0.01)
})

test('only the first 30 s are used', () => {
  const pcm = voiceClip(clipOf(toned(60, 100, 8000), 8000), rateHz, frame)
  expect(pcm.length).toBe(30 * rateHz)
})

test('a short clip is used completely', () => {
  expect(voiceClip(clipOf(toned(0.01)), rateHz, frame).length).toBe(2 * frame)
})

test.each([0, 100, 48_000])('silence of %p samples is refused with a message for its owner', (length) => {
  expect(() => voiceClip(clipOf(new Float32Array(length)), rateHz, frame)).toThrow(ClipRefused)
})
