/** Cloning over HTTP: what becomes of a clip, what it costs, how often, and how many at once. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Database } from 'bun:sqlite'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { everyContainer } from '../../audio/decode/containers.fixture.ts'
import { MynaError } from '../../domain/error.ts'
import { hum, type Instance, startInstance, type VoiceJson } from '../../testing/instance.ts'
import { jsonOf, refusalOf } from './voice.fixture.ts'

let shared: Instance
beforeAll(async () => {
  shared = await startInstance({ maxClipBytes: 3_000_000, clonesPerMinute: 1000 })
})
afterAll(() => shared[Symbol.asyncDispose]())

describe('a clip becomes a voice', () => {
  test('is answered at once, made in the background, and stored with all its files', async () => {
    await using instance = await startInstance()
    const key = await instance.key()
    const { promise, resolve } = Promise.withResolvers<Uint8Array>()
    instance.engine.learn = () => promise
    const response = await instance.clone(key, { name: ' Ada ', description: 'Calm.', labels: '{"age":"old"}' })
    expect(response.status).toBe(201)
    const made = (await response.json()) as VoiceJson
    expect(made).toEqual({
      voice_id: expect.stringMatching(/^voice_[0-9A-Z]{26}$/),
      id: made.voice_id,
      object: 'audio.voice',
      name: 'Ada',
      status: 'processing',
      operation_id: response.headers.get('x-request-id')!,
      created_at: Math.floor(instance.clock.nowMs() / 1000),
      requires_verification: false,
    })
    expect(response.headers.get('location')).toBe(`/v1/voices/${made.voice_id}`)
    const operation = `/v1/operations/${made.operation_id}`
    expect(await jsonOf(instance, operation, key)).toMatchObject({ type: 'clone', state: 'pending', outcome: null })
    resolve(new Uint8Array([1, 2, 3]))
    const voice = await instance.voice(key, made.voice_id)
    expect(voice).toMatchObject({
      name: 'Ada',
      description: 'Calm.',
      labels: { age: 'old' },
      status: 'ready',
      category: 'cloned',
      model: 'hibari',
      fidelity: 'approximate',
      is_owner: true,
      access: 'private',
      preview_url: `${instance.url}/v1/voices/${made.voice_id}/preview`,
      samples: [{ file_name: 'hum.wav', mime_type: 'audio/wav', size_bytes: 96_044, duration_secs: 3 }],
    })
    expect(await jsonOf(instance, operation, key)).toMatchObject({
      state: 'terminal',
      outcome: 'completed',
      charged_micros: 0,
      voice_id: made.voice_id,
      error: null,
    })
    const folder = join(instance.dataDir, 'voices', made.voice_id)
    expect(readdirSync(folder).sort()).toEqual(['clip', 'preview.wav', 'reference.wav', 'state'])
    expect(await Bun.file(join(folder, 'clip')).bytes()).toEqual(await hum(3).bytes())
    expect(instance.engine.clips[0]?.sampleRateHz).toBe(24_000)
    const metrics = await instance.metrics()
    expect(metrics).toContain('voice_clones_total{result="completed"} 1')
    expect(metrics).toContain('voice_operations_total{type="clone",outcome="completed"} 1')
  })

  test.each([
    ['/v1/voices', 'file'],
    ['/v1/voices', 'audio_sample'],
    ['/v1/voices/clone', 'clip'],
    ['/v1/voices/add', 'files'],
    ['/v1/voices', 'files[]'],
    ['/v1/voices', 'audio'],
    ['/v1/voices', 'audio_file'],
    ['/v1/voices/', 'sample'],
    ['/v1/voices', 'reference'],
  ])('at %s, in the field %s', async (path, field) => {
    const body = new FormData()
    body.append(field, hum(3), 'grand mother.take 1.wav')
    const response = await shared.fetch(path, { method: 'POST', key: await shared.key(), body })
    expect(response.status).toBe(201)
    expect(await response.json()).toMatchObject({ name: 'grand mother.take 1', status: 'processing' })
  })

  test('from any container, recognised by its bytes', async () => {
    const pcm = Int16Array.from({ length: 3.5 * 24_000 }, (_, i) => 8000 * Math.sin(i / 20))
    const files = new Map([...(await everyContainer(pcm)).values()].map((file) => [file.container, file]))
    expect(files.size).toBeGreaterThan(6)
    for (const [name, { bytes, mimeType }] of files) {
      const voice = await shared.cloned(await shared.key(), { file: new File([bytes], 'clip.txt') })
      expect([name, voice]).toMatchObject([name, { status: 'ready', samples: [{ mime_type: mimeType }] }])
    }
  }, 60_000)

  test('with a description in repeated and bracketed fields; unknown fields are ignored', async () => {
    const key = await shared.key()
    const fields = { 'labels[age]': 'old', 'aliases[]': 'gran', language: 'en_gb', remove_background_noise: 'true' }
    const voice = await shared.cloned(key, { ...fields, transcript: 'Hello.' })
    expect(voice).toMatchObject({ name: 'hum', labels: { age: 'old' }, aliases: ['gran'], language: 'en-GB' })
  })
})

describe('money', () => {
  test('the allowance is free, then the price is held; a failed clone is refunded in full', async () => {
    await using instance = await startInstance({ freeClones: 1, cloneMicros: 400 })
    const key = await instance.key({ prepaidMicros: 1000 })
    const me = () => jsonOf(instance, '/v1/me', key)
    await instance.cloned(key)
    expect(await me()).toMatchObject({
      balance_micros: 1000,
      clones: { used: 1, free_remaining: 0, price_micros: 400 },
    })
    await instance.cloned(key)
    expect(await me()).toMatchObject({ balance_micros: 600, voices: { owned: 2 } })
    const { promise, reject } = Promise.withResolvers<Uint8Array>()
    instance.engine.learn = () => promise
    const response = await instance.clone(key)
    const { voice_id: id, operation_id: operation } = (await response.json()) as VoiceJson
    expect(await me()).toMatchObject({ balance_micros: 200, voices: { owned: 3 } })
    expect(await jsonOf(instance, `/v1/operations/${operation}`, key)).toMatchObject({ charged_micros: 400 })
    expect(await refusalOf(await instance.clone(key))).toMatchObject({
      status: 402,
      code: 'insufficient_balance',
      required_micros: 400,
      balance_micros: 200,
    })
    reject(new MynaError('clip_refused', 'Two people speak in this clip.'))
    expect(await instance.voice(key, id)).toMatchObject({
      status: 'failed',
      error: { code: 'clip_refused', message: 'Two people speak in this clip.' },
      preview_url: null,
    })
    expect(await jsonOf(instance, `/v1/operations/${operation}`, key)).toMatchObject({
      outcome: 'failed',
      charged_micros: 0,
      error: { code: 'clip_refused', message: 'Two people speak in this clip.' },
    })
    expect(await me()).toMatchObject({ balance_micros: 600, voices: { owned: 2 }, clones: { used: 2 } })
    const usage = (await jsonOf(instance, '/v1/usage', key)) as Record<string, unknown>
    expect(usage).toMatchObject({
      totals: { clones: { requests: 2, free: 1, charged_micros: 400, refunded_micros: 400 }, charged_micros: 400 },
    })
    expect(readdirSync(join(instance.dataDir, 'voices'))).toHaveLength(2)
  })

  test('an administrator clones for free, without a cap, and may publish the voice', async () => {
    await using instance = await startInstance({ freeClones: 0, maxVoices: 0 })
    const voice = await instance.cloned(instance.adminKey, { public: 'true', name: 'Everybody' })
    expect(voice).toMatchObject({ status: 'ready', is_public: true, access: 'public' })
    expect(await jsonOf(instance, '/v1/me', instance.adminKey)).toMatchObject({
      balance_micros: null,
      voices: { owned: 1, limit: null },
    })
    const stranger = await instance.key()
    expect(await jsonOf(instance, `/v1/voices/${voice.voice_id}`, stranger)).toMatchObject({
      is_owner: false,
      samples: [],
      aliases: [],
      operation_id: null,
    })
    expect((await instance.speak(stranger, { voice: 'everybody' })).status).toBe(200)
  })

  test('the cap counts unfinished voices; a deleted voice frees its place', async () => {
    await using instance = await startInstance({ maxVoices: 2, cloneConcurrency: 3 })
    const key = await instance.key()
    const first = await instance.cloned(key)
    const { promise, resolve } = Promise.withResolvers<Uint8Array>()
    instance.engine.learn = () => promise
    expect((await instance.clone(key)).status).toBe(201)
    const refused = await refusalOf(await instance.clone(key))
    expect(refused).toMatchObject({ status: 403, code: 'voice_limit_reached', limit: 2, owned: 2 })
    resolve(new Uint8Array(1))
    await instance.fetch(`/v1/voices/${first.voice_id}`, { method: 'DELETE', key })
    expect((await instance.clone(key)).status).toBe(201)
  })

  test('accounts do not share an allowance, and one slot left admits one of two clones at once', async () => {
    await using instance = await startInstance({ maxVoices: 1 })
    const [ada, bob] = [await instance.key(), await instance.key()]
    const statuses = await Promise.all([ada, ada, bob, bob].map(async (key) => (await instance.clone(key)).status))
    expect([statuses.slice(0, 2).sort(), statuses.slice(2).sort()]).toEqual([
      [201, 403],
      [201, 403],
    ])
  })
})

describe('consent', () => {
  test('is required where the server is configured so, and an empty or negative one does not count', async () => {
    await using instance = await startInstance({ requireConsent: true })
    const key = await instance.key()
    for (const consent of ['', 'false', ' no '] as const) {
      const refused = await refusalOf(await instance.clone(key, { consent }))
      expect(refused).toMatchObject({ status: 422, code: 'consent_required', param: 'consent' })
    }
    expect(await instance.cloned(key, { consent: 'I am the speaker.' })).toMatchObject({ status: 'ready' })
    const database = new Database(join(instance.dataDir, 'myna.db'), { readonly: true })
    expect(database.query('SELECT consent, key_id IS NOT NULL AS keyed FROM voices').all()).toEqual([
      { consent: 'I am the speaker.', keyed: 1 },
    ])
    database.close()
  })
})

describe('idempotency', () => {
  test('one key makes one clone, whatever its body', async () => {
    await using instance = await startInstance()
    const key = await instance.key()
    const headers = { 'idempotency-key': 'once' }
    const first = await instance.clone(key, {}, headers)
    const { voice_id: id } = (await first.json()) as VoiceJson
    const again = await instance.clone(key, { name: 'other', file: hum(4) }, headers)
    expect(again.headers.get('x-should-retry')).toBe('false')
    expect(await refusalOf(again)).toMatchObject({
      status: 409,
      code: 'duplicate_request',
      id: 'req',
      operation_id: first.headers.get('x-request-id'),
    })
    await instance.voice(key, id)
    expect(await refusalOf(await instance.clone(key, {}, headers))).toMatchObject({
      state: 'terminal',
      outcome: 'completed',
    })
    expect(instance.engine.clips).toHaveLength(1)
    const stranger = await instance.key()
    expect((await instance.clone(stranger, {}, headers)).status).toBe(201)
    expect((await instance.speak(key, {}, headers)).status).toBe(200)
  })

  test('the key is looked up before the upload is read', async () => {
    const key = await shared.key()
    const headers = { 'idempotency-key': 'once' }
    expect((await shared.clone(key, {}, headers)).status).toBe(201)
    const refused = await refusalOf(await shared.clone(key, { file: hum(100) }, headers))
    expect(refused.code).toBe('duplicate_request')
    const wrong = await refusalOf(await shared.clone(key, { file: hum(100) }, { 'idempotency-key': ' ' }))
    expect(wrong).toMatchObject({ status: 400, code: 'invalid_idempotency_key' })
  })

  test('of two at once exactly one works', async () => {
    const key = await shared.key()
    const headers = { 'idempotency-key': 'race' }
    const answers = await Promise.all([shared.clone(key, {}, headers), shared.clone(key, {}, headers)])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
  })

  test('a refused clip and a failed clone free the key', async () => {
    await using instance = await startInstance()
    const key = await instance.key()
    const headers = { 'idempotency-key': 'again' }
    expect((await instance.clone(key, { file: hum(1) }, headers)).status).toBe(422)
    const { learn } = instance.engine
    instance.engine.learn = () => {
      throw new Error('out of memory')
    }
    const { voice_id: id } = (await (await instance.clone(key, {}, headers)).json()) as VoiceJson
    expect(await instance.voice(key, id)).toMatchObject({ status: 'failed', error: { code: 'engine_failed' } })
    instance.engine.learn = learn
    expect((await instance.clone(key, {}, headers)).status).toBe(201)
  })
})

describe('limits', () => {
  test('two clones of an account at once, ten in a minute', async () => {
    await using instance = await startInstance({ clonesPerMinute: 3 })
    const key = await instance.key()
    const { promise, resolve } = Promise.withResolvers<Uint8Array>()
    instance.engine.learn = () => promise
    expect((await instance.clone(key)).status).toBe(201)
    expect((await instance.clone(key)).status).toBe(201)
    const third = await instance.clone(key)
    expect(third.headers.get('retry-after')).toBe('1')
    expect(await refusalOf(third)).toMatchObject({ status: 429, code: 'concurrency_limit_exceeded' })
    resolve(new Uint8Array(1))
    expect(await refusalOf(await instance.clone(key))).toMatchObject({ status: 429, code: 'rate_limit_exceeded' })
  })

  test('waiting clones are limited for the whole server', async () => {
    await using instance = await startInstance({ cloneStreams: 1, cloneQueue: 1 })
    const { promise, resolve } = Promise.withResolvers<Uint8Array>()
    instance.engine.learn = () => promise
    const keys = [await instance.key(), await instance.key(), await instance.key()] as const
    const [running, waiting] = [await instance.clone(keys[0]), await instance.clone(keys[1])]
    expect([running.status, waiting.status]).toEqual([201, 201])
    expect(await refusalOf(await instance.clone(keys[2]))).toMatchObject({ status: 503, code: 'engine_overloaded' })
    expect(instance.engine.clips).toHaveLength(1)
    resolve(new Uint8Array(1))
    const { voice_id: id } = (await waiting.json()) as VoiceJson
    expect(await instance.voice(keys[1], id)).toMatchObject({ status: 'ready' })
  })
})
