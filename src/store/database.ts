/**
 * Names what the store needs from a database, whichever engine is behind it: SQLite in the data folder, or a
 * PostgreSQL server. Every statement is written once, with `$names` as parameters, in the SQL that both engines
 * understand; the few differences are in `Dialect`. Whole numbers are numbers in both directions; there are no others
 * in the schema.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

export type Parameters = Record<string, string | number | null>

export interface Sql {
  readonly dialect: Dialect
  /** The first row; null: there is none. */
  get<Row>(sql: string, parameters?: Parameters): Promise<Row | null>
  all<Row>(sql: string, parameters?: Parameters): Promise<Row[]>
  /** @returns the number of rows that changed */
  run(sql: string, parameters?: Parameters): Promise<number>
}

/** A statement outside of a transaction may be done twice, so it is one that may. */
export interface Database extends Sql {
  /**
   * Runs `work` in one transaction: all of it is committed and durable, or nothing happened. It may run more than once.
   * @param work awaits only its own statements, all of them; other requests wait for it. `again`: an earlier run may
   * have been committed, because the answer to its COMMIT was lost; so the work first checks whether it was done
   * @throws what `work` throws; MynaError `storage_full` if nothing can be written, `database_unavailable`
   */
  transaction<T>(work: (sql: Sql, again: boolean) => Promise<T>): Promise<T>
  /**
   * One version for each set of tables. It differs after every change of a row in them, and after every commit of
   * another process: while it stays the same, so does what was read of them. What triggers and cascades do to a table
   * does not count. `balances` names the balances in `accounts`: an update of nothing else counts only for that name.
   * @returns null: this database cannot say so cheaply
   */
  versions(...sets: readonly (readonly string[])[]): readonly string[] | null
  /** Runs several statements without parameters, for tests and tools: it is tried once. */
  script(sql: string): Promise<void>
  /** Harmless when called again. */
  close(): Promise<void>
}

export interface Dialect {
  /** Whether statements run on this process' event loop: long ones are asked in parts. */
  readonly isOnLoop: boolean
  /** Appended to a SELECT: the rows stay as they are until the transaction ends. */
  readonly forUpdate: string
  /** An expression over grouped rows. @returns a JSON array of the column's texts, as text */
  jsonArray(column: string, order: string): string
  /** An expression: where `sought` begins in `text`, from 1; 0: nowhere. */
  position(text: string, sought: string): string
  /** Whether a statement failed because of a UNIQUE constraint. */
  isUnique(error: unknown): boolean
}

type Statements = Pick<Sql, 'get' | 'all' | 'run'>

interface Scope {
  open: boolean
}

const scopes = new AsyncLocalStorage<Scope>()

/**
 * Runs the work of a transaction with statements that hold only while it does. It catches the two mistakes that would
 * put a statement outside of its transaction: one that was not awaited, and one that goes past the given `sql`.
 */
export async function inScope<T>(dialect: Dialect, statements: Statements, work: (sql: Sql) => Promise<T>): Promise<T> {
  const scope: Scope = { open: true }
  let running = 0
  const within =
    <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      if (!scope.open) throw new Error('The transaction of this statement has ended')
      running++
      try {
        return await call(...args)
      } finally {
        running--
      }
    }
  const get = within(statements.get.bind(statements)) as Sql['get']
  const all = within(statements.all.bind(statements)) as Sql['all']
  const run = within(statements.run.bind(statements))
  try {
    const result = await scopes.run(scope, () => work({ dialect, get, all, run }))
    if (running > 0) throw new Error('A statement of the transaction was not awaited')
    return result
  } finally {
    scope.open = false
  }
}

/** Called by everything that waits for its turn: inside a transaction it would wait for itself. */
export function refuseInScope(): void {
  if (scopes.getStore()?.open === true) throw new Error('A transaction cannot begin inside another')
}
