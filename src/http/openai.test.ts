/** The official SDK as the client, unmodified: what it sends, what it retries, and how it reports our errors. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI, { APIError, AuthenticationError, ConflictError, NotFoundError } from 'openai'
import { type Instance, startInstance } from '../testing/instance.ts'
import { deaf } from './transcription/transcription.fixture.ts'

let instance: Instance
let key: string
/** Requests that reached the server, retries included. */
let sent = 0
beforeAll(async () => {
  instance = await startInstance({ speechPerMinute: 10_000 })
  key = await instance.key({ account: 'sdk' })
})
afterAll(() => instance[Symbol.asyncDispose]())

const client = (options: { apiKey?: string } = {}, at = instance) =>
  new OpenAI({
    apiKey: key,
    ...options,
    baseURL: `${at.url}/v1`,
    fetch: (input, init) => {
      // The SDK also tries its runtime's FormData on a data: address.
      if (String(input).startsWith(at.url)) sent++
      return fetch(input as string, init as RequestInit)
    },
  })
const hello = { model: 'tts-1', voice: 'alloy', input: 'hello there' } as const

/** The error of a refused call, and how many requests it took. */
async function refusal(call: () => Promise<unknown>): Promise<{ error: APIError; requests: number }> {
  const before = sent
  try {
    await call()
  } catch (error) {
    if (error instanceof APIError) return { error, requests: sent - before }
    throw error
  }
  throw new Error('it was not refused')
}

test.each(['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const)('speech as %s', async (format) => {
  const { data, response, request_id } = await client()
    .audio.speech.create({ ...hello, response_format: format })
    .withResponse()
    .then(async (result) => ({ ...result, data: await result.data.arrayBuffer() }))
  expect(data.byteLength).toBeGreaterThan(300)
  expect(request_id).toStartWith('op_')
  expect(response.status).toBe(200)
})

test('speech is mp3 when no format is named, and streams', async () => {
  const response = await client().audio.speech.create(hello)
  expect(response.headers.get('content-type')).toBe('audio/mpeg')
  const reader = response.body!.getReader()
  const first = await reader.read()
  expect([first.value?.[0], (first.value?.[1] ?? 0) & 0xe0]).toEqual([0xff, 0xe0])
  while (!(await reader.read()).done);
})

test('models are listed and retrieved', async () => {
  const ids: string[] = []
  for await (const model of client().models.list()) ids.push(model.id)
  expect(ids).toContain('tts-1')
  expect((await client().models.retrieve('hibari')).object).toBe('model')
  const { error, requests } = await refusal(() => client().models.retrieve('org/unknown'))
  expect(error).toBeInstanceOf(NotFoundError)
  expect([error.code, requests]).toEqual(['model_not_found', 1])
})

describe('errors', () => {
  test('have code, type, param and request id where the SDK looks for them', async () => {
    const { error } = await refusal(() => client().audio.speech.create({ ...hello, voice: 'nobody' }))
    expect(error).toBeInstanceOf(NotFoundError)
    expect([error.code, error.type, error.param]).toEqual(['voice_not_found', 'invalid_request_error', 'voice'])
    expect(error.requestID).toStartWith('req_')
    expect(error.message).toContain("The voice 'nobody' does not exist")
  })

  test('a wrong key is an AuthenticationError after one request', async () => {
    const { error, requests } = await refusal(() => client({ apiKey: 'sk-myna-wrong' }).models.list())
    expect(error).toBeInstanceOf(AuthenticationError)
    expect([error.code, requests]).toEqual(['invalid_api_key', 1])
  })

  test('a 409 is not retried, and names the operation that holds the key', async () => {
    const headers = { 'Idempotency-Key': crypto.randomUUID() }
    const first = await client().audio.speech.create(hello, { headers })
    await first.arrayBuffer()
    const { error, requests } = await refusal(() => client().audio.speech.create(hello, { headers }))
    expect(error).toBeInstanceOf(ConflictError)
    expect(requests).toBe(1)
    expect(error.error).toMatchObject({
      code: 'duplicate_request',
      operation_id: first.headers.get('x-request-id'),
      state: 'terminal',
      outcome: 'completed',
    })
    const other = await refusal(() => client().audio.speech.create({ ...hello, input: 'other' }, { headers }))
    expect([other.error.code, other.requests]).toEqual(['idempotency_conflict', 1])
  })

  test('a failure before the first audio is retried with the same key and then works, charged once', async () => {
    const prepaid = await instance.key({ account: 'retry', prepaidMicros: 1000 })
    let calls = 0
    instance.engine.plan = () => (calls++ < 2 ? { failAt: 0 } : {})
    const before = sent
    const headers = { 'Idempotency-Key': 'once' }
    const response = await client({ apiKey: prepaid }).audio.speech.create(hello, { headers })
    await response.arrayBuffer()
    instance.engine.plan = () => ({})
    expect(sent - before).toBe(3)
    const me = (await (await instance.fetch('/v1/me', { key: prepaid })).json()) as { balance_micros: number }
    expect(me.balance_micros).toBe(1000 - 165)
  })

  test('a cancelled request is not retried', async () => {
    const started = Promise.withResolvers<void>()
    instance.engine.plan = () => ({
      before: () => {
        started.resolve()
        return new Promise(() => {})
      },
    })
    const headers = { 'Idempotency-Key': 'cancelled' }
    const refused = refusal(() => client().audio.speech.create(hello, { headers }))
    await started.promise
    const duplicate = await instance.speak(
      key,
      { response_format: undefined, model: 'tts-1' },
      {
        'idempotency-key': 'cancelled',
      },
    )
    const { error } = (await duplicate.json()) as { error: { operation_id: string } }
    await instance.fetch(`/v1/operations/${error.operation_id}/cancel`, { method: 'POST', key })
    const { error: answer, requests } = await refused
    expect([answer.code, requests]).toEqual(['operation_cancelled', 1])
    instance.engine.plan = () => ({})
  })

  test('a truncated stream is an error and costs nothing', async () => {
    const gate = Promise.withResolvers<void>()
    instance.engine.plan = () => ({ failAt: 2, before: (frame) => (frame === 2 ? gate.promise : undefined) })
    const response = await client().audio.speech.create({ ...hello, response_format: 'pcm' })
    gate.resolve()
    const truncated = await response.arrayBuffer().then(
      () => false,
      () => true,
    )
    instance.engine.plan = () => ({})
    expect(truncated).toBe(true)
    const record = await instance.fetch(`/v1/operations/${response.headers.get('x-request-id')}`, { key })
    expect(await record.json()).toMatchObject({ outcome: 'stream_failed', charged_micros: 0 })
  })

  test('transcription without a model names the command that installs one, after one request', async () => {
    await using bare = await startInstance({}, { catalog: deaf })
    const file = new File([new Uint8Array(100)], 'a.wav')
    const by = client({ apiKey: await bare.key() }, bare)
    const { error, requests } = await refusal(() => by.audio.transcriptions.create({ file, model: 'whisper-1' }))
    expect([error.status, error.code, requests]).toEqual([503, 'transcription_unavailable', 1])
    expect(error.message).toContain('myna models pull')
  })
})

test('the SDK reads our event stream', async () => {
  const response = await client().audio.speech.create({ ...hello, response_format: 'pcm', stream_format: 'sse' })
  const text = await response.text()
  const { Stream } = await import('openai/streaming')
  const types: string[] = []
  let bytes = 0
  const stream = Stream.fromSSEResponse<{ type: string; audio?: string }>(new Response(text), new AbortController())
  for await (const event of stream) {
    types.push(event.type)
    bytes += Buffer.from(event.audio ?? '', 'base64').length
  }
  expect([types.at(-1), bytes]).toEqual(['speech.audio.done', 4 * 4800])
})
