import { beforeAll, describe, expect, test } from 'bun:test'
import type { Account, Key } from '../domain/account.ts'
import { MynaError } from '../domain/error.ts'
import type { Ledger } from '../service/ports.ts'
import type { UsageQuery } from '../service/ports/records.ts'
import { SqlAccounts } from '../store/accounts.ts'
import { openSqlite, type SqliteDatabase } from '../store/sqlite.ts'
import { SqlLedger } from '../store/ledger/ledger.ts'
import { temporaryFolder } from '../testing/folder.ts'
import { startInstance } from '../testing/instance.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { Seeded } from '../testing/seeded.ts'
import { usagePage } from './usage.ts'

const dayS = 86_400
/** 2026-11-21 12:00 UTC. */
const nowS = Date.UTC(2026, 10, 21, 12) / 1000
const todayS = nowS - dayS / 2

const clock = new ManualClock()
const random = new Seeded(3)
let database: SqliteDatabase
let ledger: Ledger
let ada: Account
let keys: [Key, Key]

beforeAll(async () => {
  database = await openSqlite(temporaryFolder())
  const accounts = new SqlAccounts(database, { clock, random: random.fill })
  ledger = new SqlLedger(database, { clock })
  ada = await accounts.create({ name: 'ada', role: 'user', balanceMicros: 5000 })
  const bob = await accounts.create({ name: 'bob', role: 'user', balanceMicros: null })
  const issue = (account: Account, n: number) =>
    accounts.createKey({
      accountId: account.id,
      name: `key ${n}`,
      scopes: null,
      expiresAtMs: null,
      secretHash: String(n).repeat(64),
      prefix: 'sk-myna-test',
    })
  keys = [await issue(ada, 1), await issue(ada, 2)]
  await fill(ada.id, keys, 120)
  await fill(bob.id, [await issue(bob, 3)], 40)
})

/** Work of every type at random times in the last 40 days. */
async function fill(accountId: string, among: readonly Key[], count: number): Promise<void> {
  await database.transaction(async (sql) => {
    for (let n = 0; n < count; n++) {
      const type = random.pick(['speech', 'speech', 'clone', 'transcription'])
      const [keyId, model] = [random.pick(among).id, random.pick(['hibari', 'kokoro'])]
      const requestId = type === 'transcription' ? `req_${accountId}${n}` : null
      if (requestId !== null) {
        const columns = 'id, account_id, key_id, model, started_at_ms'
        await sql.run(`INSERT INTO transcriptions (${columns}) VALUES ($requestId, $accountId, $keyId, $model, 0)`, {
          requestId,
          accountId,
          keyId,
          model,
        })
      }
      const charged = type === 'transcription' ? 0 : random.whole(0, 2000)
      await sql.run(
        `INSERT INTO usage (account_id, key_id, operation_id, type, model, characters, audio_ms, charged_micros,
           refunded_micros, free, settled_at_ms, request_id, outcome)
         VALUES ($accountId, $keyId, $operationId, $type, $model, $characters, $audioMs, $charged,
           $refunded, $free, $at, $requestId, iif($requestId IS NULL, NULL, 'completed'))`,
        {
          accountId,
          keyId,
          requestId,
          operationId: requestId === null ? `op_${accountId}${n}` : null,
          type,
          model,
          characters: type === 'speech' ? random.whole(1, 500) : 0,
          audioMs: type === 'clone' ? 0 : random.whole(1, 20_000),
          charged,
          refunded: type === 'clone' ? random.whole(0, 100) : 0,
          free: type === 'clone' && random.chance(0.5) ? 1 : 0,
          at: (nowS - random.whole(0, 40 * dayS)) * 1000 + random.whole(0, 999),
        },
      )
    }
  })
}

interface Page {
  start_time: number
  end_time: number
  data: { start_time: number; end_time: number; results: Record<string, unknown>[] }[]
  has_more: boolean
  next_page: string | null
  totals: {
    speech: { requests: number; characters: number; audio_seconds: number; charged_micros: number }
    transcription: { requests: number; seconds: number; charged_micros: number }
    clones: { requests: number; free: number; charged_micros: number; refunded_micros: number }
    charged_micros: number
  }
  balance_micros: number | null
}

const page = async (query: Record<string, string> = {}): Promise<Page> =>
  (await usagePage(ada, new URLSearchParams(query), ledger, clock)) as unknown as Page

/** Follows next_page to the last page. */
async function pages(query: Record<string, string>): Promise<Page[]> {
  const all = [await page(query)]
  for (let last = all[0]; last?.has_more; last = all.at(-1)) {
    if (all.length > 1000) throw new Error('the pages do not end')
    all.push(await page({ ...query, page: last.next_page ?? '' }))
  }
  return all
}

/** The same sums as the totals, computed from the buckets. */
function sums(of: readonly Page[]) {
  const results = of.flatMap(({ data }) => data).flatMap((bucket) => bucket.results as Record<string, unknown>[])
  const sum = (kind: string, field: string) =>
    results.filter(({ object }) => String(object).includes(kind)).reduce((all, row) => all + Number(row[field]), 0)
  return {
    speech: [sum('speeches', 'num_model_requests'), sum('speeches', 'characters'), sum('speeches', 'charged_micros')],
    audioMs: Math.round(sum('speeches', 'audio_seconds') * 1000),
    transcriptions: sum('transcriptions', 'num_model_requests'),
    clones: [sum('clones', 'num_clones'), sum('clones', 'num_free'), sum('clones', 'refunded_micros')],
    charged: sum('', 'charged_micros'),
  }
}

const totalsOf = ({ totals: { speech, transcription, clones, charged_micros } }: Page) => ({
  speech: [speech.requests, speech.characters, speech.charged_micros],
  audioMs: Math.round(speech.audio_seconds * 1000),
  transcriptions: transcription.requests,
  clones: [clones.requests, clones.free, clones.refunded_micros],
  charged: charged_micros,
})

const month = { start_time: String(nowS - 30 * dayS), end_time: String(nowS) }

describe('for any bucket width, the buckets add up to the totals, and the totals to the database', () => {
  const cuts: [string, Record<string, string>][] = [
    ['by default', {}],
    ['days', { ...month }],
    ['days, 7 a page', { ...month, limit: '7' }],
    ['days, one a page', { ...month, limit: '1' }],
    ['hours', { ...month, bucket_width: '1h' }],
    ['hours, 100 a page', { ...month, bucket_width: '1h', limit: '100' }],
    ['minutes of a day', { start_time: String(nowS - dayS), bucket_width: '1m', limit: '180' }],
    ['groups', { ...month, group_by: 'model,api_key_id', limit: '4' }],
    ['a start off the bucket', { start_time: String(nowS - 3 * dayS - 7), end_time: String(nowS - 11), limit: '1' }],
  ]
  test.each(cuts)('%s', async (_, query) => {
    const all = await pages(query)
    const [first] = all
    if (first === undefined) throw new Error('no page')
    for (const { totals } of all) expect(totals).toEqual(first.totals)
    expect(sums(all)).toEqual(totalsOf(first))
    const booked = await database.get<{ n: number; charged: number }>(
      `SELECT count(*) AS n, sum(charged_micros) AS charged FROM usage
       WHERE account_id = $id AND settled_at_ms >= $startMs AND settled_at_ms < $endMs`,
      { id: ada.id, startMs: first.start_time * 1000, endMs: first.end_time * 1000 },
    )
    const { speech, transcription, clones, charged_micros } = first.totals
    expect([speech.requests + transcription.requests + clones.requests, charged_micros]).toEqual([
      booked?.n ?? 0,
      booked?.charged ?? 0,
    ])
    const starts = all.flatMap(({ data }) => data.map((bucket) => bucket.start_time))
    expect(starts).toEqual([...new Set(starts)].sort((a, b) => a - b))
  })
})

test('work that ends while the report is made is in its buckets and its totals, or in neither', async () => {
  const work = { accountId: ada.id, keyId: keys[0].id, atMs: nowS * 1000 - 1 }
  let asked = 0
  const busy = Object.assign(Object.create(ledger) as Ledger, {
    async usage(query: UsageQuery) {
      const rows = await ledger.usage(query)
      await database.run(
        `INSERT INTO usage (account_id, key_id, operation_id, type, model, characters, audio_ms, charged_micros,
           refunded_micros, free, settled_at_ms)
         VALUES ($accountId, $keyId, $operationId, 'speech', 'hibari', 7, 100, 105, 0, 0, $atMs)`,
        { ...work, operationId: `op_meanwhile${asked++}` },
      )
      return rows
    },
  })
  const report = (await usagePage(ada, new URLSearchParams(month), busy, clock)) as unknown as Page
  expect(sums([report])).toEqual(totalsOf(report))
})

test('with only an end, the report covers the 30 days before it', async () => {
  const report = await page({ end_time: String(todayS - 100 * dayS + 5) })
  expect([report.start_time, report.end_time]).toEqual([todayS - 129 * dayS, todayS - 100 * dayS + 5])
})

test('without parameters, it covers the last 30 days by day, and only days with work', async () => {
  const report = await page()
  expect([report.start_time, report.end_time]).toEqual([todayS - 29 * dayS, nowS + 1])
  expect(report.data.length).toBeGreaterThan(10)
  for (const bucket of report.data) {
    expect((bucket.start_time - report.start_time) % dayS).toBe(0)
    expect(bucket.results.length).toBeGreaterThan(0)
  }
  expect(report).toMatchObject({
    object: 'page',
    currency: 'usd',
    has_more: false,
    next_page: null,
    balance_micros: 5000,
  })
})

test('with a limit every step has a bucket, with or without work, and the last ends with the span', async () => {
  const query = { start_time: String(nowS - 90_000), end_time: String(nowS), bucket_width: '1h', limit: '20' }
  const [first, second] = await pages(query)
  expect([first?.data.length, first?.has_more, first?.next_page]).toEqual([20, true, String(nowS - 90_000 + 20 * 3600)])
  expect([second?.data.length, second?.has_more, second?.next_page]).toEqual([5, false, null])
  const off = await page({ ...query, end_time: String(nowS - 1) })
  const rest = await page({ ...query, end_time: String(nowS - 1), page: off.next_page ?? '' })
  expect(rest.data.at(-1)?.end_time).toBe(nowS - 1)
})

test('groups split the sums and name their fields; ungrouped fields are null', async () => {
  const grouped = await page({ ...month, group_by: 'model' })
  const models = new Set(grouped.data.flatMap(({ results }) => results.map(({ model }) => model)))
  expect([...models].sort()).toEqual(['hibari', 'kokoro'])
  const byKey = await page({ ...month, 'group_by[]': 'api_key_id' })
  const results = byKey.data.flatMap((bucket) => bucket.results)
  expect([...new Set(results.map((row) => row.api_key_id))].sort()).toEqual(keys.map(({ id }) => id).sort())
  expect(new Set(results.map(({ model }) => model))).toEqual(new Set([null]))
})

test('an empty span has empty totals', async () => {
  const empty = await page({ start_time: String(nowS), end_time: String(nowS) })
  expect([empty.data, empty.has_more, empty.totals.charged_micros]).toEqual([[], false, 0])
})

const wrong: [string, string][] = [
  ['bucket_width', '2d'],
  ['bucket_width', 'constructor'],
  ['limit', '0'],
  ['limit', '181'],
  ['limit', '1.5'],
  ['limit', 'many'],
  ['start_time', '-1'],
  ['start_time', 'yesterday'],
  ['start_time', String(nowS * 1000)],
  ['start_time', String(nowS + dayS)],
  ['end_time', '1e9'],
  ['group_by', 'account'],
  ['group_by', 'model,nothing'],
  ['page', '1'],
  ['page', String(nowS + 1)],
  ['page', 'next'],
]
test.each(wrong)('a wrong value is refused by its name: %s=%s', async (field, value) => {
  const refused: unknown = await page({ [field]: value }).catch((error: unknown) => error)
  if (!(refused instanceof MynaError)) throw new Error(`not refused: ${refused}`)
  expect([refused.code, refused.param]).toEqual(['validation_error', field])
})

test('an empty value counts as missing', async () => {
  const plain = await page({})
  expect(await page({ bucket_width: '', limit: '', page: '', group_by: '', start_time: '' })).toEqual(plain)
})

test('over HTTP a wrong value is 422 in both shapes, and a right one is a page', async () => {
  await using instance = await startInstance()
  const key = await instance.key({ prepaidMicros: 10_000 })
  await (await instance.speak(key)).bytes()
  const refused = await instance.fetch('/v1/usage?limit=0', { key })
  const told = [{ loc: ['query', 'limit'], msg: expect.any(String), type: 'int_parsing' }]
  expect(refused.status).toBe(422)
  expect(await refused.json()).toMatchObject({
    error: { code: 'validation_error', type: 'invalid_request_error', param: 'limit', details: told },
    detail: told,
  })
  const report = await instance.fetch('/v1/usage', { key })
  expect([report.status, await report.json()]).toMatchObject([
    200,
    { totals: { speech: { requests: 1, characters: 11, charged_micros: 165 } }, balance_micros: 10_000 - 165 },
  ])
})
