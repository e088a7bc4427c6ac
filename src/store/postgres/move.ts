/**
 * Moves the records of one server from its data folder into a PostgreSQL database. Rows are copied in the order of
 * their ids, in transactions of a few hundred, so a move that was interrupted continues where it stopped; the files of
 * voices follow. At the end every row and every file is read back and compared. Until then a mark in the database keeps
 * servers from using it. The data folder is not changed.
 */
import type { VoiceFile, VoiceFiles } from '../../service/ports.ts'
import type { Database } from '../database.ts'
import { StoreError } from '../errors.ts'
import type { Recordings } from '../consents.ts'
import { type RecordTable, recordTables } from '../tables.ts'
import { movingPrefix } from './migrations.ts'
import type { PostgresDatabase } from './postgres.ts'
import { PostgresConsentFiles, PostgresVoiceFiles } from './voice-files.ts'

type Row = Record<string, string | number | null>

const numberedTables: readonly RecordTable[] = ['entries', 'usage', 'voice_aliases']
const batch = 500
const fileNames: readonly VoiceFile[] = ['clip', 'reference.wav', 'state', 'preview.wav']

export interface MoveParts {
  from: Database
  files: VoiceFiles
  recordings: Recordings
  to: PostgresDatabase
  /** Called after each batch: how many rows of the table are there now; and after each voice. */
  onProgress: (what: string, count: number) => void
}

export interface Moved {
  rows: number
  voices: number
}

/** @throws StoreError when the database is in use, or differs afterwards */
export async function moveRecords(parts: MoveParts): Promise<Moved> {
  await begin(parts)
  for (const table of recordTables) await moveTable(parts, table)
  const voices = await moveFiles(parts)
  await moveRecordings(parts)
  let rows = 0
  for (const table of recordTables) rows += await compareTable(parts, table)
  await compareFiles(parts)
  await compareRecordings(parts)
  await parts.to.run('DELETE FROM migrations WHERE name LIKE $mark', { mark: `${movingPrefix}%` })
  return { rows, voices }
}

/** Marks the database as one into which these records are moved, or finds that mark. */
async function begin({ from, to }: MoveParts): Promise<void> {
  const source = await from.get<{ id: string | null }>('SELECT min(id) AS id FROM accounts')
  if (source?.id == null) throw new StoreError('There is nothing to move: the data folder knows no account.')
  const mark = `${movingPrefix}${source.id}`
  const found = await to.get<{ name: string }>('SELECT name FROM migrations WHERE name LIKE $mark', {
    mark: `${movingPrefix}%`,
  })
  if (found?.name === mark) return
  if (found !== null) throw new StoreError('A move of other records into this database was begun and not finished.')
  const account = await to.get('SELECT id FROM accounts LIMIT 1')
  if (account !== null) throw new StoreError('The database is in use: it has accounts. Name an empty one.')
  await to.run('INSERT INTO migrations (name) VALUES ($mark)', { mark })
}

const behind = (table: RecordTable, after: string | number | null): string =>
  `SELECT * FROM ${table} ${after === null ? '' : 'WHERE id > $after'} ORDER BY id LIMIT $batch`

async function page(database: Database, table: RecordTable, after: string | number | null): Promise<Row[]> {
  return database.all<Row>(behind(table, after), after === null ? { batch } : { after, batch })
}

async function moveTable({ from, to, onProgress }: MoveParts, table: RecordTable): Promise<void> {
  const last = await to.get<{ id: string | number | null; n: number }>(
    `SELECT max(id) AS id, count(*) AS n FROM ${table}`,
  )
  let after = last?.id ?? null
  let count = last?.n ?? 0
  for (;;) {
    const rows = await page(from, table, after)
    const [end] = rows.slice(-1)
    if (end === undefined) break
    await to.transaction(async (sql) => {
      // What was settled long ago could not be written as it is: each row was made in several steps.
      await sql.run(`ALTER TABLE ${table} DISABLE TRIGGER USER`)
      await sql.run(
        `INSERT INTO ${table}
         SELECT * FROM json_populate_recordset(CAST(NULL AS ${table}), CAST(CAST($rows AS TEXT) AS json))
         ON CONFLICT DO NOTHING`,
        { rows: JSON.stringify(rows) },
      )
      await sql.run(`ALTER TABLE ${table} ENABLE TRIGGER USER`)
    })
    after = end.id ?? null
    count += rows.length
    onProgress(table, count)
  }
  if (!numberedTables.includes(table)) return
  await to.all(
    `SELECT setval(pg_get_serial_sequence($table, 'id'), greatest((SELECT max(id) FROM ${table}), 1)) AS next`,
    { table },
  )
}

/** Of voices that have files: failed ones have none. */
const idsOf = async (from: Database): Promise<string[]> =>
  (await from.all<{ id: string }>("SELECT id FROM voices WHERE status <> 'failed' ORDER BY id")).map(({ id }) => id)

async function moveFiles({ from, files, to, onProgress }: MoveParts): Promise<number> {
  const target = new PostgresVoiceFiles(to)
  let count = 0
  for (const id of await idsOf(from)) {
    const there = await to.all('SELECT name FROM voice_files WHERE voice_id = $id AND piece = 0', { id })
    const whole = there.length === fileNames.length ? null : await filesOf(files, id)
    if (whole !== null) await target.put(id, whole)
    count++
    onProgress('voices with files', count)
  }
  return count
}

const consentIds = async (from: Database): Promise<string[]> =>
  (await from.all<{ id: string }>('SELECT id FROM voice_consents ORDER BY id')).map(({ id }) => id)

async function moveRecordings({ from, recordings, to, onProgress }: MoveParts): Promise<void> {
  const target = new PostgresConsentFiles(to)
  let count = 0
  for (const id of await consentIds(from)) {
    const there = await to.get('SELECT 1 AS found FROM consent_files WHERE consent_id = $id', { id })
    const bytes = there === null ? await recordings.read(id) : null
    // Its row is there already.
    if (bytes !== null) await target.keep(id, bytes, async () => {})
    count++
    onProgress('consents with recordings', count)
  }
}

async function compareRecordings({ from, recordings, to }: MoveParts): Promise<void> {
  const target = new PostgresConsentFiles(to)
  for (const id of await consentIds(from)) {
    if (!isEqual(await recordings.read(id), await target.read(id))) throw differs('recordings of consents', id)
  }
}

/** null: a voice that is still being made has none yet. */
async function filesOf(files: VoiceFiles, id: string): Promise<Record<VoiceFile, Uint8Array> | null> {
  const found: Partial<Record<VoiceFile, Uint8Array>> = {}
  for (const name of fileNames) {
    const bytes = await files.read(id, name)
    if (bytes === null) return null
    found[name] = bytes
  }
  return found as Record<VoiceFile, Uint8Array>
}

/** Row by row. @returns how many there are */
async function compareTable({ from, to }: MoveParts, table: RecordTable): Promise<number> {
  let after: string | number | null = null
  let count = 0
  for (;;) {
    const [here, there]: [Row[], Row[]] = [await page(from, table, after), await page(to, table, after)]
    for (const [index, row] of here.entries()) {
      const copy = there[index]
      if (copy === undefined || !isSame(row, copy)) throw differs(table, String(row.id))
    }
    if (there.length > here.length) throw differs(table, String(there[here.length]?.id))
    count += here.length
    const [end] = here.slice(-1)
    if (end === undefined) return count
    after = end.id ?? null
  }
}

const isSame = (row: Row, copy: Row): boolean =>
  Object.keys(row).length === Object.keys(copy).length &&
  Object.entries(row).every(([column, value]) => copy[column] === value)

async function compareFiles({ from, files, to }: MoveParts): Promise<void> {
  const target = new PostgresVoiceFiles(to)
  for (const id of await idsOf(from)) {
    for (const name of fileNames) {
      if (!isEqual(await files.read(id, name), await target.read(id, name))) {
        throw differs('voice files', `${id}/${name}`)
      }
    }
  }
}

const isEqual = (here: Uint8Array | null, there: Uint8Array | null): boolean =>
  here === null || there === null ? here === there : Buffer.from(here).equals(there)

const differs = (table: string, id: string): StoreError =>
  new StoreError(`After the move ${table} ${id} is not the same in the database. The data folder is as it was.`)
