import { expect, test } from 'bun:test'
import { buzz, clipRateHz, noise, silence, speech, tone, words } from '../testing/speech-clips.ts'
import { concatS16, fromS16 } from './pcm.ts'
import { measurePitch } from './pitch.ts'
import { Resampler } from './resample.ts'

const measure = (pcm: Int16Array, sampleRateHz = clipRateHz) => measurePitch(fromS16(pcm), sampleRateHz, async () => {})

test.each([65, 110, 175.5, 261.6, 440])('finds the pitch of a buzz and of a tone of %p Hz', async (hz) => {
  for (const pcm of [buzz(0.5, hz), tone(0.5, hz)]) {
    const pitch = await measure(pcm)
    expect(pitch!.medianHz / hz).toBeWithin(0.995, 1.005)
    expect(pitch!.deviationSemitones).toBeLessThan(0.1)
    expect(pitch!.voicedS).toBeWithin(0.4, 0.5)
  }
})

test('a swing of 3 semitones gives a deviation of 3 / sqrt(2)', async () => {
  const pitch = await measure(buzz(4, 150, 3))
  expect(pitch!.medianHz).toBeWithin(145, 155)
  expect(pitch!.deviationSemitones).toBeWithin(1.9, 2.4)
})

test('the sample rate does not matter', async () => {
  for (const rateHz of [8000, 22_050, 48_000]) {
    const resampler = new Resampler(clipRateHz, rateHz)
    const samples = resampler.push(fromS16(buzz(1, 120)))
    const pitch = await measurePitch(samples, rateHz, async () => {})
    expect(pitch!.medianHz).toBeWithin(119, 121)
  }
})

test.each([
  ['nothing', new Int16Array(0)],
  ['silence', silence(2)],
  ['a constant', new Int16Array(20_000).fill(900)],
  ['noise', noise(3)],
  ['noise that clips', noise(3, 20)],
  ['too little to see a period', tone(0.03, 200)],
])('finds no pitch in %s', async (_, pcm) => {
  expect((await measure(pcm))?.voicedS ?? 0).toBeLessThan(0.1)
})

test('quiet hum beside speech does not count', async () => {
  const hum = tone(2, 100).map((sample) => sample / 200)
  const alone = await measure(await speech(words, 'slt'))
  const both = await measure(concatS16([hum, await speech(words, 'slt'), hum]))
  expect(both!.medianHz).toBeWithin(0.99 * alone!.medianHz, 1.01 * alone!.medianHz)
})

// The results of librosa's pYIN for the same sentences, in Hz, at its own threshold.
test.each([
  ['rms', 102.1],
  ['slt', 177.7],
  ['awb', 133.1],
])('the pitch of %s matches another estimator', async (voiceId, hz) => {
  expect((await measure(await speech(words, voiceId)))!.medianHz).toBeWithin(0.95 * hz, 1.05 * hz)
})

test('an error in a pause ends the measurement', async () => {
  const enough = () => Promise.reject(new Error('enough'))
  const waiting = measurePitch(fromS16(buzz(1, 120)), clipRateHz, enough).catch((error: Error) => error.message)
  expect(await waiting).toBe('enough')
})
