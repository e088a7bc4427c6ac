import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { migrate } from './migrations.ts'
import { Writes } from './writes.ts'

test('a statement counts for the table that it writes to, and for every table when that is not plain', () => {
  const balance = 'UPDATE accounts SET balance_micros ='
  for (const [sql, ...expected] of [
    // How often it counts for keys, voices, accounts and balances.
    ['SELECT * FROM keys', 0, 0, 0, 0],
    ['BEGIN IMMEDIATE', 0, 0, 0, 0],
    ['COMMIT', 0, 0, 0, 0],
    ['ROLLBACK', 0, 0, 0, 0],
    ['PRAGMA data_version', 0, 0, 0, 0],
    ['INSERT INTO keys (id) VALUES ($id)', 1, 0, 0, 0],
    ['INSERT OR REPLACE INTO keys (id) VALUES ($id)', 1, 0, 0, 0],
    ['UPDATE keys SET name = $name', 1, 0, 0, 0],
    ['UPDATE OR IGNORE voices SET name = $name', 0, 1, 0, 0],
    ['DELETE FROM voices WHERE id = $id', 0, 1, 0, 0],
    ['UPDATE accounts SET name = $name WHERE id = $id', 0, 0, 1, 0],
    // An account whose balance alone moves is the same account.
    [`${balance} balance_micros - $n\n WHERE id = $id AND balance_micros IS NOT NULL`, 0, 0, 0, 1],
    [`${balance} $n WHERE id = $id`, 0, 0, 0, 1],
    [`${balance} $n, name = $name WHERE id = $id`, 0, 0, 1, 0],
    ['WITH old AS (SELECT 1) DELETE FROM keys', 1, 1, 1, 1],
    ['PRAGMA user_version = 3', 1, 1, 1, 1],
    ['DROP TABLE keys', 1, 1, 1, 1],
    ['DROP TABLE accounts', 1, 1, 1, 1],
  ] as const) {
    const writes = new Writes()
    writes.note(sql)
    const counts = (['keys', 'voices', 'accounts', 'balances'] as const).map((table) => writes.of([table]))
    expect([sql, ...counts]).toEqual([sql, ...expected])
    writes.note(sql)
    expect([sql, writes.of(['keys', 'entries'])]).toEqual([sql, 2 * expected[0]])
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
