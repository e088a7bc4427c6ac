/**
 * PostgreSQL behind the port. Transactions are READ COMMITTED; what must be exact is so because the account's row is
 * locked first (`lockAccount`). A lost connection is handled in this file alone: the work is done again on another one.
 * If the answer to a COMMIT was lost, `again` says so: the work itself has to check whether it was done.
 */
import { MynaError } from '../../domain/error.ts'
import { type Database, type Dialect, inScope, type Parameters, refuseInScope, type Sql } from '../database.ts'
import { StoreError } from '../errors.ts'
import { migratePostgres } from './migrations.ts'
import { withNumbers } from './numbered.ts'
import { WirePool } from './wire-pool.ts'
import { ConnectionLost, stateOf, Wire, type WireOptions } from './wire.ts'

export interface PostgresOptions extends WireOptions {
  connections: number
  /** How long work is tried again on new connections before it is refused. */
  patienceMs: number
  /** Whether records are being moved there, and by the caller. */
  isMove: boolean
}

const usualPostgres = { connections: 10, deadlineMs: 10_000, patienceMs: 10_000, isMove: false }

/** A migration may rewrite a table. */
const migrationMs = 600_000
const pauseMs = 20
/** No other program's lock, and not that of the migration. */
const aloneLock = 0x6d796e62
const longestPauseMs = 500

const dialect: Dialect = {
  isOnLoop: false,
  forUpdate: ' FOR UPDATE',
  jsonArray: (column, order) => `coalesce(json_agg(${column} ORDER BY ${order}), '[]')::text`,
  position: (text, sought) => `strpos(${text}, ${sought})`,
  isUnique: (error) => stateOf(error) === '23505',
}

/** The COMMIT was sent and its answer never came. */
class CommitLost extends Error {}

export class PostgresDatabase implements Database {
  readonly dialect = dialect
  readonly #pool: WirePool
  readonly #patienceMs: number
  /** When the first of the attempts failed since it last answered; null: it answers, as far as we know. */
  #silentSinceMs: number | null = null

  constructor(pool: WirePool, patienceMs: number) {
    this.#pool = pool
    this.#patienceMs = patienceMs
  }

  get<Row>(sql: string, parameters?: Parameters): Promise<Row | null> {
    return this.#patiently(() => this.#pool.with((wire) => statementsOf(wire).get<Row>(sql, parameters)))
  }

  all<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    return this.#patiently(() => this.#pool.with((wire) => statementsOf(wire).all<Row>(sql, parameters)))
  }

  run(sql: string, parameters?: Parameters): Promise<number> {
    return this.#patiently(() => this.#pool.with((wire) => statementsOf(wire).run(sql, parameters)))
  }

  /** Other boxes write as well, and asking for it would take as long as the query that it could save. */
  versions(): null {
    return null
  }

  async script(sql: string): Promise<void> {
    await this.#pool.with((wire) => wire.script(sql))
  }

  transaction<T>(work: (sql: Sql, again: boolean) => Promise<T>): Promise<T> {
    return this.withBytes((_, sql, again) => work(sql, again))
  }

  /** A transaction whose statements may also carry bytes, for which the port has no place. */
  withBytes<T>(work: (wire: Wire, sql: Sql, again: boolean) => Promise<T>): Promise<T> {
    let again = false
    return this.#patiently(async () => {
      try {
        return await this.#pool.with((wire) => attempt(wire, (sql) => work(wire, sql, again)))
      } catch (error) {
        if (error instanceof CommitLost) again = true
        throw error
      }
    })
  }

  /** While others that ask for the same wait. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    const wire = await Wire.open({ ...this.#pool.options, deadlineMs: migrationMs })
    try {
      await wire.query('SELECT pg_advisory_lock($lock)', { lock: aloneLock })
      return await work()
    } finally {
      // The lock goes with its connection.
      wire.close()
    }
  }

  async close(): Promise<void> {
    await this.#pool.close()
  }

  /** Again and again for a while. @throws what `step` throws; MynaError `database_unavailable` or `storage_full` */
  async #patiently<T>(step: () => Promise<T>): Promise<T> {
    refuseInScope()
    // If the database has been unreachable for long, callers do not wait long: one attempt, then the error.
    const isAway = this.#silentSinceMs !== null && performance.now() - this.#silentSinceMs > 2 * this.#patienceMs
    const endMs = performance.now() + (isAway ? 0 : this.#patienceMs)
    for (let waitMs = pauseMs; ; waitMs = Math.min(2 * waitMs, longestPauseMs)) {
      try {
        const result = await step()
        this.#silentSinceMs = null
        return result
      } catch (error) {
        if (!isTransient(error)) throw asRefusal(error)
        this.#silentSinceMs ??= performance.now()
        if (this.#pool.isClosed || performance.now() + waitMs > endMs) throw unavailable(error)
      }
      await Bun.sleep(waitMs * (0.5 + Math.random() / 2))
    }
  }
}

async function attempt<T>(wire: Wire, work: (sql: Sql) => Promise<T>): Promise<T> {
  await wire.query('BEGIN')
  let result: T
  try {
    result = await inScope(dialect, statementsOf(wire), work)
  } catch (error) {
    if (!wire.isBroken) await wire.query('ROLLBACK').catch(() => wire.close())
    throw error
  }
  try {
    await wire.query('COMMIT')
  } catch (error) {
    throw error instanceof ConnectionLost ? new CommitLost(error.message, { cause: error }) : error
  }
  return result
}

const statementsOf = (wire: Wire): Pick<Sql, 'get' | 'all' | 'run'> => ({
  get: async <Row>(sql: string, parameters?: Parameters) => {
    const [row] = (await wire.query(sql, parameters)).rows
    return row === undefined ? null : (withNumbers(row) as Row)
  },
  all: async <Row>(sql: string, parameters?: Parameters) =>
    (await wire.query(sql, parameters)).rows.map((row) => withNumbers(row) as Row),
  run: async (sql, parameters) => (await wire.query(sql, parameters)).count,
})

/** Serialization, deadlock, a lock or a statement that took too long: all of them leave nothing behind. */
const isTransient = (error: unknown): boolean =>
  error instanceof ConnectionLost || error instanceof CommitLost || /^(40001|40P01|55P03|57014)$/.test(stateOf(error))

/** Disk full, input/output error, a server that only reads. */
function asRefusal(error: unknown): unknown {
  if (!/^(53100|53200|58030|25006)$/.test(stateOf(error))) return error
  return new MynaError('storage_full', 'The server cannot write to its storage; nothing was accepted or charged.', {
    cause: error,
  })
}

const unavailable = (cause: unknown): MynaError =>
  new MynaError('database_unavailable', 'The database does not answer. Try again in a moment.', {
    retryAfterMs: 5000,
    cause,
  })

/**
 * Connects and updates the schema; the first box does that, and the others wait for it.
 * @throws StoreError if the database does not exist or cannot be used
 */
export async function openPostgres(url: string, options: Partial<PostgresOptions> = {}): Promise<PostgresDatabase> {
  const { connections, deadlineMs, patienceMs, isMove } = { ...usualPostgres, ...options }
  const pool = new WirePool({ url, deadlineMs }, connections)
  try {
    // Fails quickly without a server; the migration itself may take its time.
    await pool.with((wire) => wire.query('SELECT 1'))
    await migratePostgres(url, migrationMs, isMove)
    return new PostgresDatabase(pool, patienceMs)
  } catch (cause) {
    await pool.close()
    if (cause instanceof StoreError) throw cause
    throw new StoreError(`The database ${nameOf(url)} cannot be used: ${(cause as Error).message}`, { cause })
  }
}

/** Safe to show: without password and parameters. */
export function nameOf(url: string): string {
  if (!URL.canParse(url)) return 'of that address'
  const { protocol, username, host, pathname } = new URL(url)
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`
}
