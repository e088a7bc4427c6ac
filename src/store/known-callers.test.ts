/** A cached key is valid until a key or an account changes, by this process or by another. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { forEachSeed } from '../testing/seeded.ts'
import { SqlAccounts } from './accounts.ts'
import { admission, type Books, engine, newKey, openBooks, seededBytes, settlement, sha256 } from './books.fixture.ts'
import type { Database } from './database.ts'

// Every commit waits for the disk, which may be busy.
setDefaultTimeout(30_000)

const setHash = (database: Database, id: string, secret: string) =>
  database.run('UPDATE keys SET hash = $hash WHERE id = $id', { id, hash: sha256(secret) })

/** The key of this database, with a secret that the test knows. */
async function known(books: Books, secret: string): Promise<string> {
  await setHash(books.database, books.key.id, secret)
  return sha256(secret)
}

test('after every change, here or on another connection, a key is found in its new state', () =>
  forEachSeed(3, async (random) => {
    const books = await openBooks()
    const other = await books.again()
    const there = new SqlAccounts(other, { clock: books.clock, random: seededBytes(2) })
    const hash = await known(books, 'secret')
    const { id } = books.account
    for (let step = 0; step < 40; step++) {
      const accounts = random.next() < 0.5 ? books.accounts : there
      const database = accounts === there ? other : books.database
      const changes = [
        () => accounts.disable(id),
        () => accounts.enable(id),
        () => accounts.credit(id, 7),
        () => accounts.setMetering(id, step % 3 === 0 ? null : 1_000_000),
        () => accounts.rename(id, `ada ${step}`),
        () => database.run('UPDATE keys SET scopes = $scopes', { scopes: step % 2 === 0 ? '["tts"]' : '["voices"]' }),
        () => database.script(`UPDATE keys SET name = 'name ${step}'`),
        () => database.transaction((sql) => sql.run(`UPDATE keys SET name = 'again ${step}'`)),
      ]
      await changes[Math.floor(random.next() * changes.length)]!()
      const [found] = await Promise.all([books.accounts.findByKey(hash), books.accounts.findByKey(hash)])
      const now = await new SqlAccounts(other, { clock: books.clock, random: seededBytes(3) }).findByKey(hash)
      expect([step, found]).toEqual([step, now])
    }
    expect(await there.revokeKey(books.key.id)).toBe(true)
    expect((await books.accounts.findByKey(hash))?.key.revokedAtMs).toBe(books.clock.wallMs)
    await other.close()
  }))

test('an uncommitted change is neither seen nor cached', async () => {
  const books = await openBooks()
  const hash = await known(books, 'secret')
  const begun = Promise.withResolvers<void>()
  const gone = Promise.withResolvers<void>()
  const failing = books.database.transaction(async (sql) => {
    await sql.run("UPDATE keys SET name = 'never'")
    begun.resolve()
    await gone.promise
    throw new RangeError('on purpose')
  })
  await begun.promise
  const meanwhile = books.accounts.findByKey(hash)
  gone.resolve()
  await expect(failing).rejects.toThrow('on purpose')
  expect([(await meanwhile)?.key.name, (await books.accounts.findByKey(hash))?.key.name]).toEqual(['test', 'test'])
})

test('a key that did not exist is found once it does', async () => {
  const books = await openBooks()
  const hash = sha256('later')
  expect(await books.accounts.findByKey(hash)).toBeNull()
  const { id } = await newKey(books.accounts, books.account)
  await setHash(books.database, id, 'later')
  expect((await books.accounts.findByKey(hash))?.key.id).toBe(id)
})

/** @returns the tables that it has been asked for with `get` */
function counting(database: Database): { database: Database; asked: () => string[] } {
  const asked: string[] = []
  const counted: Database = {
    dialect: database.dialect,
    get: (sql, parameters) => {
      asked.push(/FROM (\w+)/.exec(sql)?.[1] ?? sql)
      return database.get(sql, parameters)
    },
    all: (sql, parameters) => database.all(sql, parameters),
    run: (sql, parameters) => database.run(sql, parameters),
    transaction: (work) => database.transaction(work),
    versions: (...sets) => database.versions(...sets),
    script: (sql) => database.script(sql),
    close: () => database.close(),
  }
  return { database: counted, asked: () => asked }
}

test('between changes SQLite is asked for a key once, and PostgreSQL every time', async () => {
  const books = await openBooks()
  const hash = await known(books, 'secret')
  const { database, asked } = counting(books.database)
  const accounts = new SqlAccounts(database, { clock: books.clock, random: seededBytes(4) })
  for (let request = 0; request < 5; request++) await accounts.findByKey(hash)
  expect(asked()).toEqual(engine.name === 'sqlite' ? ['keys'] : Array.from({ length: 5 }, () => 'keys'))
})

test('speech moves the balance that pays for it, and nothing else is read again', async () => {
  for (const [balanceMicros, reads] of [
    [null, ['keys']],
    [1_000_000, ['keys', 'accounts', 'accounts']],
  ] as const) {
    const books = await openBooks(balanceMicros)
    const hash = await known(books, 'secret')
    const { database, asked } = counting(books.database)
    const accounts = new SqlAccounts(database, { clock: books.clock, random: seededBytes(4) })
    await accounts.findByKey(hash)
    const { id } = await books.ledger.admitSpeech(admission(books))
    const held = await accounts.findByKey(hash)
    await books.ledger.settle(id, settlement('stream_failed', 700))
    const settled = await accounts.findByKey(hash)
    const balances = [held, settled].map((caller) => caller?.account.balanceMicros)
    expect(balances).toEqual(balanceMicros === null ? [null, null] : [balanceMicros - 1500, balanceMicros - 700])
    expect(asked()).toEqual(engine.name === 'sqlite' ? [...reads] : ['keys', 'keys', 'keys'])
  }
})
