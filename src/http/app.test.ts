import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type Instance, startInstance } from '../testing/instance.ts'
import { deaf } from './transcription/transcription.fixture.ts'

let instance: Instance
let key: string
beforeAll(async () => {
  instance = await startInstance({ publicPerMinute: 100_000 })
  key = await instance.key()
})
afterAll(() => instance[Symbol.asyncDispose]())

interface ErrorAnswer {
  error: { code: string; type: string; message: string; param: string | null; request_id: string }
}

describe('every answer', () => {
  const cases: [string, string, RequestInit & { key?: boolean }, number, string | null][] = [
    ['GET', '/', {}, 200, null],
    ['GET', '/v1', {}, 200, null],
    ['GET', '/v1/', {}, 200, null],
    ['HEAD', '/', {}, 200, null],
    ['GET', '/health', {}, 200, null],
    ['GET', '/healthz', {}, 200, null],
    ['GET', '/livez', {}, 200, null],
    ['GET', '/readyz', {}, 200, null],
    ['HEAD', '/readyz', {}, 200, null],
    ['GET', '/metrics', {}, 401, 'invalid_api_key'],
    ['GET', '/v1/models', { key: true }, 200, null],
    ['GET', '/v1/models/', { key: true }, 200, null],
    ['HEAD', '/v1/models', { key: true }, 200, null],
    ['GET', '/v1/models', {}, 401, 'missing_api_key'],
    ['GET', '/v1/models/hibari', { key: true }, 200, null],
    ['GET', '/v1/models/tts-1', { key: true }, 200, null],
    ['GET', '/v1/models/tts-1-1106', { key: true }, 200, null],
    ['GET', '/v1/models/whisper-1', { key: true }, 200, null],
    ['GET', '/v1/models/nobody/nothing', { key: true }, 404, 'model_not_found'],
    ['GET', '/v1/models/nobody%2Fnothing', { key: true }, 404, 'model_not_found'],
    ['GET', `/v1/models/${'x'.repeat(257)}`, { key: true }, 422, 'validation_error'],
    ['GET', '/v1/models/a%00b', { key: true }, 422, 'validation_error'],
    ['GET', '/v1/models/%FF', { key: true }, 422, 'validation_error'],
    ['GET', '/v1/audio/models', {}, 200, null],
    ['GET', '/v1/audio/voices', {}, 200, null],
    ['GET', '/v1/audio/voices?model=hibari', { key: true }, 200, null],
    ['GET', '/v1/me', { key: true }, 200, null],
    ['GET', '/v1/usage', { key: true }, 200, null],
    ['GET', '/v1/operations/op_1', { key: true }, 404, 'operation_not_found'],
    ['GET', '/v1/operations/%00', { key: true }, 404, 'operation_not_found'],
    ['POST', '/v1/operations/op_1/cancel', { key: true }, 404, 'operation_not_found'],
    ['POST', '/v1/audio/transcriptions', { key: true }, 415, 'unsupported_media_type'],
    ['POST', '/v1/audio/translations', { key: true }, 415, 'unsupported_media_type'],
    ['POST', '/v1/audio/transcriptions', {}, 401, 'missing_api_key'],
    ['GET', '/nowhere', {}, 404, 'unknown_url'],
    ['POST', '/v1/nowhere', {}, 404, 'unknown_url'],
    ['GET', '/models', {}, 404, 'unknown_url'],
    ['GET', '/v1/audio/speech', { key: true }, 405, 'method_not_allowed'],
    ['DELETE', '/v1/models', { key: true }, 405, 'method_not_allowed'],
    ['PUT', '/v1/operations/op_1', {}, 405, 'method_not_allowed'],
    ['POST', '/health', {}, 405, 'method_not_allowed'],
    ['GET', '/v1/operations/op_1/cancel', {}, 405, 'method_not_allowed'],
  ]
  test.each(cases)('%s %s', async (method, path, init, status, code) => {
    const response = await instance.fetch(path, { method, ...(init.key ? { key } : {}) })
    expect(response.status).toBe(status)
    expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9A-HJKMNP-TV-Z]{26}$/)
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    if (code === null) return
    const { error } = (await response.json()) as ErrorAnswer
    expect(error.code).toBe(code)
    expect(error.message.length).toBeGreaterThan(5)
    expect(error.request_id).toBe(response.headers.get('x-request-id') ?? '')
  })
})

test('HEAD has the headers of GET and no body', async () => {
  const [head, get] = await Promise.all(['HEAD', 'GET'].map((method) => instance.fetch('/v1/models', { method, key })))
  expect(await head?.text()).toBe('')
  expect(head?.headers.get('content-type')).toBe(get?.headers.get('content-type') ?? '')
})

test('405 names the allowed methods', async () => {
  const response = await instance.fetch('/v1/audio/speech', { method: 'GET' })
  expect(response.headers.get('allow')).toBe('POST, OPTIONS')
  const models = await instance.fetch('/v1/models', { method: 'POST' })
  expect(models.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
})

test('a base URL without /v1 is explained', async () => {
  const { error } = (await (await instance.fetch('/audio/speech', { method: 'POST' })).json()) as ErrorAnswer
  expect(error.message).toContain('must end with /v1')
})

test('a client request id is echoed, a forged request id is not', async () => {
  const headers = { 'x-client-request-id': 'mine', 'x-request-id': 'op_forged' }
  const response = await instance.fetch('/health', { headers })
  expect(response.headers.get('x-client-request-id')).toBe('mine')
  expect(response.headers.get('x-request-id')).toMatch(/^req_/)
})

describe('CORS', () => {
  const origin = 'https://page.example'
  const preflight = (path: string, at = instance) =>
    at.fetch(path, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-stainless-os' },
    })

  test('keyed routes are closed by default, public ones are open', async () => {
    const closed = await preflight('/v1/audio/speech')
    expect([closed.status, closed.headers.get('access-control-allow-origin')]).toEqual([204, null])
    const open = await preflight('/v1/audio/voices')
    expect([open.status, open.headers.get('access-control-allow-origin')]).toEqual([204, '*'])
    const voices = await instance.fetch('/v1/audio/voices', { headers: { origin } })
    expect(voices.headers.get('access-control-allow-origin')).toBe('*')
    const models = await instance.fetch('/v1/models', { headers: { origin }, key })
    expect(models.headers.get('access-control-allow-origin')).toBeNull()
  })

  test('CORS_ORIGINS opens the rest to the origins that it names', async () => {
    await using opened = await startInstance({ corsOrigins: [origin] })
    const allowed = await preflight('/v1/audio/speech', opened)
    expect(allowed.headers.get('access-control-allow-origin')).toBe(origin)
    expect(allowed.headers.get('access-control-allow-headers')).toBe('x-stainless-os')
    expect(allowed.headers.get('access-control-max-age')).toBe('86400')
    const refused = await opened.fetch('/v1/models', { headers: { origin }, key: await opened.key() })
    expect(refused.headers.get('access-control-expose-headers')).toContain('X-Request-Id')
    const other = await opened.fetch('/v1/models', { headers: { origin: 'https://other.example' } })
    expect(other.headers.get('access-control-allow-origin')).toBeNull()
    expect(other.headers.get('vary')).toContain('Origin')
  })
})

test('models and voices have the fields that pickers read', async () => {
  const models = (await (await instance.fetch('/v1/models', { key })).json()) as { data: Record<string, unknown>[] }
  expect(models.data.map(({ id }) => id)).toEqual([
    'hibari',
    'moonshine-tiny-en',
    'tts-1',
    'tts-1-hd',
    'gpt-4o-mini-tts',
    'whisper-1',
    'gpt-4o-transcribe',
    'gpt-4o-mini-transcribe',
    'gpt-transcribe',
  ])
  for (const model of models.data) {
    expect(model).toMatchObject({ object: 'model', owned_by: 'myna', task: expect.any(String) })
    expect(Number.isInteger(model.created)).toBe(true)
  }
  const roots = Object.fromEntries(models.data.map(({ id, root }) => [id, root]))
  expect(roots).toMatchObject({ hibari: 'hibari', 'tts-1': 'hibari', 'whisper-1': 'moonshine-tiny-en' })
  const audio = (await (await instance.fetch('/v1/audio/models')).json()) as { models: { id: string; name: string }[] }
  expect(audio.models[0]).toEqual({ id: 'hibari', name: expect.any(String) })
  const voices = (await (await instance.fetch('/v1/audio/voices')).json()) as { voices: Record<string, unknown>[] }
  expect(voices.voices).toHaveLength(6)
  for (const voice of voices.voices) {
    expect(voice).toMatchObject({ object: 'audio.voice', status: 'ready', is_public: true, is_owner: false })
    expect(voice.id).toBe(voice.voice_id)
  }
})

test('metrics are in the text format and count requests by template', async () => {
  await instance.fetch('/v1/operations/op_x', { key })
  const response = await fetch('http://localhost/metrics', { unix: join(instance.dataDir, 'myna.sock') })
  expect(response.headers.get('content-type')).toStartWith('text/plain; version=0.0.4')
  const text = await response.text()
  expect(text).toMatch(
    /voice_http_requests_total\{method="GET",route="\/v1\/operations\/\{operation_id\}",status="404"\}/,
  )
  expect(text).toContain('voice_build_info{version=')
  expect(text).not.toContain('op_x')
})

test('the processor time is the counter that dashboards look for', async () => {
  const scrape = async () => {
    const response = await fetch('http://localhost/metrics', { unix: join(instance.dataDir, 'myna.sock') })
    const text = await response.text()
    expect(text).toContain('# TYPE process_cpu_seconds_total counter')
    return Number(/^process_cpu_seconds_total (\S+)$/m.exec(text)?.[1])
  }
  const beforeS = process.cpuUsage().user / 1e6
  const [first, second] = [await scrape(), await scrape()]
  expect(first).toBeGreaterThanOrEqual(beforeS)
  expect(second).toBeGreaterThanOrEqual(first)
  expect(second).toBeLessThan(2 * first)
})

test('with a token, metrics are only for its bearer', async () => {
  await using guarded = await startInstance({ metricsToken: 'secret' })
  expect((await guarded.fetch('/metrics')).status).toBe(401)
  expect((await guarded.fetch('/metrics', { key: 'wrong' })).status).toBe(401)
  expect((await guarded.fetch('/metrics', { key: 'secret' })).status).toBe(200)
  expect((await guarded.fetch('/metrics', { headers: { 'x-forwarded-for': '127.0.0.1' } })).status).toBe(401)
})

test('the metrics token cannot be guessed fast, and still works meanwhile', async () => {
  await using guarded = await startInstance({ metricsToken: 'secret' })
  const statuses: number[] = []
  for (let turn = 0; turn < 12; turn++) statuses.push((await guarded.fetch('/metrics', { key: `${turn}` })).status)
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429])
  expect((await guarded.fetch('/metrics', { key: 'secret' })).status).toBe(200)
})

test('readiness without a model for transcription: unavailable, but not a fault', async () => {
  await using bare = await startInstance({}, { catalog: deaf })
  const response = await bare.fetch('/readyz')
  const { status, checks, devices } = (await response.json()) as Record<string, Record<string, unknown>>
  expect([response.status, String(status)]).toEqual([200, 'ready'])
  expect(checks).toEqual({ database: 'ok', tts: 'ok', transcription: 'unavailable', disk: 'ok', uploads: 'ok' })
  expect(Object.keys(devices ?? {})).toEqual(['tts'])
})

test('readiness reports which models are in memory, and which are being loaded', async () => {
  instance.engine.known = {
    loading: ['pocket'],
    models: [
      { id: 'hibari', device: 'cpu', memoryBytes: 150_000_000, activeStreams: 0, idleMsLeft: 1500 },
      { id: 'kokoro', device: 'cuda:0', memoryBytes: 800_000_000, activeStreams: 3, idleMsLeft: null },
    ],
  }
  const response = await instance.fetch('/readyz')
  instance.engine.known = {}
  const { models } = (await response.json()) as { models: Record<string, unknown>[] }
  const loaded = { task: 'text-to-speech', state: 'loaded' }
  expect(models).toEqual([
    { ...loaded, id: 'hibari', device: 'cpu', memory_bytes: 150_000_000, active_streams: 0, idle_seconds_left: 2 },
    {
      ...loaded,
      id: 'kokoro',
      device: 'cuda:0',
      memory_bytes: 800_000_000,
      active_streams: 3,
      idle_seconds_left: null,
    },
    {
      id: 'pocket',
      task: 'text-to-speech',
      state: 'loading',
      device: null,
      memory_bytes: null,
      active_streams: 0,
      idle_seconds_left: null,
    },
  ])
})

test('a name of one to three letters is a name like any other', async () => {
  const socket = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
  for (const host of ['a', 'pi', 'nas', 'nas:80']) {
    const status = async (path: string, headers: Record<string, string> = {}) =>
      (await instance.fetch(path, { key, headers: { ...headers, host } })).status
    const found = [await status('/v1/models/'), await status('/v1/models/nobody/nothing')]
    const upgraded = await status('/v1/realtime', { ...socket, 'sec-websocket-key': btoa('0123456789abcdef') })
    expect([host, ...found, upgraded]).toEqual([host, 200, 404, 101])
  }
})

test('two slashes never lead to a 405', async () => {
  for (const host of ['x', 'voice.example']) {
    const head = `GET // HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
    const answer = await new Promise<string>((resolve, reject) => {
      let text = ''
      const { hostname, port } = new URL(instance.url)
      void Bun.connect({
        hostname,
        port: Number(port),
        socket: {
          open: (socket) => void socket.write(head),
          data: (_socket, bytes) => void (text += bytes.toString()),
          close: () => resolve(text),
          error: (_socket, error) => reject(error),
        },
      })
    })
    expect(answer).toMatch(/^HTTP\/1\.1 (200|404) /)
  }
})
