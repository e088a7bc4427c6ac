/** The newest operations of an account, page by page, found by an index of their own however many there are. */
import { expect, test } from 'bun:test'
import { admission, engine, newKey, openBooks, settlement } from './books.fixture.ts'
import type { Parameters } from './database.ts'

test('own ones, the newest first, page by page, until they have expired', async () => {
  const books = await openBooks()
  const bob = await books.accounts.create({ name: 'bob', role: 'user', balanceMicros: null })
  const bobs = { accountId: bob.id, keyId: (await newKey(books.accounts, bob)).id }
  const ids: string[] = []
  for (let count = 0; count < 5; count++) {
    ids.unshift((await books.ledger.admitSpeech(admission(books))).id)
    await books.ledger.admitSpeech(admission(books, bobs))
  }
  const page = async (before: string | null) =>
    (await books.ledger.recent(books.account.id, { before, limit: 2 })).map(({ id }) => id)
  expect(await page(null)).toEqual(ids.slice(0, 2))
  expect(await page(ids[1]!)).toEqual(ids.slice(2, 4))
  expect(await page(ids[3]!)).toEqual(ids.slice(4))
  expect(await page(ids[4]!)).toEqual([])
  await books.ledger.settle(ids[0]!, settlement('completed', 1500))
  books.clock.advance(3_600_000)
  expect(await page(null)).toEqual(ids.slice(1, 3))
})

// The plan is told in the words of SQLite.
test.skipIf(engine.name === 'postgres').each([null, 'op_5'])(
  'nothing is sorted or read in vain, before %p',
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
    await books.ledger.recent(books.account.id, { before, limit: 50 })
    const range = before === null ? '' : ' AND id<?'
    expect(plans).toEqual([`SEARCH operations USING INDEX operations_account (account_id=?${range})`])
  },
)
