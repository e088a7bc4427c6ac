/** One connection: how it is set up, what a transaction promises, which files it refuses. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { Database } from 'bun:sqlite'
import { readdirSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../domain/time.ts'
import { temporaryFolder } from '../testing/folder.ts'
import { admission, type Books, contents, openBooks, settlement } from './books.fixture.ts'
import { childCommand, startChild } from './children.fixture.ts'
import { openSqlite } from './sqlite.ts'
import type { Sql } from './database.ts'
import { StoreError } from './errors.ts'
import { SqlLedger } from './ledger/ledger.ts'

// Every commit waits for the disk, which may be busy.
setDefaultTimeout(30_000)

const insertMigration = "INSERT INTO migrations VALUES ('test')"

test('is set up to lose nothing and to wait only briefly', async () => {
  const dataDir = join(temporaryFolder(), 'made', 'on', 'demand')
  const database = await openSqlite(dataDir)
  const pragma = async (name: string) =>
    Object.values((await database.get<Record<string, unknown>>(`PRAGMA ${name}`))!)[0]
  expect(await pragma('journal_mode')).toBe('wal')
  expect(await pragma('synchronous')).toBe(2)
  expect(await pragma('foreign_keys')).toBe(1)
  expect(await pragma('recursive_triggers')).toBe(1)
  expect(await pragma('busy_timeout')).toBeLessThanOrEqual(250)
  expect(statSync(dataDir).mode & 0o777).toBe(0o700)
  await database.close()
})

const names = async (database: Books['database']) =>
  (await database.all<{ name: string }>("SELECT name FROM migrations WHERE name NOT GLOB '0*'")).map(({ name }) => name)
const insert = (name: string) => `INSERT INTO migrations VALUES ('${name}')`

test('a transaction is written completely or not at all', async () => {
  const { database } = await openBooks()
  const failing = database.transaction(async (sql) => {
    await sql.run(insertMigration)
    throw new RangeError('on purpose')
  })
  await expect(failing).rejects.toThrow('on purpose')
  expect(await names(database)).toEqual([])

  await database.transaction((sql) => sql.run(insertMigration))
  expect(await names(database)).toEqual(['test'])
})

test('statements of other callers are not part of a running transaction and see nothing of it', async () => {
  const { database } = await openBooks()
  const paused = Promise.withResolvers<void>()
  const failing = database.transaction(async (sql) => {
    await sql.run(insert('inside'))
    await paused.promise
    throw new RangeError('on purpose')
  })
  const seen = names(database)
  const outside = database.run(insert('outside'))
  const another = database.transaction((sql) => sql.run(insert('another')))
  paused.resolve()
  await expect(failing).rejects.toThrow('on purpose')
  expect(await seen).toEqual([])
  expect([await outside, await another]).toEqual([1, 1])
  expect(await names(database)).toEqual(['outside', 'another'])
})

test('a transaction has the write lock from its beginning', async () => {
  const { dataDir, database } = await openBooks()
  const other = new Database(join(dataDir, 'myna.db'))
  await database.transaction(async (sql) => {
    await sql.all('SELECT * FROM migrations')
    expect(() => other.run('BEGIN IMMEDIATE')).toThrow('database is locked')
  })
  other.run('BEGIN IMMEDIATE')
  other.close()
})

test('a transaction inside a transaction is refused, and the outer one still completes', async () => {
  const { database } = await openBooks()
  let inner: Promise<unknown> | undefined
  await database.transaction(async (sql) => {
    inner = database.transaction((other) => other.run(insertMigration)).catch((error: unknown) => error)
    await sql.run(insert('outer'))
  })
  expect(String(await inner)).toContain('cannot begin inside another')
  expect(await names(database)).toEqual(['outer'])
})

test('a statement that bypasses the transaction it is in is refused, because it would wait forever', async () => {
  const { database } = await openBooks()
  const past = database.transaction(async () => database.run(insertMigration))
  await expect(past).rejects.toThrow('cannot begin inside another')
  expect(await names(database)).toEqual([])
})

test('a statement that comes after its transaction is refused', async () => {
  const { database } = await openBooks()
  const kept: Sql[] = []
  await database.transaction(async (sql) => void kept.push(sql))
  await expect(kept[0]!.run(insertMigration)).rejects.toThrow('has ended')
  expect(await names(database)).toEqual([])
})

test('waiting for another writer does not block the event loop', async () => {
  const { dataDir, database } = await openBooks()
  const other = new Database(join(dataDir, 'myna.db'))
  other.run('BEGIN IMMEDIATE')
  let done = false
  const waiting = database.transaction((sql) => sql.run(insertMigration)).finally(() => (done = true))
  // The first attempt has failed when the promise is returned; the loop runs on until the other writer is done.
  await new Promise((resolve) => setImmediate(resolve))
  expect(done).toBe(false)
  other.run('COMMIT')
  expect(await waiting).toBe(1)
  other.close()
})

test('a writer that never lets go is reported as such', async () => {
  const { dataDir, database } = await openBooks()
  const other = new Database(join(dataDir, 'myna.db'))
  other.run('BEGIN IMMEDIATE')
  const refused = database.transaction((sql) => sql.run(insertMigration))
  await expect(refused).rejects.toMatchObject({ code: 'storage_full', cause: { code: 'SQLITE_BUSY' } })
  other.run('ROLLBACK')
  other.close()
  expect(await database.transaction((sql) => sql.run(insertMigration))).toBe(1)
})

test('a reopened database is unchanged, and closing removes the log', async () => {
  const books = await openBooks()
  const { id } = await books.ledger.admitSpeech(admission(books))
  await books.ledger.settle(id, settlement('completed', 1500))
  const before = await contents(books.database)
  await books.database.close()
  await books.database.close()
  expect(await Bun.file(join(books.dataDir, 'myna.db-wal')).exists()).toBe(false)
  const again = await openSqlite(books.dataDir)
  expect(await contents(again)).toEqual(before)
  await again.close()
})

test('a database of an older program is migrated and keeps its contents', async () => {
  const dataDir = temporaryFolder()
  const old = new Database(join(dataDir, 'myna.db'))
  old.run('CREATE TABLE migrations (name TEXT PRIMARY KEY NOT NULL) STRICT')
  old.run(readFileSync(join(import.meta.dir, 'migrations', '001_books.sql'), 'utf8'))
  const hash = 'a'.repeat(64)
  old.run(`INSERT INTO migrations VALUES ('001_books');
    INSERT INTO accounts (id, name, folded_name, role, created_at_ms) VALUES ('acct_1', 'ada', 'ada', 'user', 1);
    INSERT INTO keys (id, account_id, name, prefix, hash, created_at_ms)
      VALUES ('key_1', 'acct_1', 'k', 'p', '${hash}', 1);
    INSERT INTO operations (id, account_id, key_id, type, model, voice_id, input_chars, price_micros, charged_micros,
      key_supplied, fingerprint, created_at_ms)
      VALUES ('op_1', 'acct_1', 'key_1', 'speech', 'hibari', 'wren', 2, 30, 30, 0, '${hash}', 1);
    INSERT INTO entries (account_id, operation_id, kind, amount_micros, created_at_ms)
      VALUES ('acct_1', 'op_1', 'hold', 30, 1);
    INSERT INTO agents VALUES ('agent_1', 'acct_1', NULL)`)
  old.close()
  const database = await openSqlite(dataDir)
  expect(await database.all<object>('SELECT id, free, outcome FROM operations')).toEqual([
    { id: 'op_1', free: 0, outcome: null },
  ])
  expect(await database.all('SELECT * FROM agents')).toHaveLength(1)
  expect(await database.all<object>('SELECT * FROM entries')).toEqual([
    {
      id: 1,
      account_id: 'acct_1',
      operation_id: 'op_1',
      kind: 'hold',
      amount_micros: 30,
      created_at_ms: 1,
      credit_id: null,
    },
  ])
  const ledger = new SqlLedger(database, { clock: systemClock })
  expect(await ledger.settle('op_1', settlement('completed', 30))).toBe(true)
  await database.close()
})

test('a database of an older program is migrated, and a copy of the old one stays beside it', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'myna.db')
  const older = new Database(path)
  older.run(await Bun.file(new URL('migrations/001_books.sql', import.meta.url)).text())
  older.run('CREATE TABLE migrations (name TEXT PRIMARY KEY NOT NULL) STRICT')
  older.run("INSERT INTO migrations VALUES ('001_books')")
  older.run(
    "INSERT INTO accounts (id, name, folded_name, role, created_at_ms) VALUES ('acct_1', 'ada', 'ada', 'user', 1)",
  )
  older.close()

  const database = await openSqlite(folder)
  expect(await database.get('SELECT name FROM accounts')).toEqual({ name: 'ada' })
  expect(await database.get('SELECT count(*) AS voices FROM voices')).toEqual({ voices: 0 })
  await database.close()
  const copies = readdirSync(folder).filter((name) => name.includes('before'))
  expect(copies).toEqual(['myna.db.before-002_voices'])
  const copy = new Database(join(folder, copies[0]!), { readonly: true })
  expect(copy.query('SELECT name FROM migrations').all()).toEqual([{ name: '001_books' }])
  expect(copy.query('SELECT name FROM accounts').all()).toEqual([{ name: 'ada' }])
  copy.close()
  const again = await openSqlite(folder)
  await again.close()
  expect(readdirSync(folder).filter((name) => name.includes('before'))).toEqual(copies)
})

test('an interrupted migration keeps its first copy', async () => {
  const folder = temporaryFolder()
  const older = new Database(join(folder, 'myna.db'))
  older.run('CREATE TABLE migrations (name TEXT PRIMARY KEY NOT NULL) STRICT')
  older.run("INSERT INTO migrations VALUES ('001_books')")
  older.run(await Bun.file(new URL('migrations/001_books.sql', import.meta.url)).text())
  older.close()
  const copy = join(folder, 'myna.db.before-002_voices')
  writeFileSync(copy, 'the first copy')
  writeFileSync(`${copy}.part`, 'half of another')
  const database = await openSqlite(folder)
  await database.close()
  expect(readFileSync(copy, 'utf8')).toBe('the first copy')
})

test('a new database needs no copy', async () => {
  const folder = temporaryFolder()
  const database = await openSqlite(folder)
  await database.close()
  expect(readdirSync(folder).filter((name) => name.includes('before'))).toEqual([])
})

test('a database of a newer program is refused and not changed', async () => {
  const { dataDir, database } = await openBooks()
  await database.run("INSERT INTO migrations VALUES ('999_later')")
  await database.close()
  const path = join(dataDir, 'myna.db')
  const before = readFileSync(path)
  await expect(openSqlite(dataDir)).rejects.toThrow(
    new StoreError(`${path} was written by a newer myna (999_later). Start that version, or a later one.`),
  )
  expect(readFileSync(path).equals(before)).toBe(true)
})

test('a damaged file is refused', async () => {
  const garbage = temporaryFolder()
  writeFileSync(join(garbage, 'myna.db'), 'this is no database, and long enough to be looked at as one. '.repeat(20))
  await expect(openSqlite(garbage)).rejects.toThrow(/myna\.db is damaged \(.*\)\. Restore a backup in its place/)

  const { dataDir, database } = await openBooks()
  await database.close()
  truncateSync(join(dataDir, 'myna.db'), 8192)
  await expect(openSqlite(dataDir)).rejects.toThrow(/myna\.db is damaged/)
})

test('an unusable folder or file is named', async () => {
  const folder = temporaryFolder()
  const file = join(folder, 'file')
  writeFileSync(file, '')
  await expect(openSqlite(file)).rejects.toThrow(
    `The data folder ${file} cannot be created or written: a file is in its place. Name another`,
  )
  const occupied = join(folder, 'occupied')
  mkdirSync(join(occupied, 'myna.db'), { recursive: true })
  await expect(openSqlite(occupied)).rejects.toThrow(
    `${occupied}/myna.db cannot be opened: unable to open database file`,
  )
})

test('two processes create a new database at once', async () => {
  for (let round = 0; round < 3; round++) {
    const dataDir = temporaryFolder()
    const children = [1, 2].map(() => startChild(childCommand('open', dataDir)))
    const steps = String(readdirSync(join(import.meta.dir, 'migrations')).length)
    expect(await Promise.all(children.map((child) => child.line()))).toEqual([steps, steps])
    expect(await Promise.all(children.map((child) => child.process.exited))).toEqual([0, 0])
  }
})
