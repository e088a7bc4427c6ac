/** The Vercel AI SDK streams a microphone: it never uses the detector's turns and commits once, at the end. */
import { createOpenAI } from '@ai-sdk/openai'
import { experimental_streamTranscribe as streamTranscribe } from 'ai'
import { expect, test } from 'bun:test'
import { startListening } from '../http/transcription/transcription.fixture.ts'
import { until } from '../testing/until.ts'
import { tone } from './client.fixture.ts'

async function openSdk() {
  const instance = await startListening()
  const sdk = createOpenAI({ baseURL: `${instance.url}/v1`, apiKey: await instance.key() })
  const start = (audio: ReadableStream<Uint8Array>, language = 'en') =>
    streamTranscribe({
      model: sdk.transcription('gpt-realtime-whisper'),
      audio,
      inputAudioFormat: { type: 'audio/pcm', rate: 24_000 },
      providerOptions: { openai: { language } },
    })
  return { instance, start, [Symbol.asyncDispose]: () => instance[Symbol.asyncDispose]() }
}

test('text comes while the microphone is open', async () => {
  await using scene = await openSdk()
  const { transcriber } = scene.instance
  let isOpen = true
  let seconds = 0
  const audio = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await until('the sound so far was heard', () => transcriber.watchedMs >= seconds * 1000 - 100)
      if (!isOpen) return controller.close()
      controller.enqueue(new Uint8Array(tone(1).buffer))
      seconds++
    },
  })
  const result = scene.start(audio)
  const deltas: string[] = []
  for await (const part of result.fullStream) {
    if (part.type !== 'transcript-delta') continue
    deltas.push(part.delta)
    isOpen = false
  }
  expect(await result.text).toMatch(/^heard 0\. heard 1\./)
  expect(deltas.join('')).toBe(await result.text)
})

test('a language that nothing here knows is an error with the reason', async () => {
  await using scene = await openSdk()
  const audio = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new Uint8Array(4800)) })
  const failed = Promise.resolve(scene.start(audio, 'tlh').text).catch((error: unknown) => error)
  expect(String(await failed)).toContain("Invalid value: 'tlh'")
})
