/** What administrators see of all accounts over HTTP: operations with filters and pages, one in detail, usage. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Instance, startInstance } from '../testing/instance.ts'
import { until } from '../testing/until.ts'

interface Listed {
  id: string
  account: string
  key: string
  state: string
  model: string
  outcome: string | null
  first_audio_ms: number | null
}

let instance: Instance
let ada: string
let bob: string
beforeAll(async () => {
  instance = await startInstance()
  ada = await instance.key({ account: 'ada' })
  bob = await instance.key({ account: 'bob' })
  // Ids of one millisecond have no order.
  for (const key of [ada, bob, ada]) {
    await (await instance.speak(key)).bytes()
    instance.clock.advance(1)
  }
  await instance.cloned(bob)
})
afterAll(() => instance[Symbol.asyncDispose]())

async function ask<T>(path: string, key = instance.adminKey, method = 'GET'): Promise<{ status: number; body: T }> {
  const answer = await instance.fetch(`/v1/admin/${path}`, { key, method })
  return { status: answer.status, body: (await answer.json()) as T }
}
const list = async (query: string) => (await ask<{ data: Listed[]; has_more: boolean }>(`operations?${query}`)).body

test('operations of all accounts are listed with their account and key, the newest first, page by page', async () => {
  const { data, has_more: more } = await list('')
  expect([data.map(({ account }) => account), more]).toEqual([['bob', 'ada', 'bob', 'ada'], false])
  expect(data[1]).toMatchObject({ key: 'test', state: 'terminal', outcome: 'completed', model: 'hibari' })
  const first = await list('limit=3')
  expect([first.data.map(({ id }) => id), first.has_more]).toEqual([data.slice(0, 3).map(({ id }) => id), true])
  const rest = await list(`limit=3&before=${first.data[2]?.id}`)
  expect([rest.data.map(({ id }) => id), rest.has_more]).toEqual([[data[3]!.id], false])
})

test('they are filtered by account, kind, state, outcome, model and time', async () => {
  const accounts = async (query: string) => (await list(query)).data.map(({ account }) => account)
  expect(await accounts('account=ADA')).toEqual(['ada', 'ada'])
  expect(await accounts('type=clone')).toEqual(['bob'])
  expect(await accounts('state=pending')).toEqual([])
  expect(await accounts('outcome=completed&account=bob')).toEqual(['bob', 'bob'])
  expect(await accounts('model=kokoro-82m')).toEqual([])
  const now = Math.floor(instance.clock.nowMs() / 1000)
  expect(await accounts(`start_time=${now + 10}`)).toEqual([])
  expect(await accounts(`end_time=${now + 10}`)).toHaveLength(4)
  for (const wrong of ['account=nobody', 'type=song', 'state=running', 'limit=0', 'limit=201', 'start_time=soon']) {
    const { status, body } = await ask<{ error: { code: string } }>(`operations?${wrong}`)
    expect([wrong, status, body.error.code]).toEqual([wrong, 422, 'validation_error'])
  }
  const own = await instance.fetch('/v1/operations?type=clone', { key: bob })
  expect(((await own.json()) as { data: Listed[] }).data).toHaveLength(1)
})

test("another account's operation is shown in detail, and cancelled", async () => {
  const { engine } = instance
  const held = Promise.withResolvers<void>()
  engine.plan = () => ({ before: (frame) => (frame === 2 ? held.promise : undefined) })
  const answer = await instance.speak(ada, { input: 'on and on' })
  const [running] = (await list('state=pending')).data
  expect(running).toMatchObject({ account: 'ada', outcome: null, first_audio_ms: expect.any(Number) })
  expect((await ask(`operations/${running?.id}`)).body).toMatchObject({ id: running?.id, duration_ms: null })
  expect((await ask(`operations/${running?.id}/cancel`, instance.adminKey, 'POST')).body).toEqual({ ok: true })
  await answer.bytes().catch(() => {})
  held.resolve()
  await until('it is settled', async () => (await ask<Listed>(`operations/${running?.id}`)).body.state === 'terminal')
  const { body } = await ask<Listed>(`operations/${running?.id}`)
  expect(body).toMatchObject({ outcome: 'cancelled', duration_ms: expect.any(Number) })
  expect((await ask(`operations/${running?.id}/cancel`, instance.adminKey, 'POST')).body).toEqual({ ok: false })
  expect((await ask('operations/op_none')).status).toBe(404)
})

test('usage of all accounts, or of one, grouped by account', async () => {
  interface Usage {
    data: { results: { user_id: string | null; characters?: number }[] }[]
    totals: { speech: { requests: number }; clones: { requests: number } }
    balance_micros: number | null
  }
  const { body: all } = await ask<Usage>('usage?group_by=user_id')
  expect([all.totals.speech.requests >= 3, all.totals.clones.requests]).toEqual([true, 1])
  const ids = (await instance.server.administration.listAccounts()).map(({ id }) => id)
  const counted = new Set(all.data.flatMap(({ results }) => results.map(({ user_id: id }) => id)))
  expect([...counted].every((id) => id !== null && ids.includes(id))).toBe(true)
  expect(counted.size).toBe(2)
  const { body: of } = await ask<Usage>('usage?account=bob')
  expect([of.totals.speech.requests, of.totals.clones.requests]).toEqual([1, 1])
  expect(await ask('usage?account=nobody')).toMatchObject({
    status: 422,
    body: { detail: [{ loc: ['query', 'account'], msg: "There is no account 'nobody'." }] },
  })
})

test('only an administrator with an unrestricted key has access', async () => {
  const limited = await instance.server.administration.createKey({
    account: 'admin',
    name: 'limited',
    scopes: ['usage'],
    expires: null,
  })
  for (const key of [ada, limited.secret]) {
    for (const path of ['operations', 'operations/op_none', 'usage']) {
      const { status, body } = await ask<{ error: { code: string } }>(path, key)
      expect([path, status, body.error.code]).toEqual([path, 403, 'admin_required'])
    }
    expect((await ask('operations/op_none/cancel', key, 'POST')).status).toBe(403)
  }
})
