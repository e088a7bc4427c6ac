/** Usage reports over a small history that can be added up by hand. */
import { beforeAll, expect, test } from 'bun:test'
import type { Outcome } from '../domain/operation.ts'
import type { SpeechAdmission } from '../service/ports.ts'
import type { UsageQuery } from '../service/ports/records.ts'
import { admission, newKey, openBooks, settlement } from './books.fixture.ts'
import type { Books } from './books.fixture.ts'

const hourMs = 3_600_000
let books: Books
let startMs: number
let secondKey: string
let bob: string

/** Three hours of work of two accounts: the middle hour is empty. */
beforeAll(async () => {
  books = await openBooks(null, true)
  startMs = books.clock.wallMs
  secondKey = (await newKey(books.accounts, books.account)).id
  const other = await books.accounts.create({ name: 'bob', role: 'user', balanceMicros: null })
  bob = other.id
  const bobsKey = (await newKey(books.accounts, other)).id
  await spoken({ model: 'flite' }, 'completed', 1500)
  await spoken({ model: 'flite', keyId: secondKey }, 'stream_failed', 500)
  await spoken({ model: 'kokoro' }, 'failed', 0)
  await spoken({ model: 'kokoro' }, 'cancelled', 0)
  await books.ledger.admitSpeech(admission(books))
  books.clock.advance(2 * hourMs + 1)
  await spoken({ model: 'kokoro' }, 'completed', 1500)
  await spoken({ model: 'flite', accountId: bob, keyId: bobsKey }, 'completed', 1500)
  for (const [id, heardMs] of Object.entries({ req_heard: 9500, req_mute: 0, req_running: null })) {
    await books.ledger.beginTranscription({ id, accountId: books.account.id, keyId: secondKey, model: 'whisper' })
    if (heardMs === null) await books.ledger.noteHeard(id, 5000)
    else await books.ledger.endTranscription(id, { outcome: 'completed', errorCode: null, heardMs })
  }
})

async function spoken(changes: Partial<SpeechAdmission>, outcome: Outcome, chargedMicros: number): Promise<void> {
  const { id } = await books.ledger.admitSpeech(admission(books, changes))
  await books.ledger.settle(id, settlement(outcome, chargedMicros))
}

const ask = (changes: Partial<UsageQuery> = {}) =>
  books.ledger.usage({
    accountId: books.account.id,
    startMs,
    endMs: startMs + 3 * hourMs,
    bucketMs: hourMs,
    groupBy: [],
    ...changes,
  })

const sums = { model: null, keyId: null, accountId: null, characters: 100, audioMs: 1000, refundedMicros: 0, free: 0 }

test('sums by bucket and type: only work that delivered or cost something; an empty bucket has no row', async () => {
  const first = { requests: 2, characters: 200, audioMs: 2000, chargedMicros: 2000, refundedMicros: 1000 }
  expect(await ask()).toEqual([
    { ...sums, ...first, bucketStartMs: startMs, type: 'speech' },
    { ...sums, bucketStartMs: startMs + 2 * hourMs, type: 'speech', requests: 1, chargedMicros: 1500 },
    {
      ...sums,
      bucketStartMs: startMs + 2 * hourMs,
      type: 'transcription',
      requests: 1,
      chargedMicros: 0,
      characters: 0,
      audioMs: 9500,
    },
  ])
})

test('groups by model and by key', async () => {
  const models = await ask({ groupBy: ['model'], bucketMs: 24 * hourMs })
  expect(models.map((row) => [row.type, row.model, row.requests, row.keyId])).toEqual([
    ['speech', 'flite', 2, null],
    ['speech', 'kokoro', 1, null],
    ['transcription', 'whisper', 1, null],
  ])
  const keys = await ask({ groupBy: ['api_key_id', 'model'], bucketMs: 24 * hourMs })
  const byModelAndKey = Object.fromEntries(keys.map((row) => [`${row.model} ${row.keyId}`, row.chargedMicros]))
  expect(byModelAndKey).toEqual({
    [`flite ${books.key.id}`]: 1500,
    [`flite ${secondKey}`]: 500,
    [`kokoro ${books.key.id}`]: 1500,
    [`whisper ${secondKey}`]: 0,
  })
})

test('of every account, grouped by account', async () => {
  const rows = await ask({ accountId: null, groupBy: ['account'], bucketMs: 24 * hourMs })
  const speech = rows.filter((row) => row.type === 'speech')
  expect(speech.map((row) => [row.accountId, row.chargedMicros])).toEqual([
    [books.account.id, 3500],
    [bob, 1500],
  ])
  const together = await ask({ accountId: null, bucketMs: 24 * hourMs })
  expect(together[0]).toMatchObject({ accountId: null, requests: 4, chargedMicros: 5000 })
})

test('the span includes its start but not its end', async () => {
  expect(await ask({ endMs: startMs })).toEqual([])
  expect(await ask({ endMs: startMs + 1 })).toHaveLength(1)
  expect(await ask({ startMs: startMs + 1, endMs: startMs + 2 * hourMs })).toEqual([])
  const [row] = await ask({ startMs: startMs + 1, endMs: startMs + 2 * hourMs + 2 })
  expect(row?.bucketStartMs).toBe(startMs + 1 + 2 * hourMs)
})

test('outlives the records of the operations', async () => {
  const before = await ask()
  books.clock.advance(48 * hourMs)
  expect(await books.ledger.sweep()).toBeGreaterThan(0)
  expect(await ask()).toEqual(before)
})
