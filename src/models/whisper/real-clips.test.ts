import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { realWeights } from '../../testing/real-weights.ts'
import type { TranscriptionModel } from '../architecture.ts'
import { loadDetector, type SpeechDetector } from '../silero/detector.ts'
import { cutSpeech } from '../silero/windows.ts'
import { concatFloats } from '../../audio/pcm.ts'
import { smallCard } from './model.fixture.ts'
import { hasRealClips, realClip } from './parity.fixture.ts'
import { load } from './pipeline.ts'

setDefaultTimeout(180_000)

const never = new AbortController().signal
const folder = realWeights('whisper-base-fp32')
const isHere = folder !== null && hasRealClips

let model: TranscriptionModel
let detector: SpeechDetector
beforeAll(async () => {
  if (!isHere) return
  model = await load({ card: { ...smallCard, weights: 'fp32' }, filesDir: folder, pronunciations: null, workers: 2 })
  detector = await loadDetector()
})
afterAll(() => model?.unload())

const begin = () => model.begin({ task: 'transcribe', language: 'en', prompt: null, temperature: 0, words: false })

// Published weights and the clips of real readers are not in the repository: skipped where either is missing.
describe.skipIf(!isHere)('whisper-base transcribes real readers', () => {
  test('a clip of 17 s is one window, so no cut can lose a word', async () => {
    const pcm = await realClip('2414-128291-0002')
    async function* blocks() {
      for (let at = 0; at < pcm.length; at += 16_000) yield pcm.subarray(at, at + 16_000)
    }
    const transcribing = begin()
    const heard: string[] = []
    let windows = 0
    for await (const { pcm: window } of cutSpeech(blocks(), detector, { maxWindowMs: model.maxWindowMs }, never)) {
      if (window === null) continue
      windows++
      for (const { text } of await transcribing.hear(window, never)) heard.push(text)
    }
    expect(windows).toBe(1)
    // "speak" is heard as "pick" since weights are rounded to eight bits in blocks.
    expect(heard.join('')).toMatch(/^ When, however, .* voice (speak|pick) in the midst of /)
  })

  test('a last window of one word is transcribed without earlier text, and joined to that with a space', async () => {
    const pcm = await realClip('1688-142285-0000')
    const between = (fromS: number, toS: number) => pcm.subarray(16_000 * fromS, 16_000 * toS)
    const transcribing = begin()
    await transcribing.hear(between(0.28, 13.07), never)
    const [last, ...more] = await transcribing.hear(between(13.81, 14.89), never)
    expect([last?.temperature, more]).toEqual([0, []])
    expect(last!.text).toMatch(/^ an( |d )?on\.?$/i)
    expect(last!.avgLogprob).toBeGreaterThan(-1)
  })

  test('the last words of a window are heard with the rest of it, however the decoder divides them', async () => {
    const clips = [await realClip('1688-142285-0000'), await realClip('1688-142285-0001')]
    // The decoder stops after 'confession', 2 s before the end.
    const pcm = concatFloats(clips).subarray(0, 27.3 * 16_000)
    const heard = await begin().hear(pcm, never)
    expect(heard.map(({ text }) => text).join('')).toMatch(/ made his confession of having been a \w+ ?boy\.$/)
    expect(new Set(heard.map(({ seekMs }) => seekMs))).toEqual(new Set([0]))
  })

  test('what is said between two equal sentences is not skipped', async () => {
    const [sentence, poem, pause] = [await realClip('1688-142285-0001'), await realClip('1688-142285-0000'), 16_000]
    const transcribing = begin()
    await transcribing.hear(sentence, never)
    const heard = await transcribing.hear(concatFloats([poem, new Float32Array(pause), sentence]), never)
    expect(heard.map(({ text }) => text).join('')).toMatch(/^ There's iron,? they say.*Margaret.*shop ?boy\.$/)
  })

  test('nor is it in a stream, where each segment is sent once it is certain', async () => {
    const [sentence, poem, pause] = [await realClip('1688-142285-0001'), await realClip('1688-142285-0000'), 16_000]
    const transcribing = begin()
    await transcribing.hear(sentence, never)
    const told: string[] = []
    const both = concatFloats([poem, new Float32Array(pause), sentence])
    const heard = await transcribing.hear(
      both,
      never,
      (segments) => void told.push(...segments.map(({ text }) => text)),
    )
    expect(told).toEqual(heard.map(({ text }) => text))
    expect(told.join('')).toMatch(/^ There's iron,? they say.*Margaret.*shop ?boy\.$/)
  })
})

const wordsFolder = realWeights('whisper-base-words')

// Published weights and the clips of real readers are not in the repository: skipped where either is missing.
describe.skipIf(wordsFolder === null || !hasRealClips)('whisper-base times the words of real readers', () => {
  let timed: TranscriptionModel
  beforeAll(async () => {
    timed = await load({
      card: { ...smallCard, weights: 'int8' },
      filesDir: wordsFolder!,
      pronunciations: null,
      workers: 2,
    })
  })
  afterAll(() => timed?.unload())

  test('of those, too, that the decoder was made to write before a window ends', async () => {
    const clips = [await realClip('1688-142285-0000'), await realClip('1688-142285-0001')]
    // Left to itself, the decoder stops after 'confession'.
    const pcm = concatFloats(clips).subarray(0, 27.3 * 16_000)
    const order = { task: 'transcribe', language: 'en', prompt: null, temperature: 0, words: true } as const
    const heard = await timed.begin(order).hear(pcm, never)
    const words = heard.flatMap((segment) => segment.words ?? [])
    expect(words.map(({ text }) => text).join(' ')).toMatch(/ made his confession of having been a \w+ ?boy\.$/)
    for (const [at, word] of words.entries()) {
      expect(word.endMs).toBeGreaterThanOrEqual(word.startMs)
      expect(word.startMs).toBeGreaterThanOrEqual(words[at - 1]?.endMs ?? 0)
    }
    const [having, boy] = [words.find(({ text }) => text === 'having')!, words.at(-1)!]
    // By the forced alignment of PocketSphinx, with 0.3 s to spare.
    expect(Math.abs(having.startMs - 25_920)).toBeLessThan(300)
    expect(Math.abs(boy.endMs - 27_160)).toBeLessThan(300)
  })
})
