/** Official clients, unmodified: OpenAI's, and Vercel's AI SDK, which refuses an answer that lacks a field. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { createOpenAI } from '@ai-sdk/openai'
import { transcribe as transcribeWithAi } from 'ai'
import OpenAI, { APIError, BadRequestError, toFile } from 'openai'
import { parse } from '@plussub/srt-vtt-parser'
import { temporaryFolder } from '../../testing/folder.ts'
import type { Instance } from '../../testing/instance.ts'
import { until } from '../../testing/until.ts'
import { recording, recordingOf, said, startListening, usageOf } from './transcription.fixture.ts'

let instance: Instance
let key: string
/** Requests that reached the server, retries included. */
let sent = 0
const path = join(temporaryFolder(), 'talk.wav')
beforeAll(async () => {
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })
  await Bun.write(path, recording)
  instance = await startListening()
  key = await instance.key()
})
afterAll(() => instance[Symbol.asyncDispose]())
beforeEach(() => {
  sent = 0
  instance.transcriber.plan = () => ({})
})

const counted = Object.assign(
  (input: string | URL | Request, init?: RequestInit) => {
    if (String(input instanceof Request ? input.url : input).startsWith(instance.url)) sent++
    return fetch(input, init)
  },
  { preconnect: fetch.preconnect },
)
const openai = () => new OpenAI({ apiKey: key, baseURL: `${instance.url}/v1`, fetch: counted })
const audio = () => toFile(recording, 'talk.wav')

describe('openai', () => {
  test('transcribes every kind of file that it knows', async () => {
    const uploads = [createReadStream(path), await audio(), Bun.file(path), new File([recording], 'talk.wav')]
    for (const file of uploads) {
      const { data, request_id } = await openai()
        .audio.transcriptions.create({ file, model: 'whisper-1' })
        .withResponse()
      expect(data.text).toBe(said)
      expect(request_id).toStartWith('req_')
    }
    expect(sent).toBe(uploads.length)
  })

  test('in every format', async () => {
    const of = async (format: 'json' | 'text' | 'srt' | 'vtt') =>
      openai().audio.transcriptions.create({ file: await audio(), model: 'whisper-1', response_format: format })
    expect(await of('json')).toEqual({
      text: said,
      languages: [{ code: 'en' }],
      usage: { type: 'duration', seconds: 3 },
    } as never)
    expect(String(await of('text'))).toBe(`${said}\n`)
    for (const format of ['srt', 'vtt'] as const) {
      const { entries } = parse(String(await of(format)))
      expect(entries.map(({ from, to, text }) => [from, to, text])).toEqual([
        [0, 1000, 'heard 0.'],
        [2000, 3000, 'heard 2.'],
      ])
    }
    const verbose = await openai().audio.transcriptions.create({
      file: await audio(),
      model: 'whisper-1',
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
      language: 'en',
      prompt: 'Myna',
      temperature: 0.2,
    })
    expect([verbose.language, verbose.duration, verbose.text]).toEqual(['english', 3, said])
    expect(verbose.segments?.map(({ id, start, end }) => [id, start, end])).toEqual([
      [0, 0, 1],
      [1, 2, 3],
    ])
    expect(verbose.words?.map(({ word }) => word)).toEqual(['heard', '0.', 'heard', '2.'])
    expect(instance.transcriber.orders.at(-1)).toMatchObject({ language: 'en', prompt: 'Myna', temperature: 0.2 })
  })

  test('translates', async () => {
    const { text } = await openai().audio.translations.create({ file: await audio(), model: 'whisper-1' })
    expect(text).toBe(said)
    const verbose: unknown = await openai().audio.translations.create({
      file: await audio(),
      model: 'whisper-1',
      response_format: 'verbose_json',
    })
    expect(verbose).toMatchObject({ language: 'english', segments: [{ id: 0 }, { id: 1 }] })
    const subtitles = await openai().audio.translations.create({
      file: await audio(),
      model: 'whisper-1',
      response_format: 'srt',
    })
    expect(parse(String(subtitles)).entries).toHaveLength(2)
  })

  test('streams', async () => {
    const stream = await openai().audio.transcriptions.create({
      file: await toFile(recordingOf(9, 9, 9, 0), 'talk.wav'),
      model: 'gpt-4o-transcribe',
      stream: true,
      include: ['logprobs'],
      chunking_strategy: 'auto',
    })
    const events: OpenAI.Audio.TranscriptionStreamEvent[] = []
    for await (const event of stream) events.push(event)
    const deltas = events.flatMap((event) => (event.type === 'transcript.text.delta' ? [event.delta] : []))
    expect(deltas).toEqual(['heard 0.', ' heard 1.', ' heard 2.'])
    expect(events).toHaveLength(4)
    expect(events.at(-1)).toMatchObject({
      type: 'transcript.text.done',
      text: 'heard 0. heard 1. heard 2.',
      usage: { type: 'tokens', input_tokens: 0, output_tokens: 0, total_tokens: 0 },
    })
  })

  test('gets an error within the stream, and does not retry', async () => {
    instance.transcriber.plan = () => ({ failAt: 2 })
    const stream = await openai().audio.transcriptions.create({
      file: await toFile(recordingOf(9, 9, 9), 'talk.wav'),
      model: 'whisper-1',
      stream: true,
    })
    const deltas: string[] = []
    const reading = (async () => {
      for await (const event of stream) if (event.type === 'transcript.text.delta') deltas.push(event.delta)
    })()
    const error = await reading.then(
      () => null,
      (reason: unknown) => reason,
    )
    expect(error).toBeInstanceOf(APIError)
    expect((error as APIError).code).toBe('generation_failed')
    expect([deltas, sent]).toEqual([['heard 0.', ' heard 1.'], 1])
  })

  test('stops the work when it stops listening', async () => {
    const gate = Promise.withResolvers<void>()
    instance.transcriber.plan = () => ({ before: (part) => (part === 1 ? gate.promise : undefined) })
    const aborted = instance.transcriber.aborted
    const stream = await openai().audio.transcriptions.create({ file: await audio(), model: 'whisper-1', stream: true })
    for await (const event of stream) {
      expect(event.type).toBe('transcript.text.delta')
      break
    }
    await until('the engine was notified', () => instance.transcriber.aborted === aborted + 1)
    gate.resolve()
  })

  test('throws the same errors as with OpenAI', async () => {
    const refused = async (call: Promise<unknown>): Promise<APIError> =>
      call.then(
        () => {
          throw new Error('it was not refused')
        },
        (error: unknown) => error as APIError,
      )
    const text = await refused(
      openai().audio.transcriptions.create({ file: await toFile(Buffer.from('x'), 'a.mp3'), model: 'whisper-1' }),
    )
    expect(text).toBeInstanceOf(BadRequestError)
    expect([text.code, text.param]).toEqual(['invalid_audio', 'file'])
    const model = await refused(openai().audio.transcriptions.create({ file: await audio(), model: 'whisper-9' }))
    expect([model.status, model.code]).toEqual([404, 'model_not_found'])
    expect(sent).toBe(2)
  })

  test('lists the model under the names that clients ask for', async () => {
    const models = new Set<string>()
    for await (const { id } of openai().models.list()) models.add(id)
    for (const id of ['whisper-base', 'whisper-1', 'gpt-4o-transcribe']) expect(models).toContain(id)
  })
})

describe('the AI SDK', () => {
  const provider = () => createOpenAI({ apiKey: key, baseURL: `${instance.url}/v1`, fetch: counted })

  test('with segment times, the language and the duration', async () => {
    const { text, segments, language, durationInSeconds } = await transcribeWithAi({
      model: provider().transcription('whisper-1'),
      audio: recording,
    })
    expect([text, language, durationInSeconds]).toEqual([said, 'en', 3])
    expect(segments).toEqual([
      { text: ' heard 0.', startSecond: 0, endSecond: 1 },
      { text: ' heard 2.', startSecond: 2, endSecond: 3 },
    ])
  })

  test('with word times, and its options', async () => {
    const { segments, text } = await transcribeWithAi({
      model: provider().transcription('whisper-1'),
      audio: recording,
      providerOptions: {
        openai: {
          timestampGranularities: ['word'],
          language: 'en',
          prompt: 'Myna',
          temperature: 0.5,
          include: ['logprobs'],
        },
      },
    })
    expect(text).toBe(said)
    expect(segments.map(({ text: word, startSecond }) => [word, startSecond])).toEqual([
      ['heard', 0],
      ['0.', 0.5],
      ['heard', 2],
      ['2.', 2.5],
    ])
    expect(instance.transcriber.orders.at(-1)).toMatchObject({ language: 'en', prompt: 'Myna', temperature: 0.5 })
  })

  test('with a model from which it requests plain json', async () => {
    const { text } = await transcribeWithAi({ model: provider().transcription('gpt-4o-transcribe'), audio: recording })
    expect(text).toBe(said)
  })

  test('accepts an empty text as the transcript of silence', async () => {
    const silent = await transcribeWithAi({ model: provider().transcription('whisper-1'), audio: recordingOf(0) })
    expect([silent.text, silent.segments, sent]).toEqual(['', [], 1])
  })

  test('knows the names of languages', async () => {
    for (const code of ['de', 'zh', 'uk', 'cy', 'ms']) {
      instance.transcriber.plan = () => ({ language: code })
      const { language } = await transcribeWithAi({ model: provider().transcription('whisper-1'), audio: recording })
      expect(language).toBe(code)
    }
  })
})

test('all of it is in the usage', async () => {
  const by = await instance.key()
  const client = new OpenAI({ apiKey: by, baseURL: `${instance.url}/v1` })
  await client.audio.transcriptions.create({ file: await audio(), model: 'whisper-1' })
  await client.audio.translations.create({ file: await audio(), model: 'whisper-1' })
  expect(await usageOf(instance, by)).toEqual({ requests: 2, seconds: 6, charged_micros: 0 })
})
