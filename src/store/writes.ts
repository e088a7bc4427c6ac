/**
 * Counts what a connection has written, by table, so that what was read of a table can be kept until it changes:
 * nothing that a speech request writes concerns the key of the next one.
 */
const writing = /^(?:INSERT(?: OR \w+)? INTO|UPDATE(?: OR \w+)?|DELETE FROM)\s+(\w+)/
/** Every request that is paid moves a balance; what else is known of an account stays as it is. */
const movingBalance = /^UPDATE\s+accounts\s+SET\s+balance_micros\s*=[^,]*$/
const harmless = /^(?:SELECT|BEGIN|COMMIT|ROLLBACK|PRAGMA data_version)\b/

/** In place of a table's name. */
const [nothing, anything] = ['', '*']

export class Writes {
  readonly #counts = new Map<string, number>()
  /** By statement: the texts are all in our source, so this is bounded. */
  readonly #tables = new Map<string, string>()

  /** One statement that runs. It counts for no table if it only reads, or begins or ends a transaction. */
  note(sql: string): void {
    const table = this.#tables.get(sql) ?? tableOf(sql)
    this.#tables.set(sql, table)
    this.#add(table)
  }

  /** Several statements in one text. */
  noteAnything(): void {
    this.#add(anything)
  }

  /** Differs after every statement that wrote to one of them. */
  of(tables: readonly string[]): number {
    return [anything, ...tables].reduce((sum, table) => sum + (this.#counts.get(table) ?? 0), 0)
  }

  #add(table: string): void {
    if (table !== nothing) this.#counts.set(table, (this.#counts.get(table) ?? 0) + 1)
  }
}

function tableOf(sql: string): string {
  if (harmless.test(sql)) return nothing
  return movingBalance.test(sql) ? 'balances' : (writing.exec(sql)?.[1] ?? anything)
}
