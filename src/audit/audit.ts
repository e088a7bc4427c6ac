/**
 * The audit of a data folder, while a server runs on it or not: the structure of the database by SQLite's own check,
 * the rules of its records (`rules.ts`), and the files of voices and consents against their rows. It reads over a
 * connection of its own that can only read, from one moment. It imports nothing of the program that it checks.
 */
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { consentFaults } from './consents.ts'
import { type Ask, brokenRules, type Fault, type Row } from './rules.ts'
import { voiceFaults } from './voice-files.ts'

export interface AuditReport {
  faults: readonly Fault[]
  /** What was checked: numbers of rows and files. */
  seen: Readonly<Record<'accounts' | 'keys' | 'operations' | 'entries' | 'usage' | 'voices' | 'files', number>>
}

/** `quick`: structure and rules, about a second for a hundred thousand operations. `full`: every index, every file. */
export type Depth = 'quick' | 'full'

export const auditedTables = ['accounts', 'keys', 'operations', 'entries', 'usage', 'voices'] as const

/** A writer may hold the whole file for a moment. */
const busyTimeoutMs = 5000

/** Reports no more than these of one kind; the first ones say enough. */
const structureFaultsMax = 20

/**
 * @param dataDir with a `myna.db` of this program's schema
 * @throws what SQLite throws when the file cannot be opened or read for another reason than damage
 */
export async function audit(dataDir: string, depth: Depth): Promise<AuditReport> {
  const database = new Database(join(dataDir, 'myna.db'), { readonly: true })
  try {
    database.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
    database.run('BEGIN')
    const structure = structureFaults(database, depth)
    if (structure.length > 0) return { faults: structure, seen: nothing }
    const ask = async (sql: string) => database.query<Row, []>(sql).all()
    const faults = await brokenRules(ask)
    const files = await fileFaults(dataDir, ask, depth)
    return { faults: [...faults, ...files.faults], seen: { ...countsOf(database), files: files.count } }
  } catch (error) {
    if (!isDamage(error)) throw error
    return { faults: [{ rule: 'structure', words: wordsOf(error) }], seen: nothing }
  } finally {
    database.close()
  }
}

async function fileFaults(dataDir: string, ask: Ask, depth: Depth): Promise<{ faults: Fault[]; count: number }> {
  const isFull = depth === 'full'
  const isThere = (table: string) => (id: string) => hasRow(dataDir, table, id)
  const ofVoices = isFull ? await voiceFaults(dataDir, ask, isThere('voices')) : { faults: [], count: 0 }
  const tables = await ask("SELECT name FROM sqlite_schema WHERE name = 'voice_consents'")
  if (tables.length === 0) return ofVoices
  const ofConsents = await consentFaults(isFull ? dataDir : null, ask, isThere('voice_consents'))
  return { faults: [...ofVoices.faults, ...ofConsents.faults], count: ofVoices.count + ofConsents.count }
}

/** Over another connection: ours sees the moment at which it began. */
function hasRow(dataDir: string, table: string, id: string): boolean {
  const database = new Database(join(dataDir, 'myna.db'), { readonly: true })
  try {
    database.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
    return database.query(`SELECT 1 FROM ${table} WHERE id = $id`).get(id) !== null
  } finally {
    database.close()
  }
}

const nothing = { accounts: 0, keys: 0, operations: 0, entries: 0, usage: 0, voices: 0, files: 0 }

function structureFaults(database: Database, depth: Depth): Fault[] {
  const check = depth === 'quick' ? `quick_check(1)` : `integrity_check(${structureFaultsMax})`
  const lines = database.query<Record<string, string>, []>(`PRAGMA ${check}`).all()
  const found = lines.map((row) => Object.values(row).join()).filter((words) => words !== 'ok')
  const orphans = database.query<{ table: string; rowid: number }, []>('PRAGMA foreign_key_check').all()
  return [
    ...found.map((words) => ({ rule: 'structure', words })),
    ...orphans.slice(0, structureFaultsMax).map(({ table, rowid }) => ({
      rule: 'reference',
      words: `the row ${rowid} of ${table} refers to nothing`,
    })),
  ]
}

function countsOf(database: Database) {
  const counts = auditedTables.map((table) => `(SELECT count(*) FROM ${table}) AS ${table}`)
  const row = database.query<Record<(typeof auditedTables)[number], number>, []>(`SELECT ${counts.join(', ')}`).get()
  return { ...nothing, ...row }
}

const isDamage = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^SQLITE_(CORRUPT|NOTADB)/.test(String(error.code))

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
