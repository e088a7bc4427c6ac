/** Previews and pictures: every header that a player relies on, and who may play what. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Instance, startInstance, type VoiceJson } from '../../testing/instance.ts'
import { until } from '../../testing/until.ts'

let instance: Instance
let key: string
let own: string
let shared: string
const date = 'Sat, 21 Nov 2026 12:00:00 GMT'
beforeAll(async () => {
  instance = await startInstance({ publicPerMinute: 1000 })
  key = await instance.key()
  own = (await instance.cloned(key, { name: 'Mine' })).voice_id
  shared = (await instance.cloned(instance.adminKey, { name: 'Ours', public: 'true' })).voice_id
})
afterAll(() => instance[Symbol.asyncDispose]())

const preview = (id: string, init: RequestInit & { key?: string } = {}, query = '') =>
  instance.fetch(`/v1/voices/${id}/preview${query}`, init)

const frames = 4 * 2400
const size = 44 + 2 * frames

describe('the whole preview', () => {
  test('is a finite WAV file of 24 kHz mono', async () => {
    const response = await preview(own, { key })
    const bytes = Buffer.from(await response.bytes())
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'audio/wav'])
    expect([bytes.length, Number(response.headers.get('content-length'))]).toEqual([size, size])
    expect([bytes.toString('latin1', 0, 4), bytes.readUInt32LE(4)]).toEqual(['RIFF', size - 8])
    expect([bytes.readUInt16LE(22), bytes.readUInt32LE(24), bytes.readUInt32LE(40)]).toEqual([1, 24_000, 2 * frames])
    expect(response.headers.get('last-modified')).toBe(date)
    expect(response.headers.get('accept-ranges')).toBe('bytes')
    expect(response.headers.get('etag')).toMatch(/^"[0-9a-f]{32}"$/)
  })

  test('for HEAD, without its bytes', async () => {
    const [get, head] = [await preview(own, { key }), await preview(own, { key, method: 'HEAD' })]
    const told = ({ headers }: Response) =>
      ['content-length', 'content-type', 'etag', 'accept-ranges', 'cache-control'].map((name) => headers.get(name))
    expect([head.status, told(head)]).toEqual([200, told(get)])
    expect([(await head.bytes()).length, (await get.bytes()).length]).toEqual([0, size])
  })

  test.each([
    ['mp3', 'audio/mpeg'],
    ['OPUS', 'audio/ogg'],
    ['wav', 'audio/wav'],
  ])('as %s', async (format, type) => {
    const response = await preview(own, { key }, `?response_format=${format}`)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, type])
    expect((await response.bytes()).length).toBeGreaterThan(1000)
  })

  test('is spoken with the new voice', () => {
    const order = instance.engine.orders.find(({ voiceId }) => voiceId === own)
    expect(order?.voiceState).toEqual(new TextEncoder().encode('state'))
    expect(order?.text.length).toBeGreaterThan(60)
  })
})

describe('ranges', () => {
  const whole = async () => (await preview(own, { key })).bytes()
  test.each<[string, number, string | null, [number, number] | null]>([
    ['bytes=0-1', 206, `bytes 0-1/${size}`, [0, 2]],
    ['bytes=0-', 206, `bytes 0-${size - 1}/${size}`, [0, size]],
    ['bytes=100-199', 206, `bytes 100-199/${size}`, [100, 200]],
    ['bytes=-10', 206, `bytes ${size - 10}-${size - 1}/${size}`, [size - 10, size]],
    ['bytes=-999999', 206, `bytes 0-${size - 1}/${size}`, [0, size]],
    [`bytes=10-999999`, 206, `bytes 10-${size - 1}/${size}`, [10, size]],
    ['Bytes = 0-1', 200, null, [0, size]],
    ['bytes=0-1,5-6', 200, null, [0, size]],
    ['bytes=5-1', 200, null, [0, size]],
    ['bytes=-', 200, null, [0, size]],
    ['lines=0-1', 200, null, [0, size]],
    [`bytes=${size}-`, 416, `bytes */${size}`, null],
    ['bytes=-0', 416, `bytes */${size}`, null],
  ])('%s', async (range, status, contentRange, slice) => {
    const response = await preview(own, { key, headers: { range } })
    expect([response.status, response.headers.get('content-range')]).toEqual([status, contentRange])
    if (slice === null) {
      const { error } = (await response.json()) as { error: { code: string } }
      expect(error.code).toBe('range_not_satisfiable')
      return
    }
    const bytes = await response.bytes()
    expect(bytes).toEqual((await whole()).slice(...slice))
    expect(response.headers.get('content-length')).toBe(String(bytes.length))
  })

  test('only of the version that the client began with', async () => {
    const etag = (await preview(own, { key, method: 'HEAD' })).headers.get('etag') ?? ''
    const status = async (value: string) =>
      (await preview(own, { key, headers: { range: 'bytes=0-1', 'if-range': value } })).status
    expect(await status(etag)).toBe(206)
    expect(await status(date)).toBe(206)
    expect(await status('"other"')).toBe(200)
    expect(await status(`W/${etag}`)).toBe(200)
    expect(await status('Sat, 21 Nov 2026 11:00:00 GMT')).toBe(200)
  })
})

describe('validators', () => {
  test.each<[string, (etag: string) => string, number]>([
    ['if-none-match', (etag) => etag, 304],
    ['if-none-match', (etag) => `"a", W/${etag}`, 304],
    ['if-none-match', () => '*', 304],
    ['if-none-match', () => '"other"', 200],
    ['if-modified-since', () => date, 304],
    ['if-modified-since', () => 'Sat, 21 Nov 2026 11:59:59 GMT', 200],
    ['if-modified-since', () => 'no date', 200],
  ])('%s', async (name, value, status) => {
    const etag = (await preview(own, { key, method: 'HEAD' })).headers.get('etag') ?? ''
    const response = await preview(own, { key, headers: { [name]: value(etag) } })
    expect([response.status, response.headers.get('etag')]).toEqual([status, etag])
    expect((await response.bytes()).length).toBe(status === 304 ? 0 : size)
  })
})

describe('who may play it', () => {
  const open = { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' }

  test('a public one: every client, with any credential, and any page may cache it', async () => {
    const stranger = await instance.key({ scopes: ['usage'] })
    for (const id of [shared, 'lark']) {
      for (const authorization of ['', 'Bearer wrong', 'Basic x', `Bearer ${stranger}`]) {
        const response = await preview(id, authorization === '' ? {} : { headers: { authorization } })
        expect([id, authorization, response.status]).toEqual([id, authorization, 200])
        expect(response.headers.get('cache-control')).toBe('public, max-age=86400')
        expect(Object.fromEntries(response.headers)).toMatchObject({ ...open, 'timing-allow-origin': '*' })
      }
    }
  })

  test('a private one: its owner, with any scope, and no cache may store it', async () => {
    const response = await preview(own, { key: await instance.key({ account: 'account 1', scopes: ['tts'] }) })
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toBe('private, no-store')
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  })

  test.each(['preview', 'preview.png', 'preview.webp'])('%s: others cannot learn whether it exists', async (path) => {
    const stranger = await instance.key()
    const told = async (id: string, as?: string) => {
      const response = await instance.fetch(`/v1/voices/${id}/${path}`, as === undefined ? {} : { key: as })
      const body = (await response.text()).replaceAll(id, 'ID').replaceAll(/req_\w+/g, 'REQ')
      const headers = Object.fromEntries(response.headers)
      for (const name of ['date', 'x-request-id', 'x-ratelimit-remaining-requests']) delete headers[name]
      delete headers['content-length']
      return { status: response.status, body, headers }
    }
    const nobody = 'voice_00000000000000000000000000'
    expect(await told(own)).toEqual(await told(nobody))
    expect((await told(own)).status).toBe(401)
    expect(await told(own, stranger)).toEqual(await told(nobody, stranger))
    expect((await told(own, stranger)).status).toBe(404)
    expect(await told(own, 'sk-myna-wrong')).toMatchObject({ status: 401 })
    expect(await told('a~b')).toMatchObject({ status: 422 })
  })

  test('one that does not exist yet, and one that never will', async () => {
    const owner = await instance.key()
    const { promise, reject } = Promise.withResolvers<Uint8Array>()
    const { learn } = instance.engine
    instance.engine.learn = () => promise
    const { voice_id: id } = (await (await instance.clone(owner)).json()) as VoiceJson
    const early = await preview(id, { key: owner })
    expect([early.status, await early.json()]).toMatchObject([409, { error: { code: 'voice_not_ready' } }])
    expect([early.headers.get('retry-after'), early.headers.get('x-should-retry')]).toEqual(['2', null])
    reject(new Error('no'))
    await instance.voice(owner, id)
    instance.engine.learn = learn
    const late = await preview(id, { key: owner })
    expect([late.status, await late.json()]).toMatchObject([404, { error: { code: 'preview_not_available' } }])
  })

  test('keyless requests are counted by address', async () => {
    await using small = await startInstance({ publicPerMinute: 2 })
    const statuses = []
    for (let i = 0; i < 3; i++) statuses.push((await small.fetch('/v1/voices/lark/preview')).status)
    expect(statuses).toEqual([200, 200, 429])
  })

  test('a wrong format or theme is a 422', async () => {
    expect((await preview('lark', {}, '?response_format=flac')).status).toBe(422)
    expect((await instance.fetch('/v1/voices/lark/preview.png?theme=blue')).status).toBe(422)
  })
})

describe('presets', () => {
  test('are spoken on the first request, once, and then kept over restarts', async () => {
    const before = instance.engine.orders.length
    const all = await Promise.all(Array.from({ length: 5 }, async () => (await preview('wren')).bytes()))
    expect(all.every((bytes) => Buffer.from(bytes).equals(Buffer.from(all[0] ?? [])))).toBe(true)
    for (const format of ['mp3', 'opus', 'wav']) await preview('wren', {}, `?response_format=${format}`)
    expect(instance.engine.orders.slice(before).map(({ voiceId }) => voiceId)).toEqual(['wren'])
    expect(readdirSync(join(instance.dataDir, 'previews', 'wren')).map((name) => name.split('.')[1])).toContain('wav')
    await using first = await startInstance()
    const sound = await (await first.fetch('/v1/voices/merle/preview')).bytes()
    await first.server.stop()
    await using second = await startInstance({ dataDir: first.dataDir })
    second.engine.plan = () => ({ failAt: 0 })
    expect(await (await second.fetch('/v1/voices/merle/preview')).bytes()).toEqual(sound)
    expect((await second.fetch('/v1/voices/jay/preview')).status).toBe(500)
    second.engine.plan = () => ({})
    expect((await second.fetch('/v1/voices/jay/preview')).status).toBe(200)
  })
})

describe('pictures', () => {
  test('of other voices wait while a sound is made, because a person waits for that', async () => {
    await using fresh = await startInstance({ publicPerMinute: 1000 })
    const held = Promise.withResolvers<void>()
    fresh.engine.plan = () => ({ before: () => held.promise })
    const pictures = ['robin', 'merle', 'martin', 'jay', 'wren'].map((id) =>
      fresh.fetch(`/v1/voices/${id}/preview.webp`),
    )
    await until('the first one is spoken', () => fresh.engine.orders.length === 1)
    const sound = fresh.fetch('/v1/voices/wren/preview?response_format=mp3')
    // By the time that these are answered, it has been received.
    for (let at = 0; at < 20; at++) await fresh.fetch('/v1/voices/none/preview')
    held.resolve()
    expect((await sound).status).toBe(200)
    expect((await Promise.all(pictures)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    const spoken = fresh.engine.orders.map(({ voiceId }) => voiceId)
    expect(spoken.toSorted()).toEqual(['jay', 'martin', 'merle', 'robin', 'wren'])
    expect(spoken.indexOf('wren')).toBeLessThanOrEqual(1)
  })

  test('in two formats and for two themes, kept beside the preview', async () => {
    const seen = new Set<string>()
    for (const [path, type, magic] of [
      ['preview.png', 'image/png', '\x89PNG'],
      ['preview.png?theme=dark', 'image/png', '\x89PNG'],
      ['preview.webp', 'image/webp', 'RIFF'],
      ['preview.webp?theme=dark', 'image/webp', 'RIFF'],
    ] as const) {
      const response = await instance.fetch(`/v1/voices/${shared}/${path}`)
      const bytes = Buffer.from(await response.bytes())
      expect([path, response.status, response.headers.get('content-type')]).toEqual([path, 200, type])
      expect(bytes.toString('latin1', 0, 4)).toBe(magic)
      seen.add(response.headers.get('etag') ?? '')
    }
    expect(seen.size).toBe(4)
    const folder = join(instance.dataDir, 'previews', shared)
    expect(readdirSync(folder).sort()).toEqual(['dark.png', 'dark.webp', 'light.png', 'light.webp'])
    expect(existsSync(join(instance.dataDir, 'previews', 'nobody'))).toBe(false)
  })
})
