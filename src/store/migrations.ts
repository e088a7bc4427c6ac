/**
 * The history of the schema, embedded in the program. Each step is applied once, in a transaction that also records its
 * name; a name that this program does not know was written by a newer one, whose database it must not touch.
 */
import { existsSync, renameSync, rmSync } from 'node:fs'
import type { Database as Connection } from 'bun:sqlite'
import { patiently } from './busy.ts'
import { StoreError } from './errors.ts'
import books from './migrations/001_books.sql' with { type: 'text' }
import voices from './migrations/002_voices.sql' with { type: 'text' }
import transcriptions from './migrations/003_transcriptions.sql' with { type: 'text' }
import recent from './migrations/004_recent.sql' with { type: 'text' }
import boxes from './migrations/005_boxes.sql' with { type: 'text' }
import metering from './migrations/006_metering.sql' with { type: 'text' }
import consents from './migrations/007_consents.sql' with { type: 'text' }
import sessions from './migrations/008_sessions.sql' with { type: 'text' }
import remakes from './migrations/009_remakes.sql' with { type: 'text' }
import limits from './migrations/010_limits.sql' with { type: 'text' }

/** In order; a step that was released never changes. */
const migrations: readonly { name: string; sql: string }[] = [
  { name: '001_books', sql: books },
  { name: '002_voices', sql: voices },
  { name: '003_transcriptions', sql: transcriptions },
  { name: '004_recent', sql: recent },
  { name: '005_boxes', sql: boxes },
  { name: '006_metering', sql: metering },
  { name: '007_consents', sql: consents },
  { name: '008_sessions', sql: sessions },
  { name: '009_remakes', sql: remakes },
  { name: '010_limits', sql: limits },
]

/** @throws StoreError when the database is of a newer program */
export async function migrate(connection: Connection, path: string): Promise<void> {
  const applied = await patiently(() => appliedNames(connection))
  const unknown = applied.filter((name) => !migrations.some((migration) => migration.name === name))
  if (unknown.length > 0) {
    throw new StoreError(
      `${path} was written by a newer myna (${unknown.join(', ')}). Start that version, or a later one.`,
    )
  }
  const missing = migrations.filter(({ name }) => !applied.includes(name))
  const [first] = missing
  if (first !== undefined && applied.length > 0) keepCopy(connection, `${path}.before-${first.name}`)
  for (const migration of missing) await patiently(() => apply(connection, migration))
}

/** For a program that shares the database with another one. @throws StoreError if it would have to change it */
export async function requireMigrated(connection: Connection, path: string): Promise<void> {
  const applied = await patiently(() => appliedNames(connection))
  if (applied.length === migrations.length && migrations.every(({ name }) => applied.includes(name))) return
  throw new StoreError(`${path} is of another version: stop the server that runs on it, then start this one.`)
}

/**
 * The database as the older program left it, so that an upgrade can be undone. An existing copy was made by an upgrade
 * that did not finish, and is the older one.
 */
function keepCopy(connection: Connection, path: string): void {
  if (existsSync(path)) return
  const temp = `${path}.part`
  rmSync(temp, { force: true })
  connection.run(`VACUUM INTO '${temp.replaceAll("'", "''")}'`)
  renameSync(temp, path)
}

function apply(connection: Connection, { name, sql }: { name: string; sql: string }): void {
  const step = connection.transaction(() => {
    // Another process may have been quicker.
    if (appliedNames(connection).includes(name)) return
    connection.run('CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY NOT NULL) STRICT')
    connection.run(sql)
    connection.query('INSERT INTO migrations (name) VALUES ($name)').run({ name })
  })
  step.immediate()
}

function appliedNames(connection: Connection): string[] {
  const tables = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'"
  if (connection.query(tables).get() === null) return []
  return connection
    .query<{ name: string }, []>('SELECT name FROM migrations')
    .all()
    .map((row) => row.name)
}
