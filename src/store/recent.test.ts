/** The newest operations of an account, page by page, found through an index of their own however many there are. */
import { expect, test } from 'bun:test'
import type { OperationQuery } from '../service/ports/records.ts'
import { admission, cloneAdmission, engine, newKey, openBooks, settlement } from './books.fixture.ts'
import type { Parameters } from './database.ts'

const everything = {
  accountId: null,
  before: null,
  limit: 50,
  type: null,
  state: null,
  outcome: null,
  model: null,
  startMs: null,
  endMs: null,
}

test("lists an account's own, the newest first, page by page, until they have expired", async () => {
  const books = await openBooks()
  const bob = await books.accounts.create({ name: 'bob', role: 'user', balanceMicros: null })
  const bobs = { accountId: bob.id, keyId: (await newKey(books.accounts, bob)).id }
  const ids: string[] = []
  for (let count = 0; count < 5; count++) {
    ids.unshift((await books.ledger.admitSpeech(admission(books))).id)
    await books.ledger.admitSpeech(admission(books, bobs))
  }
  const page = async (before: string | null) =>
    (await books.ledger.recent({ ...everything, accountId: books.account.id, before, limit: 2 })).map(({ id }) => id)
  expect(await page(null)).toEqual(ids.slice(0, 2))
  expect(await page(ids[1]!)).toEqual(ids.slice(2, 4))
  expect(await page(ids[3]!)).toEqual(ids.slice(4))
  expect(await page(ids[4]!)).toEqual([])
  await books.ledger.settle(ids[0]!, settlement('completed', 1500))
  books.clock.advance(3_600_000)
  expect(await page(null)).toEqual(ids.slice(1, 3))
})

test('lists those of all accounts, or of the requested ones', async () => {
  const books = await openBooks()
  const { ledger, clock, account } = books
  const bob = await books.accounts.create({ name: 'bob', role: 'user', balanceMicros: null })
  const bobs = { accountId: bob.id, keyId: (await newKey(books.accounts, bob)).id }
  const began = clock.nowMs()
  const own = (await ledger.admitSpeech(admission(books))).id
  clock.advance(1000)
  const other = (await ledger.admitSpeech(admission(books, { ...bobs, model: 'kokoro' }))).id
  const clone = (await ledger.admitClone(cloneAdmission(books))).id
  await ledger.settle(own, settlement('stream_failed', 10))
  const found = async (query: Partial<OperationQuery>) =>
    (await ledger.recent({ ...everything, ...query })).map(({ id }) => id).sort()
  const sorted = (...ids: string[]) => ids.sort()
  expect(await found({})).toEqual(sorted(own, other, clone))
  expect(await found({ accountId: account.id })).toEqual(sorted(own, clone))
  expect(await found({ state: 'pending' })).toEqual(sorted(other, clone))
  expect(await found({ state: 'terminal' })).toEqual([own])
  expect(await found({ outcome: 'stream_failed' })).toEqual([own])
  expect(await found({ outcome: 'completed' })).toEqual([])
  expect(await found({ type: 'clone' })).toEqual([clone])
  expect(await found({ model: 'kokoro' })).toEqual([other])
  expect(await found({ startMs: began + 1 })).toEqual(sorted(other, clone))
  expect(await found({ startMs: began, endMs: began + 1000 })).toEqual([own])
  expect(await found({ accountId: bob.id, state: 'pending', model: 'kokoro', type: 'speech' })).toEqual([other])
  expect([(await ledger.find(null, other))?.id, await ledger.find(account.id, other)]).toEqual([other, null])
})

// The plan is given in the words of SQLite.
test.skipIf(engine.name === 'postgres').each([null, 'op_5'])(
  'sorts and reads nothing in vain, before %p',
  async (before) => {
    const books = await openBooks()
    const { database } = books
    const plans: string[] = []
    const all = database.all.bind(database)
    const explained = async (sql: string, parameters: Parameters) => {
      const steps = await all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, parameters)
      plans.push(...steps.map(({ detail }) => detail))
      return all(sql, parameters)
    }
    Object.defineProperty(database, 'all', { value: explained })
    await books.ledger.recent({ ...everything, accountId: books.account.id, before, limit: 50 })
    const range = before === null ? '' : ' AND id<?'
    expect(plans).toEqual([`SEARCH operations USING INDEX operations_account (account_id=?${range})`])
  },
)
