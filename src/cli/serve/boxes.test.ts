/** Two whole servers on one database: what a client of one sees of the other. */
import { describe, expect, onTestFinished, setDefaultTimeout, test } from 'bun:test'
import { cards } from '../../catalog/cards.ts'
import { CardCatalog } from '../../catalog/catalog.ts'
import { systemTimer, type Timer } from '../../domain/time.ts'
import { startListening, transcribe, uploadsOf } from '../../http/transcription/transcription.fixture.ts'
import { type Instance, startInstance } from '../../testing/instance.ts'
import { noPostgres, testPostgres } from '../../testing/postgres.ts'
import { Relay } from '../../testing/relay.ts'
import { until } from '../../testing/until.ts'
import type { World } from './wiring.ts'

setDefaultTimeout(60_000)

interface Pair {
  one: Instance
  other: Instance
  /** Between the other server and the database. */
  relay: Relay
}

async function startPair(change: Partial<World> = {}): Promise<Pair> {
  const server = await testPostgres()
  const database = server.urlOf(await server.create())
  const relay = await Relay.open(server.port)
  const wired = new URL(database)
  wired.port = String(relay.port)
  const one = await startInstance({ database, boxName: 'one' }, change)
  const other = await startInstance({ database: wired.href, boxName: 'other' }, change)
  onTestFinished(async () => {
    relay.mend()
    await Promise.all([one, other].map((instance) => instance[Symbol.asyncDispose]()))
    relay.close()
  })
  return { one, other, relay }
}

const record = async ({ fetch }: Instance, key: string, id: string | null) =>
  (await (await fetch(`/v1/operations/${id}`, { key })).json()) as Record<string, unknown>

/** A stream of this server that waits for its third frame. */
async function held(instance: Instance, key: string) {
  const gate = Promise.withResolvers<void>()
  instance.engine.plan = () => ({ frames: 8, before: (frame) => (frame === 2 ? gate.promise : undefined) })
  const response = await instance.speak(key)
  return { id: response.headers.get('x-request-id'), response, go: gate.resolve }
}

// Skipped only where PostgreSQL is not installed.
describe.skipIf(noPostgres !== null)('two servers on one database', () => {
  test('have one administrator, the same accounts, and each other in their status', async () => {
    const { one, other } = await startPair()
    expect([one.adminKey !== '', other.adminKey]).toEqual([true, ''])
    const key = await one.key()
    expect((await other.speak(key)).status).toBe(200)
    const status = await other.server.status()
    expect(status.boxes?.map(({ name, isThisOne }) => [name, isThisOne])).toEqual([
      ['one', false],
      ['other', true],
    ])
    expect(JSON.stringify(status)).not.toContain('postgres://')
    const page = await one.fetch('/console/api/admin/server', { key: one.adminKey })
    const { boxes } = (await page.json()) as { boxes: { name: string; is_this_one: boolean; state: string }[] }
    expect(boxes.map(({ name, is_this_one: here }) => [name, here])).toEqual([
      ['one', true],
      ['other', false],
    ])
  })

  test('stop a stream of the other one when it is cancelled', async () => {
    const { one, other } = await startPair()
    const key = await one.key()
    const { id, response } = await held(other, key)
    const cancelled = await one.fetch(`/v1/operations/${id}/cancel`, { method: 'POST', key })
    expect(await cancelled.json()).toEqual({ ok: true })
    await expect(response.arrayBuffer()).rejects.toThrow()
    expect(await record(one, key, id)).toMatchObject({ state: 'terminal', outcome: 'cancelled' })
  })

  test('stop a clone of the other one when its voice is deleted', async () => {
    const { one, other } = await startPair()
    const key = await one.key()
    other.engine.learn = () => new Promise(() => {})
    const answer = (await (await other.clone(key)).json()) as { voice_id: string; operation_id: string }
    await until('the model learns', () => other.engine.clips.length > 0)
    const deleted = await one.fetch(`/v1/voices/${answer.voice_id}`, { method: 'DELETE', key })
    expect(deleted.status).toBe(204)
    await until('the work is ended', () => other.engine.forgotten === 1)
    expect(await record(one, key, answer.operation_id)).toMatchObject({ outcome: 'cancelled', charged_micros: 0 })
  })

  test('speak with each other’s voices, by alias, and preview them', async () => {
    const { one, other } = await startPair()
    const key = await one.key()
    const voice = await one.cloned(key, { name: 'Ada', aliases: '["echo"]' })
    expect(voice.status).toBe('ready')
    const spoken = await other.speak(key, { voice: 'echo' })
    expect(spoken.status).toBe(200)
    await spoken.arrayBuffer()
    expect(other.engine.orders.at(-1)?.voiceState).toEqual(new TextEncoder().encode('state'))
    const [here, there] = await Promise.all(
      [one, other].map(async ({ fetch }) => (await fetch(`/v1/voices/${voice.voice_id}/preview`, { key })).bytes()),
    )
    expect(Buffer.from(here!).equals(there!)).toBe(true)
    await other.fetch(`/v1/voices/${voice.voice_id}`, { method: 'DELETE', key })
    expect((await one.fetch(`/v1/voices/${voice.voice_id}/preview`, { key })).status).toBe(404)
  })

  test('know each other’s sessions, and at once refuse a key that was revoked at the other', async () => {
    const { one, other } = await startPair()
    const headers = (instance: Instance, cookie = '') => ({ origin: instance.url, cookie })
    const body = JSON.stringify({ api_key: one.adminKey })
    const path = '/console/api/session'
    const opened = await one.fetch(path, { method: 'POST', headers: headers(one), body })
    const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? ''
    const seen = await other.fetch(path, { headers: headers(other, cookie) })
    expect(await seen.json()).toMatchObject({ account: { is_admin: true } })

    const key = await one.key({ account: 'ada' })
    expect((await other.fetch('/v1/me', { key })).status).toBe(200)
    const [row] = await one.server.administration.listKeys({ account: 'ada' })
    await one.server.administration.revokeKey({ id: row!.id })
    expect((await other.fetch('/v1/me', { key })).status).toBe(401)
  })

  test('name the server that has a model which is missing here', async () => {
    const server = await testPostgres()
    const database = server.urlOf(await server.create())
    await using rich = await startInstance(
      { database, boxName: 'rich' },
      { catalog: new CardCatalog(cards, ({ id }) => id === 'kokoro-82m') },
    )
    await using poor = await startInstance({ database, boxName: 'poor' })
    const key = await rich.key()
    const ask = async (instance: Instance, model: string) => {
      const answer = await instance.speak(key, { model, voice: 'af_heart' })
      const { error } = (answer.status === 200 ? {} : await answer.json()) as { error?: Record<string, string> }
      return [answer.status, error?.code, error?.message, answer.headers.get('x-should-retry')]
    }
    expect((await ask(rich, 'kokoro-82m'))[0]).toBe(200)
    const message = "The model 'kokoro-82m' is not installed on this server, but on rich. "
    expect(await ask(poor, 'kokoro-82m')).toEqual([503, 'engine_unavailable', expect.stringContaining(message), null])
    expect((await ask(poor, 'pocket-tts')).slice(0, 2)).toEqual([404, 'model_not_found'])
  })

  test('count the requests of an account together', async () => {
    const { one, other } = await startPair()
    const key = await one.key()
    const left = async ({ fetch }: Instance) =>
      Number((await fetch('/v1/me', { key })).headers.get('x-ratelimit-remaining-requests'))
    const before = await left(other)
    for (let n = 0; n < 20; n++) await left(one)
    await until('the other one has been notified', async () => before - (await left(other)) > 20)
  })

  test('let a transcription wait for its turn, although the database does not know it yet', async () => {
    const server = await testPostgres()
    const renewMs = 47
    let looks = 0
    const timer: Timer = {
      after(delayMs, callback) {
        // A box sets it again once it has compared its work with the database.
        if (delayMs === renewMs) looks++
        return systemTimer.after(delayMs, callback)
      },
    }
    const lease = { leaseMs: 90_000, renewMs, admitMs: 30_000 }
    const settings = { database: server.urlOf(await server.create()), transcriptionStreams: 1 }
    await using instance = await startListening(settings, undefined, { timer, lease })
    const gate = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    instance.transcriber.plan = () => ({ before: () => (held.resolve(), gate.promise) })
    const key = await instance.key()
    const first = transcribe(instance, key)
    await held.promise
    const second = transcribe(instance, key)
    await until('the second upload has arrived', () => uploadsOf(instance).length > 0)
    const before = looks
    await until('the box has looked twice', () => looks >= before + 2)
    gate.resolve()
    expect(await Promise.all([first, second].map(async (answer) => (await answer).status))).toEqual([200, 200])
  })

  test('accept no new work without the database, finish running work, and settle it later', async () => {
    const { one, other, relay } = await startPair()
    const key = await one.key()
    const { id, response, go } = await held(other, key)
    relay.cut()
    other.clock.advance(31_000)
    const refused = await other.speak(key)
    expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).toEqual([
      503,
      'database_unavailable',
    ])
    const metrics = await other.metrics()
    expect(metrics).toContain('voice_http_requests_total{')
    expect(metrics).not.toContain('\nvoice_operations_pending ')
    go()
    const audio = response.arrayBuffer()
    relay.mend()
    expect((await audio).byteLength).toBeGreaterThan(0)
    await until('it is settled', async () => (await record(one, key, id)).state === 'terminal')
    expect(await record(one, key, id)).toMatchObject({ outcome: 'completed' })
  })
})
