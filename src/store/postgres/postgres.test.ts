/** PostgreSQL behind the port: numbers and names, what a transaction promises, which box migrates, and its refusals. */
import { describe, expect, onTestFinished, setDefaultTimeout, test } from 'bun:test'
import { noPostgres, testPostgres } from '../../testing/postgres.ts'
import { StoreError } from '../errors.ts'
import { nameOf, openPostgres, type PostgresDatabase } from './postgres.ts'
import { numbered } from './numbered.ts'

setDefaultTimeout(60_000)

async function open(): Promise<{ database: PostgresDatabase; url: string }> {
  const server = await testPostgres()
  const url = server.urlOf(await server.create())
  const database = await openPostgres(url, { connections: 3, patienceMs: 60_000 })
  onTestFinished(() => database.close())
  return { database, url }
}

test('names become numbers, equal names equal numbers', () => {
  const { text, valuesOf } = numbered('SELECT $a, $bc, $a WHERE x = $d')
  expect(text).toBe('SELECT $1, $2, $1 WHERE x = $3')
  expect(valuesOf({ a: 1, bc: 'x', d: null, more: 2 })).toEqual([1n, 'x', null])
  expect(() => valuesOf({ a: 1, bc: 'x' })).toThrow('needs a value for $d')
  expect(() => valuesOf({ a: 1.5, bc: 'x', d: null })).toThrow('$a must be a whole number, not 1.5')
  expect(() => valuesOf({ a: 2 ** 53, bc: 'x', d: null })).toThrow('whole number')
  expect(valuesOf({ a: 1, bc: 'a\0b', d: null })).toEqual([1n, 'a\ufffdb', null])
})

test('an address is shown without its password', () => {
  expect(nameOf('postgres://ada:secret@db.example:5433/myna?sslmode=require')).toBe(
    'postgres://ada@db.example:5433/myna',
  )
  expect(nameOf('not an address: secret')).toBe('of that address')
})

// Skipped only where PostgreSQL is not installed.
describe.skipIf(noPostgres !== null)('a database', () => {
  test('returns numbers as numbers, and refuses those that a number cannot hold exactly', async () => {
    const { database } = await open()
    const row = await database.get<object>('SELECT CAST($a AS BIGINT) AS a, count(*) AS n, CAST(NULL AS BIGINT) AS x', {
      a: -(2 ** 53) + 1,
    })
    expect(row).toEqual({ a: -(2 ** 53) + 1, n: 1, x: null })
    await expect(database.get('SELECT CAST(9007199254740993 AS BIGINT) AS big')).rejects.toThrow('holds exactly')
  })

  test('does a transaction completely or not at all, and shows nothing of it before its end', async () => {
    const { database } = await open()
    const insert = "INSERT INTO migrations VALUES ('test')"
    const count = async () => (await database.all("SELECT 1 AS found FROM migrations WHERE name = 'test'")).length
    const paused = Promise.withResolvers<void>()
    const failing = database.transaction(async (sql) => {
      await sql.run(insert)
      await paused.promise
      throw new RangeError('on purpose')
    })
    expect(await count()).toBe(0)
    paused.resolve()
    await expect(failing).rejects.toThrow('on purpose')
    expect(await count()).toBe(0)
    expect(await database.transaction((sql) => sql.run(insert))).toBe(1)
    expect(await count()).toBe(1)
  })

  test('refuses a statement that was not awaited, came late or bypasses its transaction', async () => {
    const { database } = await open()
    const sleep = 'SELECT pg_sleep(0.05) AS done'
    await expect(database.transaction(async (sql) => void sql.all(sleep).catch(() => {}))).rejects.toThrow(
      'not awaited',
    )
    await expect(database.transaction(() => database.all(sleep))).rejects.toThrow('cannot begin inside another')
    const kept = await database.transaction(async (sql) => [sql])
    await expect(kept[0]!.all(sleep)).rejects.toThrow('has ended')
  })

  test('repeats the work after a deadlock', async () => {
    const { database } = await open()
    await database.script("INSERT INTO migrations VALUES ('a'), ('b')")
    const touch = (name: string) => `UPDATE migrations SET name = name WHERE name = '${name}'`
    const both = Promise.withResolvers<void>()
    let first = 0
    const meet = async () => (++first === 2 ? both.resolve() : first < 2 ? both.promise : undefined)
    const crossing = (one: string, other: string) =>
      database.transaction(async (sql) => {
        await sql.run(touch(one))
        await meet()
        return sql.run(touch(other))
      })
    expect(await Promise.all([crossing('a', 'b'), crossing('b', 'a')])).toEqual([1, 1])
  })

  test('is migrated once, whichever of several boxes comes first', async () => {
    const server = await testPostgres()
    const url = server.urlOf(await server.create())
    const boxes = await Promise.all(Array.from({ length: 4 }, () => openPostgres(url, { connections: 1 })))
    const names = await boxes[0]!.all<{ name: string }>('SELECT name FROM migrations ORDER BY name')
    expect(names.map(({ name }) => name)).toEqual([
      '001_books',
      '002_voices',
      '003_transcriptions',
      '004_recent',
      '005_boxes',
      '006_metering',
      '007_consents',
      '008_sessions',
      '009_remakes',
      '010_limits',
    ])
    await Promise.all(boxes.map((box) => box.close()))
  })

  test('of a newer program is refused', async () => {
    const { database, url } = await open()
    await database.script("INSERT INTO migrations VALUES ('999_later')")
    const refusal = 'was written by a newer myna (999_later). Start that version, or a later one.'
    await expect(openPostgres(url)).rejects.toThrow(new StoreError(`The database ${refusal}`))
  })

  test('that is missing, or refuses us, is named without the password', async () => {
    const server = await testPostgres()
    const nowhere = `postgres://myna:secret@127.0.0.1:1/none`
    const refused = await openPostgres(nowhere, { patienceMs: 0 }).catch(String)
    expect(refused).toStartWith('StoreError: The database postgres://myna@127.0.0.1:1/none cannot be used: ')
    const stranger = server.urlOf('none').replace('myna@', 'stranger:secret@')
    const unknown = await openPostgres(stranger, { patienceMs: 0 }).catch(String)
    expect(unknown).toContain('role "stranger" does not exist')
    expect(`${refused}${unknown}`).not.toContain('secret')
  })

  test('keeps working while a newer server adds to the schema', async () => {
    const { database } = await open()
    const look = () => database.all<object>('SELECT * FROM migrations LIMIT 1')
    const inside = () => database.transaction((sql) => sql.all<object>('SELECT * FROM migrations LIMIT 1'))
    for (let round = 0; round < 3; round++) await Promise.all([look(), inside()])
    await database.script('ALTER TABLE migrations ADD COLUMN later BIGINT NOT NULL DEFAULT 7')
    expect(await look()).toEqual([{ name: '001_books', later: 7 }])
    expect(await inside()).toEqual([{ name: '001_books', later: 7 }])
  })

  test('that was idle for long retries a query when the connection turns out to be gone', async () => {
    const server = await testPostgres()
    const { url } = await open()
    const database = await openPostgres(url, { connections: 1, patienceMs: 100 })
    onTestFinished(() => database.close())
    const one = () => database.get<object>('SELECT 1 AS one')
    await one()
    // Far longer than the deadline.
    for (let start = 0; start < 5; start++) {
      await server.kill()
      await server.up()
    }
    expect(await one()).toEqual({ one: 1 })
  })

  test('works as before once a killed server is back', async () => {
    const server = await testPostgres()
    const { database } = await open()
    await server.kill()
    const waiting = database.get<object>('SELECT 1 AS one')
    await server.up()
    expect(await waiting).toEqual({ one: 1 })
  })
})
