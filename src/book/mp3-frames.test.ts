/** MP3 from our own encoder, taken apart and joined again. */
import { afterAll, expect, test } from 'bun:test'
import { MPEGDecoder } from 'mpg123-decoder'
import { EncoderPool } from '../audio/encode/pool.ts'
import { concatBytes } from '../audio/pcm.ts'
import { buzz } from '../audio/encode/readback.fixture.ts'
import { id3Tag } from './id3.ts'
import { mp3Stream } from './mp3-frames.ts'

const pool = new EncoderPool({ workers: 1 })
afterAll(() => pool.close())

async function mp3Of(pcm: Int16Array, rateHz: number): Promise<Uint8Array> {
  const encoder = await pool.open('mp3', rateHz)
  return concatBytes([await encoder.encode(pcm), await encoder.finish()])
}

async function decoded(bytes: Uint8Array): Promise<Float32Array> {
  const decoder = new MPEGDecoder()
  await decoder.ready
  const { channelData, errors } = decoder.decode(bytes)
  decoder.free()
  expect(errors).toEqual([])
  return channelData[0]!
}

test.each([8000, 16_000, 24_000, 44_100, 48_000])('its length is that of its frames, at %i Hz', async (rateHz) => {
  const bytes = await mp3Of(buzz(1.5, rateHz), rateHz)
  const { seconds, frames } = mp3Stream(bytes)
  expect(frames.length).toBe(bytes.length)
  const samples = await decoded(bytes)
  expect(Math.abs(seconds * rateHz - samples.length)).toBeLessThan(2 * 1152)
  expect(seconds).toBeGreaterThanOrEqual(1.5)
})

test('silence of the same kind lasts as long as requested and contains no sound', async () => {
  const { silence, frames } = mp3Stream(await mp3Of(buzz(0.5, 24_000), 24_000))
  const still = silence(1.8)
  expect(mp3Stream(still).seconds).toBeCloseTo(1.8, 1)
  const samples = await decoded(concatBytes([frames, still, frames]))
  const middle = samples.subarray(Math.floor(0.8 * 24_000), Math.floor(2.2 * 24_000))
  expect(middle.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)).toBeLessThan(0.001)
  expect(samples.length / 24_000).toBeCloseTo(2 * mp3Stream(frames).seconds + 1.8, 1)
})

test('joined streams sound like each one alone, without a click between them', async () => {
  const [one, other] = await Promise.all([mp3Of(buzz(0.6, 24_000), 24_000), mp3Of(buzz(0.6, 24_000, 2), 24_000)])
  const joined = await decoded(concatBytes([one!, other!]))
  const apart = await decoded(other!)
  const from = Math.round(mp3Stream(one!).seconds * 24_000)
  // A decoder's first frame is silent in both.
  const late = joined.length - apart.length - from
  const worst = apart.subarray(2000).reduce((most, sample, at) => {
    return Math.max(most, Math.abs(sample - (joined[from + late + 2000 + at] ?? 0)))
  }, 0)
  expect(worst).toBeLessThan(0.01)
})

test('a tag in front and rubbish behind are dropped, and data that is not MP3 is refused', async () => {
  const bytes = await mp3Of(buzz(0.3, 24_000), 24_000)
  const chapters = [{ title: 'One', startMs: 0, endMs: 300 }]
  const tagged = concatBytes([id3Tag({ title: 'x', author: null, chapters }), bytes, new Uint8Array(100)])
  expect(mp3Stream(tagged).frames).toEqual(mp3Stream(bytes).frames)
  expect(() => mp3Stream(new TextEncoder().encode('{"error":{}}'))).toThrow('something else than MP3')
  expect(() => mp3Stream(new Uint8Array(0))).toThrow('something else than MP3')
})
