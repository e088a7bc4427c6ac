/**
 * One connection to the books (`myna.db`), set up for a server that must lose nothing: write-ahead log, every commit
 * synced. SQLite is synchronous and waits for another writer inside the call, which stops the event loop; so it may
 * wait only briefly there, and longer waits are spent between attempts, asynchronously. A transaction takes the write
 * lock at its beginning: one that reads first and writes later can fail in a way that no waiting cures
 * (SQLITE_BUSY_SNAPSHOT).
 */
import { Database } from 'bun:sqlite'
import type { Statement } from 'bun:sqlite'
import { join } from 'node:path'
import { MynaError } from '../domain/error.ts'
import { asStorageFull, codeOf, isBusy, messageOf, StoreError } from './errors.ts'
import { makeDataFolder } from './folder.ts'
import { migrate } from './migrations.ts'

export type Parameters = Record<string, string | number | null>

/** How long one attempt may stop the event loop, and how often it is made: 2 to 3 seconds in all. */
const busyTimeoutMs = 100
const attempts = 20
const pauseMs = 10
const jitterMs = 40

const fileName = 'myna.db'

export class StoreDatabase {
  readonly #sqlite: Database
  /** Bun keeps only 20 by itself. The texts are all in our source, so this is bounded. */
  readonly #statements = new Map<string, Statement<unknown, [Parameters]>>()

  constructor(sqlite: Database) {
    this.#sqlite = sqlite
  }

  get<Row>(sql: string, parameters: Parameters = {}): Row | null {
    return this.#prepare(sql).get(parameters) as Row | null
  }

  all<Row>(sql: string, parameters: Parameters = {}): Row[] {
    return this.#prepare(sql).all(parameters) as Row[]
  }

  /** @returns the number of rows that changed */
  run(sql: string, parameters: Parameters = {}): number {
    return this.#prepare(sql).run(parameters).changes
  }

  /** Runs several statements without parameters. */
  script(sql: string): void {
    this.#sqlite.run(sql)
  }

  /**
   * Runs `work` in one transaction: all of it is committed and synced, or nothing happened. It may run more than once.
   * @param work synchronous, for whatever ran between two of its statements would run inside the transaction
   * @throws what `work` throws; MynaError `storage_full`, also when another writer does not let go for seconds
   */
  transaction<T>(work: () => T): Promise<T> {
    return this.#patiently(() => {
      // Checked before the try: what fails there is rolled back, and this must not roll back the outer one.
      if (this.#sqlite.inTransaction) throw new Error('A transaction cannot begin inside another')
      try {
        this.run('BEGIN IMMEDIATE')
        const result = work()
        if (result instanceof Promise) throw new Error('A transaction must be synchronous')
        this.run('COMMIT')
        return result
      } catch (error) {
        // After a full disk SQLite may have rolled back by itself.
        if (this.#sqlite.inTransaction) this.#sqlite.run('ROLLBACK')
        throw error
      }
    })
  }

  /** Runs one reading statement. @throws MynaError `storage_full` as above */
  read<T>(work: () => T): Promise<T> {
    return this.#patiently(work)
  }

  async #patiently<T>(step: () => T): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return step()
      } catch (error) {
        if (!isBusy(error) || attempt === attempts) throw asStorageFull(error)
      }
      await Bun.sleep(pauseMs + Math.random() * jitterMs)
    }
  }

  /** Moves the log into the database file and closes both. Harmless when called again. */
  close(): void {
    for (const statement of this.#statements.values()) statement.finalize()
    this.#statements.clear()
    try {
      this.#sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch {
      // On a full disk the log stays beside the file and is read at the next opening: nothing is lost.
    }
    this.#sqlite.close()
  }

  #prepare(sql: string): Statement<unknown, [Parameters]> {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#sqlite.prepare<unknown, [Parameters]>(sql)
    this.#statements.set(sql, statement)
    return statement
  }
}

/**
 * Opens `<dataDir>/myna.db`, making folder and file where there are none, and brings its schema up to date.
 * @throws StoreError when the folder cannot be used, or the file is damaged or of a newer program
 */
export async function openDatabase(dataDir: string): Promise<StoreDatabase> {
  makeDataFolder(dataDir)
  const path = join(dataDir, fileName)
  let sqlite: Database | undefined
  try {
    sqlite = new Database(path, { create: true, strict: true })
    await configure(sqlite)
    const database = new StoreDatabase(sqlite)
    await migrate(database, path)
    return database
  } catch (cause) {
    sqlite?.close()
    if (cause instanceof StoreError) throw cause
    throw new StoreError(`${path} ${whyNot(cause instanceof MynaError ? cause.cause : cause)}`, { cause })
  }
}

function whyNot(error: unknown): string {
  return /^SQLITE_(NOTADB|CORRUPT)/.test(codeOf(error))
    ? `is damaged (${messageOf(error)}). Put a backup in its place, or move it away to begin with empty books.`
    : `cannot be opened: ${messageOf(error)}`
}

async function configure(sqlite: Database): Promise<void> {
  sqlite.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
  await switchToWal(sqlite)
  sqlite.run('PRAGMA synchronous = FULL')
  sqlite.run('PRAGMA foreign_keys = ON')
  // Without it, INSERT OR REPLACE would delete rows past the triggers that forbid it.
  sqlite.run('PRAGMA recursive_triggers = ON')
  // Kibibytes when negative.
  sqlite.run('PRAGMA cache_size = -16384')
  sqlite.run(`PRAGMA journal_size_limit = ${64 * 1024 * 1024}`)
}

/** When two processes open a new file at once, the switch fails with SQLITE_BUSY whatever the timeout. */
async function switchToWal(sqlite: Database): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      sqlite.run('PRAGMA journal_mode = WAL')
      return
    } catch (error) {
      if (!isBusy(error) || attempt === 100) throw error
    }
    await Bun.sleep(pauseMs + Math.random() * jitterMs)
  }
}
