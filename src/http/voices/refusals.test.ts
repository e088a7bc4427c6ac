/** Clips and requests that are refused: each with its code, and without leaving anything behind. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { MynaError } from '../../domain/error.ts'
import { hum, type Instance, startInstance } from '../../testing/instance.ts'
import { until } from '../../testing/until.ts'
import { jsonOf, refusalOf, traces } from './voice.fixture.ts'

let shared: Instance
beforeAll(async () => {
  shared = await startInstance({ maxClipBytes: 3_000_000, clonesPerMinute: 1000 })
})
afterAll(() => shared[Symbol.asyncDispose]())

describe('a refused clip leaves no row, no file and no charge', () => {
  const silentFor = (ms: number) => () => [{ startMs: 0, endMs: ms }]
  const nan = new Uint8Array(44 + 400_000).fill(0xff, 44)
  nan.set(new Uint8Array([...'RIFF'].map((letter) => letter.charCodeAt(0))))
  test.each<[string, number, Record<string, string | Blob>]>([
    ['missing_file', 422, { file: '' }],
    ['too_many_files', 422, { clip: hum(3) }],
    ['clip_undecodable', 422, { file: new File([], 'empty.wav') }],
    ['clip_undecodable', 422, { file: new File(['this is no sound at all, whatever its name'], 'text.wav') }],
    ['clip_undecodable', 422, { file: new File([nan], 'nan.wav') }],
    ['clip_too_short', 422, { file: hum(2.9) }],
    ['clip_too_long', 422, { file: hum(61) }],
    ['clip_silent', 422, { file: hum(3, 1) }],
    ['request_too_large', 413, { file: hum(100) }],
    ['validation_error', 422, { name: 'x'.repeat(101) }],
    ['validation_error', 422, { name: 'a\u0007b' }],
    ['validation_error', 422, { description: 'x'.repeat(501) }],
    ['validation_error', 422, { labels: '{' }],
    ['validation_error', 422, { labels: '{"a":1}' }],
    [
      'validation_error',
      422,
      { labels: JSON.stringify(Object.fromEntries([...Array(21).keys()].map((n) => [n, '']))) },
    ],
    ['validation_error', 422, { aliases: '["a","A"]' }],
    ['validation_error', 422, { aliases: '[""]' }],
    ['validation_error', 422, { language: 'not a language' }],
    ['validation_error', 422, { public: 'perhaps' }],
    ['admin_required', 403, { public: 'true' }],
  ])('%s', async (code, status, fields) => {
    const key = await shared.key({ prepaidMicros: 5_000_000 })
    const before = await traces(shared)
    expect(await refusalOf(await shared.clone(key, fields))).toMatchObject({ code, status, id: 'req' })
    expect(await traces(shared)).toEqual(before)
    expect(await jsonOf(shared, '/v1/me', key)).toMatchObject({ balance_micros: 5_000_000, voices: { owned: 0 } })
  })

  test('clip_silent: less than a second of speech', async () => {
    const key = await shared.key()
    const before = await traces(shared)
    shared.engine.hear = silentFor(999)
    expect(await refusalOf(await shared.clone(key))).toMatchObject({
      code: 'clip_silent',
      duration_seconds: 3,
      min_seconds: 3,
      max_seconds: 60,
      param: 'file',
    })
    shared.engine.hear = silentFor(1000)
    expect((await shared.clone(key)).status).toBe(201)
    expect((await traces(shared)).voices).toBe((before.voices ?? 0) + 1)
    shared.engine.hear = (pcm) => [{ startMs: 0, endMs: pcm.length / 16 }]
  })

  test('an engine that cannot listen', async () => {
    const key = await shared.key()
    const before = await traces(shared)
    const { hear } = shared.engine
    shared.engine.hear = () => {
      throw new MynaError('engine_unavailable', 'The engine is not available.', { retryAfterMs: 5000 })
    }
    expect(await refusalOf(await shared.clone(key))).toMatchObject({ code: 'engine_unavailable', status: 503 })
    shared.engine.hear = hear
    expect(await traces(shared)).toEqual(before)
  })

  test('an upload without a declared length is read up to the limit and no further', async () => {
    const key = await shared.key()
    const before = await traces(shared)
    let sent = 0
    const body = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(500_000))
        if (++sent === 100) controller.close()
      },
    })
    const headers = { 'content-type': 'multipart/form-data; boundary=b' }
    const response = await shared.fetch('/v1/voices', { method: 'POST', key, headers, body })
    expect(await refusalOf(response)).toMatchObject({ code: 'request_too_large', status: 413 })
    expect(sent).toBeLessThan(100)
    expect(await traces(shared)).toEqual(before)
  })

  test('a client that disconnects during its upload, or while its clip is checked', async () => {
    const key = await shared.key()
    const before = await traces(shared)
    const gone = Promise.withResolvers<void>()
    const socket = await Bun.connect({
      hostname: '127.0.0.1',
      port: Number(new URL(shared.url).port),
      socket: { data: () => {}, close: () => gone.resolve() },
    })
    socket.write(
      `POST /v1/voices HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Length: 100000\r\n` +
        'Content-Type: multipart/form-data; boundary=b\r\n\r\n--b\r\n',
    )
    socket.end()
    await gone.promise
    const heard = Promise.withResolvers<void>()
    const { hear } = shared.engine
    shared.engine.hear = () => {
      heard.resolve()
      return new Promise(() => {})
    }
    const body = new FormData()
    body.append('file', hum(3))
    const leaving = new AbortController()
    const asked = shared.fetch('/v1/voices', { method: 'POST', key, body, signal: leaving.signal }).catch(() => null)
    await heard.promise
    leaving.abort()
    expect(await asked).toBeNull()
    shared.engine.hear = hear
    await until('both are refused', () => shared.lines.filter((line) => line.includes('status=408')).length === 2)
    expect(await traces(shared)).toEqual(before)
    expect(shared.lines.filter((line) => line.includes('WARN POST /v1/voices'))).toEqual([])
    expect((await shared.clone(key)).status).toBe(201)
  })

  test('a body that is not a form, before anything is read', async () => {
    const key = await shared.key()
    const response = await shared.fetch('/v1/voices', { method: 'POST', key, body: '{"name":"Ada"}' })
    expect(await refusalOf(response)).toMatchObject({ code: 'unsupported_media_type', status: 415 })
    for (const type of ['multipart/form-data', 'multipart/form-data; boundary=b']) {
      const headers = { 'content-type': type }
      const torn = await shared.fetch('/v1/voices', { method: 'POST', key, headers, body: '--c\r\nnothing' })
      expect((await refusalOf(torn)).status).toBe(422)
    }
  })

  test('a key without the scope', async () => {
    const key = await shared.key({ scopes: ['tts'] })
    expect(await refusalOf(await shared.clone(key))).toMatchObject({ code: 'insufficient_scope', status: 403 })
  })
})
