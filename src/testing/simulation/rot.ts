/**
 * Bit rot after a random life: the files that a process left are damaged as disks damage them (a flipped bit, a zeroed
 * page, an older state of a page, a torn log), and the next process must serve correct data or refuse. Everything
 * follows from the seed.
 */
import { Database } from 'bun:sqlite'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brokenRules, type Row } from '../../audit/rules.ts'
import { firstDamage } from '../../store/damage.ts'
import { StoreError } from '../../store/errors.ts'
import { writeSum } from '../../store/rest-sum.ts'
import { openSqlite } from '../../store/sqlite.ts'
import { Seeded } from '../seeded.ts'
import { simulate } from './simulation.ts'

export const damages = ['flipped bit', 'zeroed page', 'stale page', 'torn page', 'flipped bit in the log'] as const
export type Damage = (typeof damages)[number]

/**
 * `right`: every row is unchanged. `refused`: the start failed with a message, or the check of every page found the
 * damage, so nothing is served. `reported`: the audit found it. `unseen`: a row differs, and no check noticed.
 */
export type Verdict = 'right' | 'refused' | 'reported' | 'unseen'

export interface Rotten {
  damage: Damage
  verdict: Verdict
  /** What was found; for `unseen`, which rows differ. */
  words: string
}

const pageBytes = 4096

/** @param times how often the same files are damaged anew */
export async function rot(seed: number, steps: number, times: number): Promise<Rotten[]> {
  const folder = mkdtempSync(join(tmpdir(), 'myna-rot-'))
  const random = new Seeded(seed ^ 0x207)
  try {
    // An older state of the same life provides the stale pages.
    const earlier = await remainsOf(seed, Math.ceil(steps / 2), join(folder, 'earlier'))
    const later = await remainsOf(seed, steps, join(folder, 'later'))
    const whole = dump(join(later.ended, 'myna.db'))
    const found: Rotten[] = []
    for (let turn = 0; turn < times; turn++) {
      const damage = damages[turn % damages.length]!
      const damaged = join(folder, `damaged-${turn}`)
      copy(damage === 'flipped bit in the log' ? later.killed : later.ended, damaged)
      if (inflict(damage, damaged, earlier.ended, random)) found.push({ damage, ...(await judge(damaged, whole)) })
      rmSync(damaged, { recursive: true })
    }
    return found
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The files of a life that was killed, with everything in the log; and the files of a life that ended in order. */
async function remainsOf(seed: number, steps: number, folder: string): Promise<{ killed: string; ended: string }> {
  const [killed, ended] = [join(folder, 'killed'), join(folder, 'ended')]
  await simulate(seed, steps, (place) => copy(place, killed))
  copy(killed, ended)
  await (await openSqlite(ended)).close()
  // A timestamp that copying keeps, because disk rot does not change it either.
  setTime(join(ended, 'myna.db'))
  writeSum(join(ended, 'myna.db'))
  return { killed, ended }
}

const wholeSecond = new Date(1_763_712_000_000)
const setTime = (path: string): void => utimesSync(path, wholeSecond, wholeSecond)

/** The shared memory of a dead process is rebuilt from the log. */
const copy = (from: string, to: string): void =>
  cpSync(from, to, { recursive: true, preserveTimestamps: true, filter: (path) => !path.endsWith('-shm') })

/** @returns false if there is no such part to damage */
function inflict(damage: Damage, folder: string, earlier: string, random: Seeded): boolean {
  const path = join(folder, damage === 'flipped bit in the log' ? 'myna.db-wal' : 'myna.db')
  if (!existsSync(path)) return false
  const bytes = readFileSync(path)
  if (bytes.length === 0) return false
  const page = pageBytes * random.whole(0, Math.floor(bytes.length / pageBytes) - 1)
  if (damage === 'zeroed page') bytes.fill(0, page, page + pageBytes)
  else if (damage === 'torn page') bytes.fill(0, page + pageBytes / 2, page + pageBytes)
  else if (damage === 'stale page') {
    const older = readFileSync(join(earlier, 'myna.db')).subarray(page, page + pageBytes)
    if (older.length < pageBytes || older.equals(bytes.subarray(page, page + pageBytes))) return false
    bytes.set(older, page)
  } else {
    const end = damage === 'flipped bit' ? bytes.length : lastTransactionAt(bytes)
    if (end === 0) return false
    bytes[random.whole(0, end - 1)]! ^= 1 << random.whole(0, 7)
  }
  writeFileSync(path, bytes)
  setTime(path)
  return true
}

/**
 * The position of the last transaction in a log. Damage there looks like what a crash tears: SQLite drops that one
 * transaction, and it is impossible to know whether it was answered.
 */
function lastTransactionAt(log: Buffer): number {
  const ends: number[] = []
  for (let at = 32; at + 24 + pageBytes <= log.length; at += 24 + pageBytes) {
    if (log.readUInt32BE(at + 4) !== 0) ends.push(at + 24 + pageBytes)
  }
  return ends.at(-2) ?? 0
}

async function judge(folder: string, whole: string): Promise<Omit<Rotten, 'damage'>> {
  try {
    const database = await openSqlite(folder)
    await database.close()
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    return { verdict: 'refused', words: error.message }
  }
  const path = join(folder, 'myna.db')
  const damage = firstDamage(path)
  if (damage !== null) return { verdict: 'refused', words: damage }
  const is = dump(path)
  const connection = new Database(path, { readonly: true })
  const faults = await brokenRules(async (sql) => connection.query<Row, []>(sql).all())
  connection.close()
  if (is === whole) return { verdict: 'right', words: faults.map(({ words }) => words).join() }
  if (faults.length > 0) return { verdict: 'reported', words: faults.map(({ words }) => words).join() }
  return { verdict: 'unseen', words: difference(whole, is) }
}

/** Every row of every table. */
function dump(path: string): string {
  const database = new Database(path)
  try {
    const tables = database
      .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
      .all()
    const rows = tables.flatMap(({ name }) =>
      database
        .query(`SELECT * FROM ${name} ORDER BY rowid`)
        .all()
        .map((row) => `${name} ${JSON.stringify(row)}`),
    )
    return rows.join('\n')
  } finally {
    database.close()
  }
}

function difference(whole: string, is: string): string {
  const [before, after] = [whole.split('\n'), is.split('\n')]
  const lost = before.filter((row) => !after.includes(row))
  const other = after.filter((row) => !before.includes(row))
  return [...lost.slice(0, 2).map((row) => `- ${row}`), ...other.slice(0, 2).map((row) => `+ ${row}`)].join('\n')
}
