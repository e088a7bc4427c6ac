/**
 * Checks the API's document against the program: a validator reads it, its operations are the app's routes, and its
 * examples and the server's real answers satisfy its schemas.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { OpenAPIV3_1 } from 'openapi-types'
import { trustedDependencies, version } from '../../../package.json' with { type: 'json' }
import { errorCodes } from '../../domain/error.ts'
import { hum, type Instance, startInstance } from '../../testing/instance.ts'
import { until } from '../../testing/until.ts'
import { codes } from '../error-codes.ts'

let instance: Instance
let key: string
let document: OpenAPIV3_1.Document
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
beforeAll(async () => {
  instance = await startInstance({ maxClipBytes: 3_000_000, clonesPerMinute: 100 })
  key = await instance.key({ prepaidMicros: 1000 })
  document = (await (await instance.fetch('/openapi.json')).json()) as OpenAPIV3_1.Document
  ajv.addSchema(document, 'document')
})
afterAll(() => instance[Symbol.asyncDispose]())

interface Described {
  path: string
  method: string
  operation: OpenAPIV3_1.OperationObject
}

function operations(): Described[] {
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    Object.entries(item ?? {}).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      operation: operation as OpenAPIV3_1.OperationObject,
    })),
  )
}

/** Faults of a value, by the schema of that name in the document. */
function faults(schema: string, value: unknown): string {
  ajv.validate(`document#/components/schemas/${schema}`, value)
  return ajv.errorsText()
}
const none = 'No errors'

interface Media {
  schema?: { $ref?: string }
  example?: unknown
  examples?: Record<string, { value?: unknown }>
}

function* examplesOf(operation: OpenAPIV3_1.OperationObject): Generator<{ schema: string; value: unknown }> {
  const body = operation.requestBody as OpenAPIV3_1.RequestBodyObject | undefined
  const responses = Object.values(operation.responses ?? {}) as OpenAPIV3_1.ResponseObject[]
  for (const content of [body?.content, ...responses.map((response) => response.content)]) {
    for (const media of Object.values(content ?? {}) as Media[]) {
      const schema = media.schema?.$ref?.split('/').at(-1)
      if (schema === undefined) continue
      if (media.example !== undefined) yield { schema, value: media.example }
      for (const { value } of Object.values(media.examples ?? {})) yield { schema, value }
    }
  }
}

describe('the document', () => {
  test('is valid OpenAPI 3.1 of this version', async () => {
    expect(await new Validator().validate(JSON.parse(JSON.stringify(document)) as Record<string, unknown>)).toEqual({
      valid: true,
    })
    expect(document.openapi).toBe('3.1.0')
    expect(document.info.version).toBe(version)
  })

  test('describes exactly these routes', () => {
    expect(
      operations()
        .map(({ method, path }) => `${method} ${path}`)
        .sort(),
    ).toEqual([
      'DELETE /v1/audio/voice_consents/{consent_id}',
      'DELETE /v1/audio/voices/{voice_id}',
      'DELETE /v1/models/{model_id}',
      'DELETE /v1/voices/{voice_id}',
      'GET /',
      'GET /health',
      'GET /metrics',
      'GET /readyz',
      'GET /v1',
      'GET /v1/admin/operations',
      'GET /v1/admin/operations/{operation_id}',
      'GET /v1/admin/usage',
      'GET /v1/audio/models',
      'GET /v1/audio/voice_consents',
      'GET /v1/audio/voice_consents/{consent_id}',
      'GET /v1/audio/voices',
      'GET /v1/me',
      'GET /v1/models',
      'GET /v1/models/{model_id}',
      'GET /v1/operations',
      'GET /v1/operations/{operation_id}',
      'GET /v1/realtime',
      'GET /v1/usage',
      'GET /v1/user',
      'GET /v1/user/subscription',
      'GET /v1/voices',
      'GET /v1/voices/{voice_id}',
      'GET /v1/voices/{voice_id}/preview',
      'GET /v1/voices/{voice_id}/preview.png',
      'GET /v1/voices/{voice_id}/preview.webp',
      'GET /v2/voices',
      'PATCH /v1/voices/{voice_id}',
      'POST /dev/captioned_speech',
      'POST /v1/admin/operations/{operation_id}/cancel',
      'POST /v1/audio/speech',
      'POST /v1/audio/transcriptions',
      'POST /v1/audio/translations',
      'POST /v1/audio/voice_consents',
      'POST /v1/audio/voice_consents/{consent_id}',
      'POST /v1/audio/voices',
      'POST /v1/models/{model_id}',
      'POST /v1/operations/{operation_id}/cancel',
      'POST /v1/realtime/client_secrets',
      'POST /v1/speech-to-text',
      'POST /v1/text-to-speech/{voice_id}',
      'POST /v1/text-to-speech/{voice_id}/stream',
      'POST /v1/text-to-speech/{voice_id}/stream/with-timestamps',
      'POST /v1/text-to-speech/{voice_id}/with-timestamps',
      'POST /v1/voices',
      'POST /v1/voices/{voice_id}/edit',
      'POST /v1/voices/{voice_id}/remake',
    ])
  })

  test('describes no route that the server lacks', async () => {
    for (const { method, path, operation } of operations()) {
      const headers = operation.tags?.includes('ElevenLabs') ? { 'xi-api-key': 'wrong' } : {}
      const response = await instance.fetch(path.replace(/\{\w+\}/g, 'nothing'), { method, headers })
      expect(`${path} ${await response.text()}`).not.toMatch(/"unknown_url"|"method_not_allowed"/)
    }
  })

  test('describes for every route what it is, who may call it and how it may fail', () => {
    for (const { path, operation } of operations()) {
      expect(operation.summary, path).toBeString()
      expect(operation.tags, path).toHaveLength(1)
      expect(
        document.tags?.map(({ name }) => name),
        path,
      ).toContain(operation.tags?.[0] ?? '')
      expect(operation.security, path).toBeArray()
      expect(Object.keys(operation.responses ?? {}), path).toContain('500')
    }
  })

  test('has examples that satisfy their schemas', () => {
    const found = operations().flatMap(({ path, operation }) =>
      [...examplesOf(operation)].map(({ schema, value }) => `${path} ${schema}: ${faults(schema, value)}`),
    )
    expect(found.length).toBeGreaterThan(100)
    expect(found.filter((line) => !line.endsWith(`: ${none}`))).toEqual([])
  })

  test('shows a code under its own status', () => {
    for (const { path, operation } of operations()) {
      for (const [status, response] of Object.entries(operation.responses ?? {})) {
        const { content } = response as OpenAPIV3_1.ResponseObject
        for (const code of Object.keys(content?.['application/json']?.examples ?? {})) {
          const known = errorCodes.find((candidate) => candidate === code)
          if (known !== undefined) expect(`${path} ${codes[known].status}`).toBe(`${path} ${status}`)
        }
      }
    }
  })
})

/** The answer matches the document: its status, its type and, if it is JSON, its content. */
async function foreseen(method: string, path: string, response: Response): Promise<void> {
  const operation = operations().find((one) => one.method === method && one.path === path)?.operation
  const described = operation?.responses?.[response.status] as OpenAPIV3_1.ResponseObject | undefined
  expect(described, `${method} ${path} ${response.status}`).toBeDefined()
  const type = (response.headers.get('content-type') ?? '').split(';')[0] ?? ''
  expect(Object.keys(described?.content ?? {})).toContain(type)
  const body = await response.bytes()
  const media = described?.content?.[type] as Media
  const schema = media.schema?.$ref?.split('/').at(-1)
  if (type !== 'application/json' || schema === undefined) return
  const value: unknown = JSON.parse(new TextDecoder().decode(body))
  expect(`${path} ${JSON.stringify(value)} ${faults(schema, value)}`).toEndWith(none)
}

const speechEvents = {
  'speech.audio.delta': 'SpeechDeltaEvent',
  'speech.audio.timestamps': 'SpeechTimestampsEvent',
  'speech.audio.done': 'SpeechDoneEvent',
}

describe('the server answers as documented', () => {
  test.each([
    ['/', '/'],
    ['/v1', '/v1'],
    ['/health', '/health'],
    ['/readyz', '/readyz'],
    ['/v1/audio/models', '/v1/audio/models'],
    ['/v1/audio/voices', '/v1/audio/voices'],
    ['/v1/models', '/v1/models'],
    ['/v1/models/{model_id}', '/v1/models/tts-1'],
    ['/v1/me', '/v1/me'],
  ])('GET %s', async (path, address) => {
    const response = await instance.fetch(address, { key })
    expect(response.status).toBe(200)
    await foreseen('GET', path, response)
  })

  test.each(['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'])('speech as %s', async (response_format) => {
    const response = await instance.speak(instance.adminKey, { response_format })
    expect(response.status).toBe(200)
    await foreseen('POST', '/v1/audio/speech', response)
  })

  test('speech as events, its operation, its cancellation and its usage', async () => {
    const response = await instance.speak(key, { stream_format: 'sse', response_format: 'pcm', timestamps: true })
    const events = (await response.clone().text()).split('\n\n').filter((line) => line.startsWith('data: {'))
    await foreseen('POST', '/v1/audio/speech', response)
    const seen = new Set<string>()
    for (const event of events.map((line) => JSON.parse(line.slice(6)) as { type: keyof typeof speechEvents })) {
      seen.add(event.type)
      expect(faults(speechEvents[event.type], event)).toBe(none)
    }
    expect([...seen].toSorted()).toEqual(Object.keys(speechEvents).toSorted())
    const id = response.headers.get('x-request-id')
    await foreseen('GET', '/v1/operations/{operation_id}', await instance.fetch(`/v1/operations/${id}`, { key }))
    const cancel = await instance.fetch(`/v1/operations/${id}/cancel`, { method: 'POST', key })
    await foreseen('POST', '/v1/operations/{operation_id}/cancel', cancel)
    const usage = await instance.fetch('/v1/usage?group_by=model', { key })
    expect(await usage.clone().text()).toContain('organization.usage.audio_speeches.result')
    await foreseen('GET', '/v1/usage', usage)
  })

  test.each([
    [400, { input: '' }],
    [400, { input: 'x', speed: 9 }],
    [400, { input: 'x', response_format: 'ogg2' }],
    [402, { input: 'x'.repeat(4000) }],
    [404, { voice: 'nobody' }],
    [404, { model: 'nothing' }],
  ])('speech refused with %p', async (status, body) => {
    const response = await instance.speak(key, body)
    expect(response.status).toBe(status)
    await foreseen('POST', '/v1/audio/speech', response)
  })

  test('refused reuse of an idempotency key', async () => {
    const headers = { 'idempotency-key': 'once' }
    await (await instance.speak(instance.adminKey, {}, headers)).bytes()
    for (const body of [{}, { input: 'something else' }]) {
      const response = await instance.speak(instance.adminKey, body, headers)
      expect(response.status).toBe(409)
      await foreseen('POST', '/v1/audio/speech', response)
    }
  })

  test('a clone, its voice, its preview, its changes and its deletion', async () => {
    const one = '/v1/voices/{voice_id}'
    await foreseen('GET', one, await instance.fetch('/v1/voices/lark', { key }))
    const made = await instance.clone(key, { name: 'Ada', labels: '{"accent":"welsh"}' })
    const { voice_id: id } = (await made.clone().json()) as { voice_id: string }
    await foreseen('POST', '/v1/voices', made)
    await until('the voice is ready', async () => {
      const { status } = (await (await instance.fetch(`/v1/voices/${id}`, { key })).json()) as { status: string }
      return status === 'ready'
    })
    await foreseen('GET', one, await instance.fetch(`/v1/voices/${id}`, { key }))
    await foreseen('GET', '/v1/voices', await instance.fetch('/v1/voices', { key }))
    await foreseen('GET', '/v1/voices', await instance.fetch('/v1/voices?compat=0', { key }))
    for (const form of ['wav', 'mp3', 'opus']) {
      const preview = await instance.fetch(`/v1/voices/${id}/preview?response_format=${form}`, { key })
      await foreseen('GET', `${one}/preview`, preview)
    }
    for (const form of ['png', 'webp']) {
      await foreseen('GET', `${one}/preview.${form}`, await instance.fetch(`/v1/voices/${id}/preview.${form}`, { key }))
    }
    const change = (body: string) => instance.fetch(`/v1/voices/${id}`, { method: 'PATCH', key, body })
    await foreseen('PATCH', one, await change('{"name":"Eve"}'))
    await foreseen('PATCH', one, await change('{"name":""}'))
    await foreseen('PATCH', one, await change('{'))
    const gone = await instance.fetch(`/v1/voices/${id}`, { method: 'DELETE', key })
    expect([gone.status, await gone.text()]).toEqual([204, ''])
    await foreseen('DELETE', one, await instance.fetch(`/v1/voices/${id}`, { method: 'DELETE', key }))
    await foreseen('DELETE', one, await instance.fetch('/v1/voices/lark', { method: 'DELETE', key }))
  })

  test.each([
    [413, { file: hum(100) }],
    [422, {}],
    [422, { file: hum(1) }],
    [422, { file: hum(70) }],
    [422, { file: hum(3, 0) }],
    [422, { file: new File(['no audio at all'], 'a.wav') }],
    [422, { file: hum(3), name: 'x'.repeat(101) }],
    [403, { file: hum(3), public: 'true' }],
  ])('a clone refused with %p', async (status, fields) => {
    const body = new FormData()
    for (const [name, value] of Object.entries(fields)) body.append(name, value)
    const response = await instance.fetch('/v1/voices', { method: 'POST', key, body })
    expect(response.status).toBe(status)
    await foreseen('POST', '/v1/voices', response)
  })

  test('refusals of the gate, of paths and of queries', async () => {
    const narrow = await instance.key({ scopes: ['voices'] })
    await foreseen('GET', '/v1/me', await instance.fetch('/v1/me'))
    await foreseen('GET', '/v1/me', await instance.fetch('/v1/me', { key: 'sk-myna-wrong' }))
    await foreseen('GET', '/v1/me', await instance.fetch('/v1/me', { key: narrow }))
    await foreseen('GET', '/v1/usage', await instance.fetch('/v1/usage?limit=0', { key }))
    await foreseen('GET', '/v1/models/{model_id}', await instance.fetch('/v1/models/none', { key }))
    await foreseen('GET', '/v1/models/{model_id}', await instance.fetch(`/v1/models/${'x'.repeat(300)}`, { key }))
    await foreseen('GET', '/v1/operations/{operation_id}', await instance.fetch('/v1/operations/none', { key }))
    const form = { method: 'POST', body: new FormData() }
    await foreseen(
      'POST',
      '/v1/audio/transcriptions',
      await instance.fetch('/v1/audio/transcriptions', { ...form, key }),
    )
    await foreseen('POST', '/v1/audio/speech', await instance.fetch('/v1/audio/speech', { ...form, key }))
  })
})

describe('the page', () => {
  test('contacts only this server', async () => {
    const response = await instance.fetch('/docs')
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toStartWith("default-src 'self';")
    expect(policy).not.toMatch(/https?:|\*|unsafe|script-src/)
    const html = await response.text()
    const addresses = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map((match) => match[1] ?? '')
    expect(addresses.length).toBeGreaterThan(3)
    for (const address of addresses) {
      expect(address).toMatch(/^(\/(?!\/)|data:,)/)
      if (address.startsWith('data:')) continue
      const part = await instance.fetch(address)
      expect(part.status).toBe(200)
      expect((await part.bytes()).length).toBeGreaterThan(100)
    }
    expect(html).not.toMatch(/:\/\//)
    expect(await (await instance.fetch('/docs/start.js')).text()).not.toMatch(/:\/\//)
  })

  test('is requested once: its parts are kept under an address that changes with them', async () => {
    for (const path of ['/docs/swagger-ui.css', '/docs/myna.css', '/docs/theme.js', '/docs/start.js']) {
      const first = await instance.fetch(path)
      await first.bytes()
      expect(first.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      const etag = first.headers.get('etag') ?? ''
      expect(etag).toMatch(/^"[0-9a-f]{16}"$/)
      expect(await (await instance.fetch('/docs')).text()).toContain(`${path}?v=${etag.slice(1, -1)}"`)
      const again = await instance.fetch(path, { headers: { 'if-none-match': etag } })
      expect([again.status, await again.text()]).toEqual([304, ''])
    }
  })

  test('brings no program that runs at installation', () => {
    // swagger-ui-dist depends on @scarf/scarf, which reports each installation to its maker. Bun trusts it by default;
    // our own list, though empty, replaces that default.
    expect(trustedDependencies).toEqual([])
  })

  test.each(['/docs', '/docs/', '/openapi.json', '/docs/start.js'])('%s has what every answer has', async (path) => {
    for (const method of ['GET', 'HEAD']) {
      const response = await instance.fetch(path, { method })
      expect(response.status).toBe(200)
      expect(response.headers.get('x-request-id')).toMatch(/^req_/)
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    }
    expect((await instance.fetch(path, { method: 'POST' })).status).toBe(405)
  })
})
