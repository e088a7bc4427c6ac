import published from '@ricky0123/vad-web/dist/silero_vad_v6.onnx' with { type: 'file' }
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { concatFloats, concatS16, fromS16 } from '../../audio/pcm.ts'
import { readWav } from '../../audio/wav.ts'
import { clipRateHz, goldenClips, hashOf, noise, silence, speech, tone, words } from '../../testing/speech-clips.ts'
import { createSession } from '../../onnx/back-end.ts'
import { loadDetector, type SpeechDetector, windowsAtOnce } from './detector.ts'
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
    // If the clip differs from the one that was measured: bun scripts/golden/vad.ts
    expect([name, hashOf(pcm)]).toEqual([name, hash])
    const ours = await detector.probabilities(fromS16(pcm), never)
    expect(ours.length).toBe(probabilities.length)
    const differences = ours.map((probability, i) => Math.abs(probability - probabilities[i]!))
    expect(Math.max(...differences)).toBeLessThan(1e-3)
  }
})

test('many windows at once give the numbers of the published graph, window by window', async () => {
  const file = await Bun.file(published).bytes()
  const session = await createSession(file, { threads: 1, onCpu: true, inline: true })
  const loop = session.loop({
    links: { state: 'stateN' },
    start: { state: { type: 'float32', dims: [2, 1, 128], data: new Float32Array(256) } },
    constants: { sr: { type: 'int64', dims: [], data: BigInt64Array.of(16_000n) } },
  })
  const pcm = fromS16(concatS16([await speech(words), noise(1), silence(0.5), await speech(words, 'slt')]))
  const listening = detector.listen()
  const before = new Float32Array(64)
  let checked = 0
  for (let at = 0, count = 1; at + 512 <= pcm.length; at += count * 512, count = (count % windowsAtOnce) + 1) {
    const windows = pcm.subarray(at, Math.min(at + count * 512, pcm.length - (pcm.length % 512)))
    for (const [index, probability] of (await listening.next(windows)).entries()) {
      const window = windows.subarray(index * 512, (index + 1) * 512)
      const data = concatFloats([before, window])
      before.set(window.subarray(512 - 64))
      const { output } = await loop.step({ input: { type: 'float32', dims: [1, 576], data } })
      expect(Math.abs(probability - Number(output!.data[0]))).toBeLessThan(1e-5)
      checked++
    }
  }
  expect(checked).toBe(Math.floor(pcm.length / 512))
  listening.release()
  loop.release()
  await session.release()
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
