import { afterAll, beforeAll, expect, test } from 'bun:test'
import { concatS16, fromS16 } from '../../audio/pcm.ts'
import { Seeded } from '../../testing/seeded.ts'
import { clipRateHz, noise, silence, speech, words } from '../../testing/speech-clips.ts'
import { type CutPart, cutSpeech } from './windows.ts'
import { loadDetector, type SpeechDetector } from './detector.ts'

const never = new AbortController().signal
let detector: SpeechDetector
beforeAll(async () => {
  detector = await loadDetector()
})
afterAll(() => detector.unload())

async function* blocks(pcm: Float32Array, lengthOf: () => number) {
  for (let at = 0; at < pcm.length;) {
    const block = pcm.slice(at, at + lengthOf())
    at += block.length
    yield block
  }
}

async function cut(pcm: Float32Array, maxWindowMs: number, lengthOf = () => clipRateHz): Promise<CutPart[]> {
  const parts: CutPart[] = []
  for await (const part of cutSpeech(blocks(pcm, lengthOf), detector, { maxWindowMs }, never)) parts.push(part)
  return parts
}

const heard = (parts: readonly CutPart[]) => parts.map(({ heardMs }) => heardMs)

test('silence is reported as it passes, and has no windows', async () => {
  const parts = await cut(fromS16(concatS16([silence(25), noise(10, 0.05)])), 20_000)
  expect(parts.map(({ pcm }) => pcm)).toEqual(parts.map(() => null))
  expect(heard(parts).length).toBeWithin(4, 6)
  expect(heard(parts).at(-1)).toBe(35_000)
})

test('an empty sound has no parts', async () => {
  expect(await cut(new Float32Array(0), 20_000)).toEqual([])
})

test('speech comes in the same windows, however the sound was divided', async () => {
  const sentence = await speech(words)
  const other = await speech('Nobody knows why they do it, for no bird has said so.', 'slt')
  const pcm = fromS16(concatS16([silence(3), sentence, silence(2), other, sentence, other, sentence, silence(11)]))
  const parts = await cut(pcm, 12_000)
  const windows = parts.filter(({ pcm: window }) => window !== null)
  expect(windows.length).toBeWithin(2, 5)
  for (const { startMs, pcm: window } of windows) {
    const from = startMs * (clipRateHz / 1000)
    expect(window).toEqual(pcm.slice(from, from + window!.length))
    expect(window!.length).toBeLessThanOrEqual(12 * clipRateHz)
  }
  const spans = await detector.detect(pcm, never)
  const isInside = (atMs: number) =>
    windows.some(({ startMs, pcm: window }) => atMs >= startMs && atMs <= startMs + window!.length / 16)
  for (const { startMs, endMs } of spans) expect([isInside(startMs + 30), isInside(endMs - 30)]).toEqual([true, true])
  expect(heard(parts)).toEqual(heard(parts).toSorted((a, b) => a - b))
  expect(heard(parts).at(-1)).toBe(pcm.length / 16)

  const random = new Seeded(7)
  expect(await cut(pcm, 12_000, () => random.whole(1, 5000))).toEqual(parts)
})

test('an abort ends it, and a consumer that stops early closes the sound', async () => {
  const abort = new AbortController()
  let isClosed = false
  async function* endless() {
    try {
      for (;;) yield new Float32Array(4000)
    } finally {
      isClosed = true
    }
  }
  const cutting = cutSpeech(endless(), detector, { maxWindowMs: 20_000 }, abort.signal)
  expect((await cutting.next()).value?.pcm).toBe(null)
  abort.abort(new Error('enough'))
  const failure = await cutting.next().catch((error: unknown) => error)
  expect([String(failure), isClosed]).toEqual(['Error: enough', true])

  isClosed = false
  for await (const part of cutSpeech(endless(), detector, { maxWindowMs: 20_000 }, never)) {
    expect(part.pcm).toBe(null)
    break
  }
  expect(isClosed).toBe(true)
})

test('a failing sound passes on its error', async () => {
  async function* broken() {
    yield new Float32Array(16_000)
    throw new Error('the rest of the file is missing')
  }
  const cutting = cutSpeech(broken(), detector, { maxWindowMs: 20_000 }, never)
  const failure = await cutting.next().catch((error: unknown) => error)
  expect(String(failure)).toBe('Error: the rest of the file is missing')
})
