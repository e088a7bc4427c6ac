import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { concatS16, fromS16 } from '../../audio/pcm.ts'
import { readWav } from '../../audio/wav.ts'
import { clipRateHz, goldenClips, hashOf, noise, silence, speech, tone, words } from '../../testing/speech-clips.ts'
import { loadDetector, type SpeechDetector } from './detector.ts'
import golden from './golden.json' with { type: 'json' }

const never = new AbortController().signal
let detector: SpeechDetector
beforeAll(async () => {
  detector = await loadDetector()
})
afterAll(() => detector.unload())

const detect = (pcm: Int16Array) => detector.detect(fromS16(pcm), never)
const secondsOf = (pcm: Int16Array) => pcm.length / clipRateHz

test('the graph gives the same numbers as in Python', async () => {
  const clips = await goldenClips()
  for (const [name, { hash, probabilities }] of Object.entries(golden)) {
    const pcm = clips[name]!
    // If the clip differs from the one that was measured: bun scripts/golden-vad.ts
    expect([name, hashOf(pcm)]).toEqual([name, hash])
    const ours = await detector.probabilities(fromS16(pcm), never)
    expect(ours.length).toBe(probabilities.length)
    const differences = ours.map((probability, i) => Math.abs(probability - probabilities[i]!))
    expect(Math.max(...differences)).toBeLessThan(1e-3)
  }
})

const notSpeech: [string, Int16Array][] = [
  ['nothing at all', new Int16Array(0)],
  ['one sample', Int16Array.of(30_000)],
  ['a tenth of a second', noise(0.1)],
  ['silence', silence(3)],
  ['a tone', tone(3, 440)],
  ['noise', noise(3)],
  ['noise that clips', noise(3, 20)],
]

test.each(notSpeech)('finds no speech in %s', async (_, pcm) => {
  expect(await detect(pcm)).toEqual([])
})

test.each(['rms', 'slt', 'awb', 'kal16'])('the built-in voice %s is speech', async (voiceId) => {
  const pcm = await speech(words, voiceId)
  const spans = await detect(pcm)
  const spokenMs = spans.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0)
  expect(spokenMs).toBeGreaterThan(800 * secondsOf(pcm))
})

test('finds speech with pauses at the right times', async () => {
  const one = await speech('Good morning to you all.')
  const pcm = concatS16([silence(1), one, silence(1.5), one, silence(1)])
  const spans = await detect(pcm)
  expect(spans.length).toBe(2)
  const starts = [1, 2.5 + secondsOf(one)].map((startS) => 1000 * startS)
  for (const [index, startMs] of starts.entries()) {
    // These clips begin with some 0.2 s of silence.
    expect(spans[index]!.startMs).toBeWithin(startMs, startMs + 400)
    expect(spans[index]!.endMs).toBeWithin(startMs + 600, startMs + 1000 * secondsOf(one) + 100)
  }
})

test('an abort ends it between two windows', async () => {
  const abort = new AbortController()
  const waiting = detector.detect(fromS16(silence(600)), abort.signal).catch((error: unknown) => error)
  setImmediate(() => abort.abort(new Error('enough')))
  expect(String(await waiting)).toBe('Error: enough')
})

const reading = join(import.meta.dir, '../../../../shared/data/clips/two_cities_16k.wav')

// The clip is not in the repository.
test.skipIf(!existsSync(reading))('finds the speech of a real reader', async () => {
  const { pcm } = readWav(await Bun.file(reading).bytes())
  const spans = await detect(pcm.slice(0, 10 * clipRateHz))
  expect(spans.length).toBeWithin(3, 7)
  expect(spans[0]!.startMs).toBeWithin(900, 1400)
})
