/**
 * Usage reports over many rows, on SQLite: other work gets its turn meanwhile, and the sums are still those of one
 * moment.
 */
import { beforeAll, expect, test } from 'bun:test'
import type { UsageQuery, UsageRow } from '../service/ports/records.ts'
import { type Books, openBooks } from './books.fixture.ts'

const count = 20_000
const manyRows = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
  INSERT INTO usage (account_id, key_id, operation_id, type, model, characters, audio_ms, charged_micros,
    refunded_micros, free, settled_at_ms)
  SELECT '$account', '$key', 'op_many' || n, 'speech', CASE n % 3 WHEN 0 THEN 'flite' ELSE 'kokoro' END, n, 10, n % 7,
    0, 0, $startMs + n / 3 * 5 FROM numbers`
let many: Books
let rows: UsageRow[]
let startMs: number
const report = (changes: Partial<UsageQuery> = {}) =>
  many.ledger.usage({ accountId: null, startMs: 0, endMs: 1e13, bucketMs: 1e13, groupBy: [], ...changes })

beforeAll(async () => {
  many = await openBooks()
  startMs = many.clock.wallMs
  const values = { $account: many.account.id, $key: many.key.id, $startMs: String(startMs) }
  await many.database.script(manyRows.replace(/\$\w+/g, (name) => values[name as keyof typeof values]))
  rows = await report()
})

test('adds up every row once, however it is cut into buckets and groups', async () => {
  expect(rows).toMatchObject([
    { type: 'speech', requests: count, characters: (count * (count + 1)) / 2, audioMs: 10 * count },
  ])
  const span = { startMs: startMs + 15, endMs: startMs + 30_000, accountId: many.account.id }
  const [whole] = await report(span)
  for (const bucketMs of [7, 1000, 29_000]) {
    const parts = await report({ ...span, bucketMs, groupBy: ['model', 'api_key_id', 'account'] })
    const order = parts.map(({ bucketStartMs, model }) => `${bucketStartMs} ${model}`)
    expect(order).toEqual([...new Set(order)].sort())
    for (const field of ['requests', 'characters', 'audioMs', 'chargedMicros'] as const) {
      expect(parts.reduce((sum, row) => sum + row[field], 0)).toBe(whole![field])
    }
  }
})

test('lets other work in between', async () => {
  let turns = 0
  let isDone = false
  const turn = () => {
    turns++
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  await Promise.all([report(), report()])
  isDone = true
  expect(turns).toBeGreaterThan(6)
})

test('shows the rows of one moment, whatever is written meanwhile', async () => {
  const reading = report()
  const writing = (async () => {
    for (let n = 0; n < 3; n++) {
      const at = startMs + n * 15_000
      await many.database.script(
        `INSERT INTO usage (account_id, key_id, operation_id, type, model, characters, audio_ms, charged_micros,
           refunded_micros, free, settled_at_ms)
         VALUES ('${many.account.id}', '${many.key.id}', 'op_meanwhile${n}', 'speech', 'flite', 1, 1, 1, 0, 0, ${at})`,
      )
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
  })()
  expect(await reading).toEqual(rows)
  await writing
  expect(await report()).toMatchObject([{ requests: count + 3 }])
})
