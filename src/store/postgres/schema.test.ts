/** Both engines have one schema: tables, columns, named rules, and the messages of triggers. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { noPostgres, testPostgres } from '../../testing/postgres.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import type { Database } from '../database.ts'
import { openSqlite } from '../sqlite.ts'
import { openPostgres } from './postgres.ts'

setDefaultTimeout(60_000)

/** What only several boxes need, or only PostgreSQL. */
const onlyHere = new Set(['boxes', 'voice_files', 'consent_files'])
const indexesOnlyHere = new Set(['operations_pending_account', 'transcriptions_account'])

interface Schema {
  /** `table.column type`, with `NOT NULL` if it has that. */
  columns: string[]
  checks: string[]
  indexes: string[]
  /** `table name`. */
  triggers: string[]
  messages: string[]
}

const unique = (texts: Iterable<string>): string[] => [...new Set(texts)].sort()

async function ofSqlite(database: Database): Promise<Schema> {
  const items = await database.all<{ type: string; name: string; tbl_name: string; sql: string | null }>(
    'SELECT type, name, tbl_name, sql FROM sqlite_schema',
  )
  const tables = items.filter(({ type, name }) => type === 'table' && !name.startsWith('sqlite_'))
  const columns: string[] = []
  for (const { name } of tables) {
    const found = await database.all<{ name: string; type: string; notnull: number; pk: number }>(
      `SELECT name, type, "notnull", pk FROM pragma_table_info('${name}')`,
    )
    for (const column of found) {
      const isNeeded = column.notnull === 1 || column.pk === 1
      columns.push(`${name}.${column.name} ${column.type}${isNeeded ? ' NOT NULL' : ''}`)
    }
  }
  const sql = items.map((item) => item.sql ?? '').join('\n')
  return {
    columns: unique(columns),
    checks: unique([...sql.matchAll(/CONSTRAINT (\w+)/g)].map(([, name]) => name!)),
    indexes: unique(items.filter(({ type, sql: made }) => type === 'index' && made !== null).map(({ name }) => name)),
    triggers: unique(items.filter(({ type }) => type === 'trigger').map((item) => `${item.tbl_name} ${item.name}`)),
    messages: unique([...sql.matchAll(/RAISE\(ABORT, '([^']*)'\)/g)].map(([, message]) => message!)),
  }
}

async function ofPostgres(database: Database): Promise<Schema> {
  const columns = await database.all<{ name: string }>(
    `SELECT table_name || '.' || column_name || ' ' || CASE data_type WHEN 'bigint' THEN 'INTEGER' ELSE upper(data_type)
       END || CASE is_nullable WHEN 'NO' THEN ' NOT NULL' ELSE '' END AS name
     FROM information_schema.columns WHERE table_schema = 'public'`,
  )
  const checks = await database.all<{ name: string }>(
    `SELECT conname AS name FROM pg_constraint JOIN pg_namespace ON pg_namespace.oid = connamespace
     WHERE nspname = 'public' AND (contype = 'c' OR contype = 'u') AND conname NOT IN
       ('keys_hash_key', 'usage_operation_id_key', 'voices_operation_id_key')`,
  )
  const indexes = await database.all<{ name: string }>(
    `SELECT indexname AS name FROM pg_indexes WHERE schemaname = 'public'
       AND indexname NOT IN (SELECT conname FROM pg_constraint)`,
  )
  const triggers = await database.all<{ name: string; definition: string; body: string }>(
    `SELECT tgrelid::regclass::text || ' ' || tgname AS name, pg_get_triggerdef(pg_trigger.oid) AS definition,
       prosrc AS body
     FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid WHERE NOT tgisinternal`,
  )
  const said = triggers.flatMap(({ definition, body }) => [
    ...[...definition.matchAll(/myna_refuse\('(.*)'\)/g)].map(([, message]) => message!),
    ...[...body.matchAll(/RAISE EXCEPTION '([^%'][^']*)'/g)].map(([, message]) => message!),
  ])
  return {
    columns: unique(columns.map(({ name }) => name).filter((name) => !onlyHere.has(name.split('.')[0]!))),
    checks: unique(checks.map(({ name }) => name).filter((name) => name !== 'box_id_prefix')),
    indexes: unique(indexes.map(({ name }) => name).filter((name) => !indexesOnlyHere.has(name))),
    triggers: unique(triggers.map(({ name }) => name)),
    messages: unique(said),
  }
}

// Skipped only where PostgreSQL is not installed.
test.skipIf(noPostgres !== null)('PostgreSQL has the same schema as SQLite, with the same messages', async () => {
  const server = await testPostgres()
  const postgres = await openPostgres(server.urlOf(await server.create()))
  const sqlite = await openSqlite(temporaryFolder())
  const [there, here] = [await ofSqlite(sqlite), await ofPostgres(postgres)]
  await Promise.all([postgres.close(), sqlite.close()])
  expect(here).toEqual(there)
  expect(there.columns.length).toBeGreaterThan(80)
  expect(there.checks.length).toBeGreaterThan(50)
  expect(there.triggers.length).toBeGreaterThan(25)
})

// Likewise.
test.skipIf(noPostgres !== null)("names and ids sort by their bytes, whatever the server's locale", async () => {
  const server = await testPostgres()
  const postgres = await openPostgres(server.urlOf(await server.create()))
  const rows = await postgres.all<{ name: string }>(
    `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
     WHERE table_schema = 'public' AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'`,
  )
  await postgres.close()
  expect(rows).toEqual([])
})
