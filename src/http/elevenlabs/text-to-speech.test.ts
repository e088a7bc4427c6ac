/** ElevenLabs' SDK speaks: the sound, the price, the records and the refusals are those of every speech request. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { ElevenLabsClient } from '@elevenlabs/elevenlabs-js'
import { type Instance, startInstance } from '../../testing/instance.ts'
import { bytesOf, refusal, sdk } from './sdk.fixture.ts'

let instance: Instance
let key: string
let client: ElevenLabsClient
beforeAll(async () => {
  instance = await startInstance({
    speechPerMinute: 10_000,
    voiceAliases: ['JBFqnCBsd6RMkjVDRZzb=lark'],
  })
})
beforeEach(async () => {
  key = await instance.key({ prepaidMicros: 1000 })
  client = sdk(instance, key)
  instance.engine.plan = () => ({})
})
afterAll(() => instance[Symbol.asyncDispose]())

const text = 'hello there'
const record = async (path: string) =>
  (await (await instance.fetch(path, { key })).json()) as Record<string, unknown> & { data: Record<string, unknown>[] }
const orders = () => instance.engine.orders

describe('speech in ElevenLabs’ words', () => {
  test('is mp3 by default, and one paid operation', async () => {
    const { data, rawResponse } = await client.textToSpeech
      .convert('nova', { text, modelId: 'eleven_multilingual_v2' })
      .withRawResponse()
    const [first = 0, second = 0] = await bytesOf(data)
    expect([first, second & 0xe0]).toEqual([0xff, 0xe0])
    expect(rawResponse.headers.get('content-type')).toBe('audio/mpeg')
    const operation = await record(`/v1/operations/${rawResponse.headers.get('x-request-id')}`)
    expect(operation).toMatchObject({ outcome: 'completed', charged_micros: 165 })
    expect((await record('/v1/me')).balance_micros).toBe(1000 - 165)
  })

  test('streams: the first bytes come before the last are made', async () => {
    const gate = Promise.withResolvers<void>()
    instance.engine.plan = () => ({ before: (frame) => (frame === 2 ? gate.promise : undefined) })
    const stream = await client.textToSpeech.stream('nova', { text, outputFormat: 'pcm_24000' })
    const reader = stream.getReader()
    expect((await reader.read()).value?.length).toBeGreaterThan(0)
    gate.resolve()
    while (!(await reader.read()).done);
  })

  test.each([
    ['mp3_22050_32', 'audio/mpeg'],
    ['mp3_44100_192', 'audio/mpeg'],
    ['opus_48000_64', 'audio/ogg'],
    ['pcm_8000', 'audio/pcm'],
    ['pcm_48000', 'audio/pcm'],
  ] as const)('as %s', async (outputFormat, type) => {
    const { data, rawResponse } = await client.textToSpeech.stream('nova', { text, outputFormat }).withRawResponse()
    expect((await bytesOf(data)).length).toBeGreaterThan(300)
    expect(rawResponse.headers.get('content-type')).toBe(type)
  })

  test('raw samples have the rate that was asked for, and files that of their encoder', async () => {
    for (const outputFormat of ['pcm_48000', 'mp3_44100_128'] as const) {
      await bytesOf(await client.textToSpeech.convert('nova', { text, outputFormat }))
    }
    expect(orders().slice(-2)).toMatchObject([{ sampleRateHz: 48_000 }, { sampleRateHz: 24_000 }])
  })

  test('speed, seed and language arrive; what we have not is ignored', async () => {
    const voiceSettings = { speed: 1.2, stability: 0.5, similarityBoost: 0.7, style: 0, useSpeakerBoost: true }
    await bytesOf(
      await client.textToSpeech.convert('lark', {
        text,
        modelId: 'eleven_v3',
        voiceSettings,
        seed: 7,
        languageCode: 'en',
        previousText: 'before',
        optimizeStreamingLatency: 3,
      }),
    )
    expect(orders().at(-1)).toMatchObject({
      text,
      voiceId: 'lark',
      model: 'hibari',
      speed: 1.2,
      seed: 7,
      language: 'en',
    })
  })

  test.each(['hibari', 'eleven_turbo_v2_5', 'eleven_flash_v2_5'])('the model %s speaks', async (modelId) => {
    expect((await bytesOf(await client.textToSpeech.convert('nova', { text, modelId }))).length).toBeGreaterThan(300)
  })

  test('an id of ElevenLabs’ own voices works once the operator says which voice it means', async () => {
    await bytesOf(await client.textToSpeech.convert('JBFqnCBsd6RMkjVDRZzb', { text }))
    expect(orders().at(-1)?.voiceId).toBe('lark')
  })

  test('an idempotency key counts as everywhere', async () => {
    const headers = { 'Idempotency-Key': 'once' }
    const once = () => client.textToSpeech.convert('nova', { text }, { headers }).then(bytesOf)
    await once()
    expect(await refusal(once)).toMatchObject({ status: 409, detail: { status: 'duplicate_request' } })
  })
})

describe('times of characters', () => {
  const audioBytes = (pieces: readonly { audioBase64: string }[]) =>
    Buffer.concat(pieces.map(({ audioBase64 }) => Buffer.from(audioBase64, 'base64')))
  const charsOf = (pieces: readonly { alignment?: { characters: string[] } }[]) =>
    pieces.flatMap(({ alignment }) => alignment?.characters ?? []).join('')

  test('come with all of the speech', async () => {
    const asked = { text: 'onetwotriqua', outputFormat: 'pcm_24000' } as const
    const { audioBase64, alignment } = await client.textToSpeech.convertWithTimestamps('nova', asked)
    expect(audioBytes([{ audioBase64 }]).length).toBe(4 * 2400 * 2)
    expect(alignment?.characters.join('')).toBe(asked.text)
    expect(alignment?.characterStartTimesSeconds.slice(0, 4)).toEqual([0, 0.017, 0.033, 0.1])
    expect(alignment?.characterEndTimesSeconds.at(-1)).toBe(0.35)
  })

  test('come with each piece, and all pieces have all of the text', async () => {
    const pieces = []
    const asked = { text: 'onetwotriqua ', outputFormat: 'pcm_24000' } as const
    for await (const piece of await client.textToSpeech.streamWithTimestamps('nova', asked)) pieces.push(piece)
    expect(pieces.length).toBeGreaterThan(1)
    expect(audioBytes(pieces).length).toBe(4 * 2400 * 2)
    expect(charsOf(pieces)).toBe(asked.text)
  })

  test('are paid and refused as speech is', async () => {
    await client.textToSpeech.convertWithTimestamps('nova', { text })
    expect((await record('/v1/me')).balance_micros).toBe(1000 - 165)
    expect(await refusal(() => client.textToSpeech.convertWithTimestamps('nobody', { text }))).toMatchObject({
      status: 404,
      detail: { status: 'voice_not_found' },
    })
  })
})

describe('refused', () => {
  const speak = (voice: string, request: Record<string, unknown> = {}, by = client) =>
    refusal(() => by.textToSpeech.convert(voice, { text, ...request }))

  test('a voice that does not exist', async () => {
    expect(await speak('nobody')).toEqual({
      status: 404,
      detail: {
        status: 'voice_not_found',
        message: "The voice 'nobody' does not exist or you do not have access to it.",
      },
    })
  })

  test('a wrong key, a key for something else, a quota that is used up', async () => {
    expect(await speak('nova', {}, sdk(instance, 'sk-myna-wrong'))).toMatchObject({
      status: 401,
      detail: { status: 'invalid_api_key' },
    })
    const narrow = await instance.key({ scopes: ['voices'] })
    expect(await speak('nova', {}, sdk(instance, narrow))).toMatchObject({
      status: 403,
      detail: { status: 'missing_permissions' },
    })
    expect(await speak('nova', { text: 'x'.repeat(400) })).toMatchObject({
      status: 402,
      detail: { status: 'quota_exceeded' },
    })
  })

  test.each<[string, Record<string, unknown>, string[], string]>([
    ['a blank text', { text: '' }, ['body', 'text'], 'input should not be empty'],
    ['a seed that is none', { seed: -1 }, ['body', 'seed'], 'input should be a whole number from 0 to 4294967295'],
    [
      'a speed that no model has',
      { voiceSettings: { speed: 9 } },
      ['body', 'voice_settings.speed'],
      'input should be a number from 0.25 to 4',
    ],
    ['sound for telephones', { outputFormat: 'ulaw_8000' }, ['query', 'output_format'], 'input should be one of: mp3_'],
    ['a rate that no encoder has', { outputFormat: 'pcm_32000' }, ['query', 'output_format'], 'input should be one of'],
  ])('%s, with a list of faults', async (_, request, loc, msg) => {
    const { status, detail } = await speak('nova', request)
    expect([status, detail]).toEqual([422, [expect.objectContaining({ loc, msg: expect.stringContaining(msg) })]])
  })

  test('an unknown model', async () => {
    expect(await speak('nova', { modelId: 'none' })).toMatchObject({
      status: 404,
      detail: { status: 'model_not_found' },
    })
  })

  test('a failure midway cuts the stream and costs nothing', async () => {
    const gate = Promise.withResolvers<void>()
    instance.engine.plan = () => ({ failAt: 2, before: (frame) => (frame === 2 ? gate.promise : undefined) })
    const stream = await client.textToSpeech.stream('nova', { text, outputFormat: 'pcm_24000' })
    gate.resolve()
    const isCut = await bytesOf(stream).then(
      () => false,
      () => true,
    )
    expect(isCut).toBe(true)
    expect((await record('/v1/me')).balance_micros).toBe(1000)
  })
})
