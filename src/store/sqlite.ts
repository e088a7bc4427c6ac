/**
 * SQLite behind the port: one connection to the database (`myna.db`), set up for a server that must lose nothing:
 * write-ahead log, every commit synced.
 *
 * There is one connection, so a statement that ran while a transaction awaits its next one would become part of it, and
 * vanish when that is rolled back. Transactions, and everything outside of them, therefore take turns.
 *
 * A transaction takes the write lock at its beginning: one that reads first and writes later can fail in a way that
 * waiting does not cure (SQLITE_BUSY_SNAPSHOT). While another process has the lock, the turn is given up.
 */
import { Database as Connection } from 'bun:sqlite'
import type { Statement } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { MynaError } from '../domain/error.ts'
import { busyTimeoutMs, patiently } from './busy.ts'
import { isDamage, quickDamage } from './damage.ts'
import { type Database, type Dialect, inScope, type Parameters, type Sql } from './database.ts'
import { codeOf, messageOf, StoreError } from './errors.ts'
import { makeDataFolder, makePrivate } from './folder.ts'
import { hasLog, logDamage } from './log-file.ts'
import { migrate, requireMigrated } from './migrations.ts'
import { sumDamage, writeSum } from './rest-sum.ts'
import { Turns } from './turns.ts'
import { Writes } from './writes.ts'

const fileName = 'myna.db'

const dialect: Dialect = {
  isOnLoop: true,
  // The transaction has the only write lock that there is.
  forUpdate: '',
  jsonArray: (column, order) => `json_group_array(${column} ORDER BY ${order})`,
  position: (text, sought) => `instr(${text}, ${sought})`,
  isUnique: (error) => codeOf(error) === 'SQLITE_CONSTRAINT_UNIQUE',
}

export class SqliteDatabase implements Database {
  readonly dialect = dialect
  readonly #connection: Connection
  readonly #path: string
  /** Bun keeps only 20 by itself. The texts are all in our source, so this is bounded. */
  readonly #statements = new Map<string, Statement<unknown, [Parameters]>>()
  readonly #inside = {
    get: async <Row>(sql: string, parameters?: Parameters) => this.#get<Row>(sql, parameters),
    all: async <Row>(sql: string, parameters?: Parameters) => this.#all<Row>(sql, parameters),
    run: async (sql: string, parameters?: Parameters) => this.#run(sql, parameters),
  }
  readonly #turns = new Turns()
  /** What this connection wrote; `data_version` counts the commits of others. */
  readonly #writes = new Writes()
  #isSuspect = false
  #isRefused = false

  /** @param path of the file that is open */
  constructor(connection: Connection, path: string) {
    this.#connection = connection
    this.#path = path
  }

  get<Row>(sql: string, parameters?: Parameters): Promise<Row | null> {
    return this.#served(() => this.#get<Row>(sql, parameters))
  }

  all<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    return this.#served(() => this.#all<Row>(sql, parameters))
  }

  run(sql: string, parameters?: Parameters): Promise<number> {
    return this.#served(() => this.#run(sql, parameters))
  }

  script(sql: string): Promise<void> {
    return this.#turns.take(() => {
      this.#writes.noteAnything()
      this.#connection.run(sql)
    })
  }

  transaction<T>(work: (sql: Sql, again: boolean) => Promise<T>): Promise<T> {
    return this.#served(() => this.#attempt((sql) => work(sql, false)))
  }

  versions(...sets: readonly (readonly string[])[]): readonly string[] | null {
    if (this.#isRefused) return null
    try {
      const others = this.#get<{ data_version: number }>(versionOfOthers)?.data_version
      return sets.map((tables) => `${others} ${this.#writes.of(tables)}`)
    } catch {
      // The next statement meets the same, and has an answer to it.
      return null
    }
  }

  /** Whether a statement met damage since the last call of `refuse`. */
  get isSuspect(): boolean {
    return this.#isSuspect
  }

  /** @param damage what a check of every page found: nothing is read or written from now on; null: all is well again */
  refuse(damage: string | null): void {
    this.#isRefused = damage !== null
    this.#isSuspect = false
    // Pages that were read while they were damaged.
    if (damage === null) this.#connection.run('PRAGMA shrink_memory')
  }

  /** Moves the log into the database file and begins a new one. @throws when another connection is reading */
  renewLog(): Promise<void> {
    return this.#turns.take(() => {
      for (const mode of ['DELETE', 'WAL']) this.#connection.run(`PRAGMA journal_mode = ${mode}`)
      // The file is made by the first statement that needs it.
      this.#get('SELECT 1 FROM sqlite_schema')
    })
  }

  /** In its turn, unless the database is damaged. */
  #served<T>(step: () => T | Promise<T>): Promise<T> {
    return patiently(() =>
      this.#turns.take(async () => {
        if (this.#isRefused) throw damaged()
        try {
          return await step()
        } catch (error) {
          if (!isDamage(error)) throw error
          this.#isSuspect = true
          throw damaged(error)
        }
      }),
    )
  }

  async #attempt<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    try {
      this.#run('BEGIN IMMEDIATE')
      const result = await inScope(dialect, this.#inside, work)
      this.#run('COMMIT')
      return result
    } catch (error) {
      // After a full disk SQLite may have rolled back by itself.
      if (this.#connection.inTransaction) this.#connection.run('ROLLBACK')
      throw error
    }
  }

  /** Waits for running transactions, moves the log into the database file and closes both. */
  close(): Promise<void> {
    return this.#turns.take(() => this.#close())
  }

  #close(): void {
    for (const statement of this.#statements.values()) statement.finalize()
    this.#statements.clear()
    try {
      this.#connection.run('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch {
      // On a full disk the log stays beside the file and is read at the next opening: nothing is lost.
    }
    this.#connection.close()
    // A log that is left has more in it than the file.
    if (!hasLog(this.#path)) writeSum(this.#path)
  }

  #get<Row>(sql: string, parameters: Parameters = {}): Row | null {
    this.#writes.note(sql)
    return this.#prepare(sql).get(parameters) as Row | null
  }

  #all<Row>(sql: string, parameters: Parameters = {}): Row[] {
    this.#writes.note(sql)
    return this.#prepare(sql).all(parameters) as Row[]
  }

  #run(sql: string, parameters: Parameters = {}): number {
    const { changes } = this.#prepare(sql).run(parameters)
    if (changes > 0) this.#writes.note(sql)
    return changes
  }

  #prepare(sql: string): Statement<unknown, [Parameters]> {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#connection.prepare<unknown, [Parameters]>(sql)
    this.#statements.set(sql, statement)
    return statement
  }
}

const versionOfOthers = 'PRAGMA data_version'

const damaged = (cause?: unknown): MynaError =>
  new MynaError('database_damaged', 'The database of the server is damaged; nothing was accepted or charged.', {
    ...(cause !== undefined && { cause }),
  })

/**
 * Opens `<dataDir>/myna.db`, creating folder and file if missing, and updates its schema. An existing log is the sign
 * of a disorderly end: then the structure is checked before anything is written.
 * @param isShared whether another server has it open: then its log means nothing, and its schema stays as it is
 * @throws StoreError if the folder cannot be used, or the file is damaged or of a newer program
 */
export async function openSqlite(dataDir: string, { isShared = false } = {}): Promise<SqliteDatabase> {
  makeDataFolder(dataDir)
  // `backup/restore.ts` leaves it while it exchanges files.
  if (existsSync(join(dataDir, 'restore-unfinished'))) {
    throw new StoreError(`A restore of ${dataDir} was interrupted. Run it again: myna restore FILE`)
  }
  const path = join(dataDir, fileName)
  let connection: Connection | undefined
  try {
    const isUnclean = !isShared && hasLog(path)
    const lost = isUnclean ? logDamage(path) : null
    if (lost !== null) throw new StoreError(`${path}-wal is damaged: ${lost}. ${backup}`)
    const damage = isShared ? null : (sumDamage(path) ?? (isUnclean ? quickDamage(path) : null))
    if (damage !== null) throw new StoreError(`${path} is damaged (${damage}). ${backup}`)
    makePrivate(path)
    connection = new Connection(path, { create: true, strict: true })
    await configure(connection)
    if (isShared) await requireMigrated(connection, path)
    else await migrate(connection, path)
    return new SqliteDatabase(connection, path)
  } catch (cause) {
    connection?.close()
    if (cause instanceof StoreError) throw cause
    throw new StoreError(`${path} ${whyNot(cause instanceof MynaError ? cause.cause : cause)}`, { cause })
  }
}

const backup = 'Restore a backup in its place (myna restore), or move it away to begin with an empty database.'

const whyNot = (error: unknown): string =>
  isDamage(error) ? `is damaged (${messageOf(error)}). ${backup}` : `cannot be opened: ${messageOf(error)}`

async function configure(connection: Connection): Promise<void> {
  connection.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
  await switchToWal(connection)
  connection.run('PRAGMA synchronous = FULL')
  connection.run('PRAGMA foreign_keys = ON')
  // Without it, INSERT OR REPLACE would delete rows past the triggers that forbid it.
  connection.run('PRAGMA recursive_triggers = ON')
  // Kibibytes when negative.
  connection.run('PRAGMA cache_size = -16384')
  connection.run(`PRAGMA journal_size_limit = ${64 * 1024 * 1024}`)
}

/** If two processes open a new file at once, the switch fails with SQLITE_BUSY whatever the timeout. */
async function switchToWal(connection: Connection): Promise<void> {
  await patiently(() => void connection.run('PRAGMA journal_mode = WAL'), 100)
}
