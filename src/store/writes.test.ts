import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { migrate } from './migrations.ts'
import { Writes } from './writes.ts'

test('an update of balances alone does not count for the accounts', () => {
  for (const [sql, ofAccounts, ofBalances] of [
    ['UPDATE accounts SET balance_micros = balance_micros - $n\n WHERE id = $id AND balance_micros IS NOT NULL', 0, 1],
    ['UPDATE accounts SET balance_micros = $n WHERE id = $id', 0, 1],
    ['UPDATE accounts SET balance_micros = $n, name = $name WHERE id = $id', 1, 0],
    ['UPDATE accounts SET name = $name WHERE id = $id', 1, 0],
    ['DROP TABLE accounts', 1, 1],
  ] as const) {
    const writes = new Writes()
    writes.note(sql)
    expect([sql, writes.of(['accounts']), writes.of(['balances'])]).toEqual([sql, ofAccounts, ofBalances])
  }
})

test('a statement counts for the table that it writes to, and for every table when that is not plain', () => {
  for (const [sql, ofKeys, ofVoices] of [
    ['SELECT * FROM keys', 0, 0],
    ['BEGIN IMMEDIATE', 0, 0],
    ['COMMIT', 0, 0],
    ['ROLLBACK', 0, 0],
    ['PRAGMA data_version', 0, 0],
    ['INSERT INTO keys (id) VALUES ($id)', 1, 0],
    ['INSERT OR REPLACE INTO keys (id) VALUES ($id)', 1, 0],
    ['UPDATE keys SET name = $name', 1, 0],
    ['UPDATE OR IGNORE voices SET name = $name', 0, 1],
    ['DELETE FROM voices WHERE id = $id', 0, 1],
    ['WITH old AS (SELECT 1) DELETE FROM keys', 1, 1],
    ['PRAGMA user_version = 3', 1, 1],
    ['DROP TABLE keys', 1, 1],
  ] as const) {
    const writes = new Writes()
    writes.note(sql)
    expect([sql, writes.of(['keys']), writes.of(['voices'])]).toEqual([sql, ofKeys, ofVoices])
    writes.note(sql)
    expect([sql, writes.of(['keys', 'entries'])]).toEqual([sql, 2 * ofKeys])
  }
  const writes = new Writes()
  writes.noteAnything()
  expect(writes.of(['keys'])).toBe(1)
})

test('no trigger and no cascade changes a key or an account', async () => {
  const connection = new Database(':memory:')
  await migrate(connection, ':memory:')
  const triggers = connection.query<{ sql: string }, []>("SELECT sql FROM sqlite_schema WHERE type = 'trigger'").all()
  expect(triggers.length).toBeGreaterThan(10)
  const bodies = triggers.map(({ sql }) => sql.slice(sql.indexOf('BEGIN')))
  expect(bodies.filter((body) => /(?:INTO|UPDATE|FROM)\s+(?:keys|accounts)\b/.test(body))).toEqual([])
  const actions = connection.query<{ on_delete: string; on_update: string }, []>(
    `SELECT on_delete, on_update FROM pragma_foreign_key_list('keys')
     UNION ALL SELECT on_delete, on_update FROM pragma_foreign_key_list('accounts')`,
  )
  expect(actions.all()).toEqual([{ on_delete: 'NO ACTION', on_update: 'NO ACTION' }])
})
