import { beforeEach, expect, test } from 'bun:test'
import { MynaError } from '../domain/error.ts'
import type { TranscriptionOrder, TranscriptPart } from '../service/ports/transcription.ts'
import { FakeTranscriber } from './fake-transcriber.ts'

const never = new AbortController().signal
const order: TranscriptionOrder = {
  model: 'test',
  share: 'account',
  task: 'transcribe',
  language: null,
  prompt: null,
  temperature: 0,
  words: false,
}
let fake: FakeTranscriber
let ended: number
beforeEach(() => {
  fake = new FakeTranscriber()
  ended = 0
})

/** In blocks of 0.7 s. @param loudness of each second */
async function* clip(...loudness: number[]): AsyncGenerator<Int16Array> {
  const pcm = Int16Array.from(loudness.flatMap((level) => Array<number>(16_000).fill(level)))
  try {
    for (let at = 0; at < pcm.length; at += 11_200) yield pcm.slice(at, at + 11_200)
  } finally {
    ended++
  }
}
const texts = (parts: readonly TranscriptPart[]) =>
  parts.map(({ segments, language, heardMs }) => [segments.map(({ text }) => text).join(), language, heardMs])

test('writes the number of each part, and nothing for silence', async () => {
  const parts = await Array.fromAsync(fake.transcribe({ ...order, words: true }, clip(9, 0, 9), never))
  expect(texts(parts)).toEqual([
    [' heard 0.', 'en', 1000],
    ['', null, 2000],
    [' heard 2.', 'en', 3000],
  ])
  const words = parts.flatMap(({ segments }) => segments).flatMap((segment) => segment.words ?? [])
  expect(words.map(({ text, startMs, endMs }) => [text, startMs, endMs])).toEqual([
    ['heard', 0, 500],
    ['0.', 500, 1000],
    ['heard', 2000, 2500],
    ['2.', 2500, 3000],
  ])
  expect([fake.active, fake.aborted, fake.pulled, ended]).toEqual([0, 0, 48_000, 1])
})

test('fails at the requested part, and closes the clip', async () => {
  fake.plan = () => ({ failAt: 1, failWith: new MynaError('unsupported_value', 'no', { param: 'language' }) })
  const parts: TranscriptPart[] = []
  const reading = (async () => {
    for await (const part of fake.transcribe(order, clip(9, 9, 9), never)) parts.push(part)
  })()
  await expect(reading).rejects.toMatchObject({ code: 'unsupported_value' })
  expect([parts.length, fake.aborted, ended]).toEqual([1, 1, 1])
})

test("an abort ends it with the abort's reason while it is held", async () => {
  const abort = new AbortController()
  fake.plan = () => ({ before: () => new Promise(() => {}) })
  const reading = Array.fromAsync(fake.transcribe(order, clip(9), abort.signal))
  abort.abort(new Error('client gone'))
  await expect(reading).rejects.toThrow('client gone')
  expect([fake.active, fake.aborted, ended]).toEqual([0, 1, 1])
})
