import { expect, test } from 'bun:test'
import { evened, reference, referenceRateHz, resampled, sound, trimmed } from './clip.ts'
import { concatFloats, fromS16, levelDb } from './pcm.ts'
import { buzz } from './encode/readback.fixture.ts'
import { readWav } from './wav.ts'

const speech = (seconds: number, rateHz: number, gain = 1) =>
  fromS16(buzz(seconds, rateHz)).map((sample) => sample * gain)
const silence = (seconds: number, rateHz: number) => new Float32Array(Math.round(seconds * rateHz))
/** A noise floor, which a recording has instead of digital silence. */
const hiss = (seconds: number, rateHz: number) => speech(seconds, rateHz, 1e-4)

test.each([
  ['silence', silence],
  ['hiss', hiss],
])('%s is trimmed to a fifth of a second at both ends and stays inside', (_, quiet) => {
  const parts = [quiet(2, 16000), speech(1, 16000), quiet(1.5, 16000), speech(1, 16000), quiet(3, 16000)]
  const kept = trimmed(concatFloats(parts), 16000)
  expect(kept.length / 16000).toBeCloseTo(0.2 + 3.5 + 0.2, 1)
})

test('trims nothing of a clip with sound to its ends, and nothing of silence', () => {
  expect(trimmed(speech(1, 24000), 24000).length).toBe(24000)
  expect(trimmed(silence(1, 24000), 24000).length).toBe(24000)
  expect(trimmed(new Float32Array(0), 24000).length).toBe(0)
})

test.each([0.001, 0.01, 0.1, 1, 3])('speech at %d of its level comes out at the standard level, unclipped', (gain) => {
  const even = evened(speech(2, 24000, gain))
  expect(Math.max(...even.map(Math.abs))).toBeLessThanOrEqual(0.951)
  const level = levelDb(even)
  if (gain >= 0.1) expect(level).toBeCloseTo(-23, 1)
  else expect(level).toBeLessThanOrEqual(-22.9)
})

test('one loud knock does not cause clipping', () => {
  const knocked = speech(1, 24000, 0.01)
  knocked[12_000] = 1
  expect(Math.max(...evened(knocked))).toBeCloseTo(0.95, 3)
  expect(evened(silence(1, 24000)).every((sample) => sample === 0)).toBe(true)
})

test.each([8000, 11024, 16000, 22050, 24000, 44056, 44100, 48000, 96000, 192000])(
  'a reference from %d Hz is converted to 24 kHz and keeps its length',
  async (rateHz) => {
    const pcm = await reference(speech(0.5, rateHz), rateHz)
    expect(pcm.length / referenceRateHz).toBeCloseTo(0.5, 2)
    expect((await resampled(speech(0.5, rateHz), rateHz, 16000)).length / 16000).toBeCloseTo(0.5, 2)
  },
)

test('refuses sample rates that audio does not have', async () => {
  const refused = (fromHz: number) => resampled(new Float32Array(10), fromHz, 16000).catch((error: unknown) => error)
  for (const fromHz of [0, -1, 1.5, NaN, 5]) expect(await refused(fromHz)).toBeInstanceOf(RangeError)
})

test('a minute of audio does not block other work', async () => {
  let turns = 0
  let isDone = false
  const work = resampled(speech(20, 48000), 48000, 16000).finally(() => (isDone = true))
  while (!isDone) {
    await new Promise<void>((resolve) => setImmediate(resolve))
    turns++
  }
  expect(turns).toBeGreaterThan(20)
  expect((await work).length).toBe(20 * 16000)
})

test('becomes a complete WAV file', () => {
  const pcm = buzz(0.1, 24000)
  expect(readWav(sound.wav(pcm, 24000))).toEqual({ sampleRateHz: 24000, pcm })
})
