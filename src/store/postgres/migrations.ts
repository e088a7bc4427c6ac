/**
 * The history of the schema on PostgreSQL, under the names that it has on SQLite. All steps that are missing are one
 * transaction, behind a lock that boxes which start together wait for.
 */
import { StoreError } from '../errors.ts'
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
import { Wire } from './wire.ts'

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

/** `myna`, as a number: no other program's lock. */
const migrationLock = 0x6d796e61
const oldestServer = 130_000

/** The name of a mark among the migrations while records are being moved here (`move.ts`). */
export const movingPrefix = 'moving from '

/**
 * @param isMove whether the caller is the move that may have been begun
 * @throws StoreError when the server is too old, or the schema of a newer program
 */
export async function migratePostgres(url: string, waitMs: number, isMove = false): Promise<void> {
  const wire = await Wire.open({ url, deadlineMs: waitMs })
  try {
    await requireFit(wire)
    await wire.query('BEGIN')
    await wire.query('SELECT pg_advisory_xact_lock($lock)', { lock: migrationLock })
    const applied = await appliedNames(wire)
    refuseNewer(applied, isMove)
    for (const { name, sql } of migrations.filter((migration) => !applied.includes(migration.name))) {
      await wire.script('CREATE TABLE IF NOT EXISTS migrations (name TEXT COLLATE "C" PRIMARY KEY NOT NULL)')
      await wire.script(sql)
      await wire.query('INSERT INTO migrations (name) VALUES ($name)', { name })
    }
    await wire.query('COMMIT')
  } finally {
    wire.close()
  }
}

async function requireFit(wire: Wire): Promise<void> {
  const [row] = (
    await wire.query(
      `SELECT current_setting('server_version') AS version, current_setting('server_version_num') AS number,
         current_setting('server_encoding') AS encoding`,
    )
  ).rows
  if (Number(row?.number) < oldestServer) throw new StoreError(`PostgreSQL 13 or later is needed, not ${row?.version}.`)
  if (row?.encoding === 'UTF8') return
  throw new StoreError(
    `The database has the encoding ${row?.encoding}; Myna needs UTF8: ` +
      `CREATE DATABASE myna ENCODING 'UTF8' TEMPLATE template0.`,
  )
}

async function appliedNames(wire: Wire): Promise<string[]> {
  const [table] = (await wire.query("SELECT to_regclass('migrations') IS NOT NULL AS found")).rows
  if (table?.found !== true) return []
  return (await wire.query('SELECT name FROM migrations')).rows.map(({ name }) => String(name))
}

function refuseNewer(applied: readonly string[], isMove: boolean): void {
  const moving = (name: string) => name.startsWith(movingPrefix)
  if (!isMove && applied.some(moving)) {
    throw new StoreError('Records are being moved into the database. Finish that first: myna db move')
  }
  const unknown = applied.filter((name) => !moving(name) && !migrations.some((known) => known.name === name))
  if (unknown.length === 0) return
  throw new StoreError(
    `The database was written by a newer myna (${unknown.join(', ')}). Start that version, or a later one.`,
  )
}
