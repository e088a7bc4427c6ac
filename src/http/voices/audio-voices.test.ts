/** OpenAI's own SDK creates voices, speaks with them and deletes them. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import OpenAI, { APIError } from 'openai'
import { MynaError } from '../../domain/error.ts'
import { hum, type Instance, startInstance } from '../../testing/instance.ts'
import { until } from '../../testing/until.ts'

let instance: Instance
let key: string
let client: OpenAI
beforeAll(async () => {
  instance = await startInstance({ clonesPerMinute: 1000, cloneMicros: 300, freeClones: 0 })
})
beforeEach(async () => {
  key = await instance.key({ prepaidMicros: 1000 })
  client = new OpenAI({ baseURL: `${instance.url}/v1`, apiKey: key, maxRetries: 0 })
  instance.engine.learn = () => new Uint8Array([1, 2, 3])
})
afterAll(() => instance[Symbol.asyncDispose]())

const sample = () => new File([hum(3)], 'ada.wav')
const create = () => client.audio.voices.create({ name: 'Ada', audio_sample: sample(), consent: 'I am Ada.' })
const balance = async () =>
  ((await (await instance.fetch('/v1/me', { key })).json()) as { balance_micros: number }).balance_micros

describe('a voice of OpenAI’s SDK', () => {
  test('is ready when the answer arrives, and speaks by its id', async () => {
    const made = await create()
    expect(made).toEqual({
      id: expect.stringMatching(/^voice_/),
      object: 'audio.voice',
      name: 'Ada',
      created_at: Math.floor(instance.clock.nowMs() / 1000),
      type: 'audio_sample',
      status: 'ready',
    } as never)
    const speech = { model: 'tts-1', voice: { id: made.id }, input: 'Hello.', response_format: 'pcm' } as const
    expect((await (await client.audio.speech.create(speech)).arrayBuffer()).byteLength).toBeGreaterThan(0)
    expect(await client.audio.voices.delete(made.id)).toEqual({
      id: made.id,
      object: 'audio.voice.deleted',
      deleted: true,
    })
    const again: unknown = await client.audio.voices.delete(made.id).catch((reason: unknown) => reason)
    expect(again).toMatchObject({ status: 404, code: 'voice_not_found' })
  })

  test.each<[string, unknown, number, string]>([
    ['the model refuses the clip', new MynaError('clip_refused', 'Too noisy.'), 422, 'clip_refused'],
    ['no memory is left', new MynaError('engine_overloaded', 'Later.'), 503, 'engine_overloaded'],
    ['the engine dies', new MynaError('engine_unavailable', 'secret'), 500, 'generation_failed'],
  ])('%s: an error, and refunded', async (_, thrown, status, code) => {
    instance.engine.learn = () => {
      throw thrown
    }
    const error: unknown = await create().catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(APIError)
    expect(error).toMatchObject({ status, code })
    expect(String(error)).not.toContain('secret')
    expect(await balance()).toBe(1000)
  })

  test('a voice that is cancelled or deleted meanwhile is an error', async () => {
    const begun = Promise.withResolvers<void>()
    instance.engine.learn = () => {
      begun.resolve()
      return new Promise(() => {})
    }
    const made = create().catch((reason: unknown) => reason)
    await begun.promise
    await until('it is listed', async () => (await voices()).length === 1)
    await instance.fetch(`/v1/voices/${(await voices())[0]!.id}`, { method: 'DELETE', key })
    expect(await made).toMatchObject({ code: 'operation_cancelled' })
    expect(await balance()).toBe(1000)
  })

  test('needs a recording', async () => {
    for (const more of [{ prompt: 'a warm voice' }, { audio_sample: sample() }]) {
      const prompt = { type: 'prompt', name: 'Ada', ...more } as never
      const error: unknown = await client.audio.voices.create(prompt).catch((reason: unknown) => reason)
      expect(error).toMatchObject({ status: 400, code: 'unsupported_value', param: 'type' })
    }
    const nothing: unknown = await client.audio.voices
      .create({ name: 'Ada' } as never)
      .catch((reason: unknown) => reason)
    expect(nothing).toMatchObject({ status: 422, code: 'missing_file' })
    expect(await voices()).toEqual([])
  })
})

async function voices() {
  const answer = await instance.fetch('/v1/voices?owner=me&category=cloned', { key })
  return ((await answer.json()) as { data: { id: string }[] }).data
}
