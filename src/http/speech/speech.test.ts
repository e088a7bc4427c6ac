import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Instance, startInstance } from '../../testing/instance.ts'

let instance: Instance
let key: string
beforeAll(async () => {
  instance = await startInstance({ speechPerMinute: 100_000, operationsPerSecond: 10_000 })
  key = await instance.key({ account: 'ada' })
})
afterAll(() => instance[Symbol.asyncDispose]())

interface ErrorAnswer {
  error: { code: string; type: string; message: string; param: string | null }
}
const operation = async (id: string | null, by = key) =>
  (await (await instance.fetch(`/v1/operations/${id}`, { key: by })).json()) as Record<string, unknown>

describe('a body that cannot be accepted', () => {
  const long = (length: number) => 'é'.repeat(length)
  const cases: [string, Record<string, unknown>, number, string, string | null][] = [
    ['no input', { input: undefined }, 400, 'missing_required_parameter', 'input'],
    ['null input', { input: null }, 400, 'missing_required_parameter', 'input'],
    ['input of another type', { input: 5 }, 400, 'invalid_type', 'input'],
    ['input as array', { input: ['a'] }, 400, 'invalid_type', 'input'],
    ['empty input', { input: '' }, 400, 'empty_string', 'input'],
    ['blank input', { input: ' \n\t ' }, 400, 'empty_string', 'input'],
    ['4,097 characters', { input: long(4097) }, 400, 'string_above_max_length', 'input'],
    ['nothing to speak', { input: '你好世界' }, 400, 'unsupported_value', 'input'],
    ['a script that no voice reads', { input: '你好' }, 400, 'unsupported_value', 'input'],
    ['unknown format', { response_format: 'ogg2' }, 400, 'unsupported_value', 'response_format'],
    ['format of another type', { response_format: 3 }, 400, 'invalid_type', 'response_format'],
    ['too slow', { speed: 0.24 }, 400, 'decimal_below_min_value', 'speed'],
    ['too fast', { speed: '4.1' }, 400, 'decimal_above_max_value', 'speed'],
    ['speed of another type', { speed: 'fast' }, 400, 'invalid_type', 'speed'],
    ['speed as object', { speed: {} }, 400, 'invalid_type', 'speed'],
    ['odd times', { stream_format: 'sse', timestamps: [{ toString: 1 }] }, 400, 'unsupported_value', 'timestamps'],
    ['unknown stream format', { stream_format: 'ws' }, 400, 'unsupported_value', 'stream_format'],
    ['unknown model', { model: 'nope' }, 404, 'model_not_found', 'model'],
    ['a transcription model', { model: 'whisper-1' }, 400, 'unsupported_value', 'model'],
    ['model of another type', { model: 5 }, 400, 'invalid_type', 'model'],
    ['unknown voice', { voice: 'nobody' }, 404, 'voice_not_found', 'voice'],
    ['voice of another type', { voice: 5 }, 400, 'invalid_type', 'voice'],
    ['voice object of another type', { voice: { id: 5 } }, 400, 'invalid_type', 'voice'],
    ['bad language', { language: '!!' }, 400, 'unsupported_value', 'language'],
    ['language it does not speak', { language: 'de' }, 400, 'unsupported_value', 'language'],
    ['negative seed', { seed: -1 }, 400, 'decimal_below_min_value', 'seed'],
    ['fractional seed', { seed: 1.5 }, 400, 'invalid_type', 'seed'],
    ['odd sample rate', { sample_rate: 12345 }, 400, 'unsupported_value', 'sample_rate'],
    ['sample rate with mp3', { sample_rate: 8000, response_format: 'mp3' }, 400, 'unsupported_value', 'sample_rate'],
    ['long instructions', { instructions: long(4097) }, 400, 'string_above_max_length', 'instructions'],
  ]
  test.each(cases)('%s', async (_, body, status, code, param) => {
    const orders = instance.engine.orders.length
    const response = await instance.speak(key, body)
    const { error } = (await response.json()) as ErrorAnswer
    expect([response.status, error.code, error.param]).toEqual([status, code, param])
    expect(error.type).toBe('invalid_request_error')
    expect(response.headers.get('x-request-id')).toStartWith('req_')
    expect(instance.engine.orders.length).toBe(orders)
  })

  const nested = '['.repeat(100_000) + ']'.repeat(100_000)
  const raw: [string, string | Uint8Array, Record<string, string>, number, string][] = [
    ['no JSON', 'hello', {}, 400, 'invalid_json'],
    ['empty', '', {}, 400, 'invalid_json'],
    ['an array', '[]', {}, 400, 'invalid_json'],
    ['null', 'null', {}, 400, 'invalid_json'],
    ['not UTF-8', Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), {}, 400, 'invalid_json'],
    ['10 MB', JSON.stringify({ input: 'x'.repeat(1e7) }), {}, 413, 'request_too_large'],
    ['multipart', 'x', { 'content-type': 'multipart/form-data; boundary=x' }, 415, 'unsupported_media_type'],
    ['lists in lists', `{"input":"hi","timestamps":[${nested}],"stream_format":"sse"}`, {}, 400, 'unsupported_value'],
    ['an empty idempotency key', '{"input":"hi"}', { 'idempotency-key': '' }, 400, 'invalid_idempotency_key'],
    [
      'a long idempotency key',
      '{"input":"hi"}',
      { 'idempotency-key': 'x'.repeat(129) },
      400,
      'invalid_idempotency_key',
    ],
  ]
  test.each(raw)('%s', async (_, body, headers, status, code) => {
    const response = await instance.fetch('/v1/audio/speech', { method: 'POST', key, body: body as string, headers })
    expect([response.status, ((await response.json()) as ErrorAnswer).error.code]).toEqual([status, code])
  })

  test('10 MB in chunks without a length are refused while they arrive', async () => {
    const piece = new Uint8Array(65536).fill(0x20)
    let sent = 0
    const body = new ReadableStream({
      pull(controller) {
        sent += piece.length
        if (sent > 10e6) controller.close()
        else controller.enqueue(piece)
      },
    })
    const response = await instance.fetch('/v1/audio/speech', { method: 'POST', key, body })
    expect(response.status).toBe(413)
    expect(((await response.json()) as { error: { max_bytes: number } }).error.max_bytes).toBe(1_048_576)
  })
})

describe('an accepted body', () => {
  const cases: [string, Record<string, unknown>][] = [
    ['only input', { voice: undefined, model: undefined, response_format: undefined }],
    ['4,096 characters', { input: 'é'.repeat(4096) }],
    ['nulls', { model: null, voice: null, speed: null, instructions: null, stream_format: null, seed: null }],
    ['numeric strings', { speed: '1.5', seed: '7', sample_rate: '8000' }],
    ['a voice object', { voice: { id: 'wren' } }],
    ["Mistral's voice_id", { voice: undefined, voice_id: 'wren' }],
    ['a voice by its name', { voice: 'ALLOY' }],
    ['the native model', { model: 'hibari' }],
    ['an unlisted alias', { model: 'gpt-4o-mini-tts-2025-12-15' }],
    ['empty names', { model: '', voice: '' }],
    ['a format in capitals', { response_format: 'PCM' }],
    ['a regional language', { language: 'en_US' }],
    ['unknown fields', { backend: 'openai', volume_multiplier: 1, stream: true, user: 'x', metadata: { a: 1 } }],
    ['a lone surrogate', { input: 'a \ud800 b' }],
  ]
  test.each(cases)('%s', async (_, body) => {
    const response = await instance.speak(key, body)
    expect(response.status).toBe(200)
    await response.arrayBuffer()
    const record = await operation(response.headers.get('x-request-id'))
    expect(record).toMatchObject({ state: 'terminal', outcome: 'completed', type: 'speech' })
  })

  test('JSON is JSON whatever the Content-Type, with a BOM too', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const body = '\ufeff{"input":"hello"}'
    const response = await instance.fetch('/v1/audio/speech', { method: 'POST', key, headers, body })
    expect(response.status).toBe(200)
    await response.arrayBuffer()
  })
})

describe('the answer', () => {
  const types = {
    mp3: 'audio/mpeg',
    opus: 'audio/ogg',
    aac: 'audio/aac',
    flac: 'audio/flac',
    wav: 'audio/wav',
    pcm: 'audio/pcm',
  }
  test.each(Object.entries(types))('%s is labelled %s and counts PCM', async (format, type) => {
    const response = await instance.speak(key, { response_format: format })
    expect(response.headers.get('content-type')).toBe(type)
    expect(response.headers.get('content-disposition')).toBe(`inline; filename="speech.${format}"`)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('x-accel-buffering')).toBe('no')
    expect(response.headers.get('accept-ranges')).toBeNull()
    const id = response.headers.get('x-request-id')
    expect(id).toMatch(/^op_/)
    const bytes = new Uint8Array(await response.arrayBuffer())
    expect(await operation(id)).toMatchObject({
      outcome: 'completed',
      completion_bytes: 4 * 2400 * 2,
      charged_micros: 165,
    })
    if (format === 'pcm') expect(bytes.length).toBe(19_200)
    if (format === 'wav') {
      expect(bytes.length).toBe(19_244)
      expect(Array.from(bytes.slice(40, 44))).toEqual([255, 255, 255, 255])
      expect(response.headers.get('x-audio-sample-rate')).toBe('24000')
    }
  })

  test('audio is sent before synthesis ends', async () => {
    const gate = Promise.withResolvers<void>()
    instance.engine.plan = () => ({ before: (frame) => (frame === 3 ? gate.promise : undefined) })
    const response = await instance.speak(key)
    const reader = response.body!.getReader()
    let bytes = 0
    while (bytes < 3 * 4800) bytes += (await reader.read()).value?.length ?? 0
    expect((await operation(response.headers.get('x-request-id'))).state).toBe('pending')
    gate.resolve()
    while (!(await reader.read()).done);
    expect((await operation(response.headers.get('x-request-id'))).outcome).toBe('completed')
    instance.engine.plan = () => ({})
  })

  test('sse carries the same bytes, then usage, then [DONE]', async () => {
    const plain = new Uint8Array(await (await instance.speak(key, { response_format: 'wav' })).arrayBuffer())
    const response = await instance.speak(key, { response_format: 'wav', stream_format: 'sse' })
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const text = await response.text()
    const events = text.split('\n\n').filter((event) => event !== '')
    expect(events.every((event) => event.startsWith('data: '))).toBe(true)
    expect(events.at(-1)).toBe('data: [DONE]')
    const data = events.slice(0, -1).map((event) => JSON.parse(event.slice(6)) as Record<string, unknown>)
    const deltas = data.filter(({ type }) => type === 'speech.audio.delta')
    expect(Buffer.concat(deltas.map(({ audio }) => Buffer.from(String(audio), 'base64')))).toEqual(Buffer.from(plain))
    expect(data.at(-1)).toEqual({
      type: 'speech.audio.done',
      usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0, characters: 11, audio_seconds: 0.4 },
      operation_id: response.headers.get('x-request-id'),
    })
  })
})

test('another account cannot see an operation', async () => {
  const response = await instance.speak(key)
  await response.arrayBuffer()
  const other = await instance.key()
  const id = response.headers.get('x-request-id')
  const strip = (text: string) => text.replaceAll(/req_[0-9A-Z]{26}/g, 'req')
  const foreign = await instance.fetch(`/v1/operations/${id}`, { key: other })
  const unknown = await instance.fetch('/v1/operations/op_01K00000000000000000000000', { key: other })
  expect(foreign.status).toBe(404)
  expect(strip(await foreign.text())).toBe(strip(await unknown.text()))
  const restricted = await instance.key({ account: 'ada', scopes: ['voices'] })
  expect((await instance.fetch(`/v1/operations/${id}`, { key: restricted })).status).toBe(403)
})

test('money: a prepaid account pays, and is refused with an explanation when it cannot', async () => {
  const poor = await instance.key({ account: 'poor', prepaidMicros: 200 })
  await (await instance.speak(poor)).arrayBuffer()
  const response = await instance.speak(poor)
  expect(response.status).toBe(402)
  const { error } = (await response.json()) as { error: Record<string, unknown> }
  expect(error).toMatchObject({
    code: 'insufficient_balance',
    type: 'billing_error',
    required_micros: 165,
    balance_micros: 35,
  })
  const account = (await (await instance.fetch('/v1/me', { key: poor })).json()) as { balance_micros: number }
  expect(account.balance_micros).toBe(35)
  const usage = (await (await instance.fetch('/v1/usage', { key: poor })).json()) as { totals: Record<string, unknown> }
  expect(usage.totals).toMatchObject({
    charged_micros: 165,
    speech: { requests: 1, characters: 11, audio_seconds: 0.4, charged_micros: 165 },
  })
})
