import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Instance, startInstance } from '../../testing/instance.ts'
import { until } from '../../testing/until.ts'

/** The fake engine makes four frames of 100 ms, and reports each quarter of the input as a word. */
const input = 'onetwotriqua'
let instance: Instance
let key: string
beforeAll(async () => {
  instance = await startInstance()
  key = await instance.key()
})
afterAll(() => instance[Symbol.asyncDispose]())

interface Piece {
  audio: string
  audio_format: string
  timestamps: { word: string; start_time: number; end_time: number }[] | null
}

const captioned = (body: object, path = '/dev/captioned_speech', init: Parameters<Instance['fetch']>[1] = {}) =>
  instance.fetch(path, { method: 'POST', key, body: JSON.stringify({ input, voice: 'alloy', ...body }), ...init })

test('as a whole: one object, with word times relative to the audio', async () => {
  const response = await captioned({ stream: false, response_format: 'pcm' })
  expect(response.headers.get('x-request-id')).toStartWith('op_')
  const { audio, ...rest } = (await response.json()) as Piece
  expect(Buffer.from(audio, 'base64').length).toBe(4 * 2400 * 2)
  expect(rest).toEqual({
    audio_format: 'audio/pcm',
    timestamps: [
      { word: 'one', start_time: 0, end_time: 0.05 },
      { word: 'two', start_time: 0.1, end_time: 0.15 },
      { word: 'tri', start_time: 0.2, end_time: 0.25 },
      { word: 'qua', start_time: 0.3, end_time: 0.35 },
    ],
    timestamps_estimated: false,
  } as never)
})

test('streamed, which is the default: one object per line, with the same audio and words in total', async () => {
  const response = await captioned({ response_format: 'wav' }, '/v1/audio/captioned_speech')
  expect(response.headers.get('content-type')).toStartWith('application/json')
  const lines = (await response.text()).trimEnd().split('\n')
  expect(lines.length).toBeGreaterThan(1)
  const pieces = lines.map((line) => JSON.parse(line) as Piece)
  expect(Buffer.concat(pieces.map(({ audio }) => Buffer.from(audio, 'base64'))).length).toBe(44 + 4 * 2400 * 2)
  expect(pieces.flatMap(({ timestamps }) => timestamps!.map(({ word }) => word))).toEqual(['one', 'two', 'tri', 'qua'])
})

test('what a decoder adds before the sound of an mp3 is counted', async () => {
  const { timestamps } = (await (await captioned({ stream: false })).json()) as Piece
  expect(timestamps![0]).toEqual({ word: 'one', start_time: 0.046, end_time: 0.096 })
})

test('word times can be switched off, and faults are refused like those of speech', async () => {
  const plain = (await (await captioned({ stream: false, return_timestamps: false })).json()) as Piece
  expect(plain.timestamps).toBeNull()
  expect((await captioned({ input: '' })).status).toBe(400)
  expect((await captioned({ voice: 'nobody at all' })).status).toBe(404)
  expect((await captioned({ stream: 'maybe' })).status).toBe(400)
  const scoped = await instance.key({ scopes: ['voices'] })
  const refused = await instance.fetch('/dev/captioned_speech', { method: 'POST', key: scoped, body: '{}' })
  expect(refused.status).toBe(403)
})

test('an engine failure has an error status', async () => {
  instance.engine.plan = () => ({ failAt: 2 })
  const failed = await captioned({ stream: false })
  expect([failed.status, await failed.json()]).toMatchObject([500, { error: { code: 'generation_failed' } }])
  instance.engine.plan = () => ({})
})

test('a client that leaves before the one object pays nothing: it heard nothing', async () => {
  const payer = await instance.key({ prepaidMicros: 1000 })
  const half = Promise.withResolvers<void>()
  instance.engine.plan = () => ({
    before: (frame) => {
      if (frame < 3) return undefined
      half.resolve()
      return new Promise(() => {})
    },
  })
  const leaving = new AbortController()
  const asked = captioned({ stream: false, response_format: 'pcm' }, undefined, { key: payer, signal: leaving.signal })
  await half.promise
  leaving.abort()
  expect(await asked.catch(() => 'left')).toBe('left')
  const last = async () => {
    const page = await (await instance.fetch('/v1/operations', { key: payer })).json()
    return (page as { data: Record<string, unknown>[] }).data[0]
  }
  await until('it is settled', async () => (await last())?.state === 'terminal')
  expect(await last()).toMatchObject({
    outcome: 'stream_failed',
    charged_micros: 0,
    error: { code: 'client_disconnected' },
  })
  instance.engine.plan = () => ({})
})

test('events of speech report the words after the audio in which they begin', async () => {
  const response = await instance.speak(key, { input, stream_format: 'sse', timestamps: ['word'] })
  const events = (await response.text())
    .split('\n\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as { type: string; words?: object[]; estimated?: boolean })
  const types = events.map(({ type }) => type)
  expect(types[0]).toBe('speech.audio.delta')
  expect(types.at(-1)).toBe('speech.audio.done')
  const told = events.filter(({ type }) => type === 'speech.audio.timestamps')
  expect(told.flatMap(({ words }) => words)).toContainEqual({
    word: 'two',
    start: 0.1,
    end: 0.15,
    text_start: 3,
    text_end: 6,
  })
  expect(told.every(({ estimated }) => estimated === false)).toBe(true)
})

test('plain audio cannot carry word times, and they are only reported on request', async () => {
  const refused = await instance.speak(key, { timestamps: true })
  expect([refused.status, await refused.json()]).toMatchObject([400, { error: { param: 'timestamps' } }])
  expect((await instance.speak(key, { timestamps: ['sentence'], stream_format: 'sse' })).status).toBe(400)
  const flagged = await instance.speak(key, { timestamps: 'true', stream_format: 'sse' })
  expect(await flagged.text()).toContain('speech.audio.timestamps')
  expect((await instance.speak(key, { timestamps: false })).status).toBe(200)
  expect(await (await instance.speak(key, { stream_format: 'sse' })).text()).not.toContain('timestamps')
})
