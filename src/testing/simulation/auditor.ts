/**
 * The independent check of the database: it reads the raw tables with its own SQL, adds up for itself, and compares the
 * result with what the model says must have happened. It remembers earlier states, so that it notices forbidden changes
 * and losses.
 */
import type { Database } from 'bun:sqlite'
import { bookedMicros, type Followed, type Model, sha256 } from './model.ts'
import type { KnownAccount, OperationRow } from './facts.ts'

interface EntryRow {
  id: number
  account_id: string
  operation_id: string | null
  amount_micros: number
}

export interface UsageRow {
  operation_id: string
  account_id: string
  key_id: string
  characters: number
  audio_ms: number
  charged_micros: number
  refunded_micros: number
  type: string
  free: number
}

interface AccountRow {
  id: string
  balance_micros: number | null
}

export interface Snapshot {
  operations: Map<string, OperationRow>
  entries: EntryRow[]
  usage: UsageRow[]
  accounts: AccountRow[]
}

export function readBooks(books: Database): Snapshot {
  const operations = books.query('SELECT rowid, * FROM operations ORDER BY rowid').all() as OperationRow[]
  return {
    operations: new Map(operations.map((row) => [row.id, row])),
    entries: books.query('SELECT * FROM entries ORDER BY id').all() as EntryRow[],
    usage: books.query('SELECT * FROM usage ORDER BY id').all() as UsageRow[],
    accounts: books.query('SELECT id, balance_micros FROM accounts').all() as AccountRow[],
  }
}

/** The part for clones, or the part for speech; entries and accounts belong to both. */
export const booksOf = (type: 'speech' | 'clone', books: Snapshot): Snapshot => ({
  ...books,
  operations: new Map([...books.operations].filter(([, row]) => row.type === type)),
  usage: books.usage.filter((row) => row.type === type),
})

export class Auditor {
  readonly #model: Model
  readonly #accounts: readonly KnownAccount[]
  readonly #terminal = new Map<string, string>()
  #entries: string[] = []

  constructor(model: Model, accounts: readonly KnownAccount[]) {
    this.#model = model
    this.#accounts = accounts
  }

  /**
   * Compares the database with the model.
   * @param books of speech
   * @param mayLag whether an ending may still be unwritten, because the disk is or was full
   * @param nowMs by the wall clock
   * @returns the broken rules, in words
   */
  faults(books: Snapshot, mayLag: boolean, nowMs: number): string[] {
    return [
      ...this.#model.operations.flatMap((operation) => this.#recordFaults(operation, books, mayLag, nowMs)),
      ...this.#strangers(books),
      ...this.#moneyFaults(books),
      ...this.#usageFaults(books),
      ...keyFaults(books),
      ...this.#entryFaults(books),
    ]
  }

  #recordFaults(operation: Followed, books: Snapshot, mayLag: boolean, nowMs: number): string[] {
    const { id } = operation
    const row = books.operations.get(id)
    if (operation.removed) return row === undefined ? [] : [`${id} was removed and is back`]
    if (row === undefined) {
      operation.removed = true
      const allowed = operation.settledMs !== null && this.#model.isExpired(operation)
      return allowed ? [] : [`${id} vanished before it expired`]
    }
    return row.outcome === null ? this.#pendingFaults(operation, row, mayLag) : this.#endFaults(operation, row, nowMs)
  }

  #pendingFaults(operation: Followed, row: OperationRow, mayLag: boolean): string[] {
    const { id, ending, produced, ask } = operation
    if (this.#terminal.has(id)) return [`${id} went back to pending`]
    if (ending !== null) operation.wasLate = true
    if (ending !== null) return mayLag ? [] : [`${id} ended ${ending.outcome}, and the books say pending`]
    const faults: string[] = []
    const expect = (isRight: boolean, what: string) => isRight || faults.push(`${id} is pending, but ${what}`)
    expect(row.charged_micros === operation.priceMicros, `${row.charged_micros} are held of ${operation.priceMicros}`)
    expect(row.price_micros === operation.priceMicros, `its price is ${row.price_micros}`)
    expect(row.started_at_ms === operation.createdMs, `it started at ${row.started_at_ms}`)
    expect(
      (row.first_audio_at_ms !== null) === produced > 0,
      `audio at ${row.first_audio_at_ms} with ${produced} frames`,
    )
    expect(row.completion_bytes === null, 'it has completion bytes')
    expect(row.idempotency_hash === hashOf(ask.idempotencyKey), 'its key is not held')
    return faults
  }

  #endFaults(operation: Followed, row: OperationRow, nowMs: number): string[] {
    const { id, ending } = operation
    const now = JSON.stringify(row)
    const before = this.#terminal.get(id)
    if (before !== undefined) return before === now ? [] : [`${id} changed after its end: ${before} to ${now}`]
    this.#terminal.set(id, now)
    if (ending === null) return [`${id} is ${row.outcome} (${row.error_code}), and should be pending`]
    operation.settledMs = row.settled_at_ms
    const faults: string[] = []
    const expect = (what: string, is: unknown, due: unknown) =>
      is === due || faults.push(`${id}, ended ${ending.outcome}: ${what} is ${is}, not ${due}`)
    expect('the outcome', row.outcome, ending.outcome)
    expect('the charge', row.charged_micros, ending.chargedMicros)
    expect('the price', row.price_micros, operation.priceMicros)
    expect('the error', row.error_code, ending.code)
    expect('completion_bytes', row.completion_bytes, ending.completionBytes)
    if (!operation.wasLate) expect('the time of the end', row.settled_at_ms, nowMs)
    expect(
      'the key',
      row.idempotency_hash,
      this.#model.isKeyHeld(operation) ? hashOf(operation.ask.idempotencyKey) : null,
    )
    if (row.charged_micros > row.price_micros) faults.push(`${id} is charged above its price`)
    return faults
  }

  /** An operation that the model does not know was admitted without an answer. */
  #strangers({ operations }: Snapshot): string[] {
    return [...operations.keys()]
      .filter((id) => this.#model.find(id) === undefined)
      .map((id) => `nobody asked for ${id}`)
  }

  #moneyFaults({ entries, accounts }: Snapshot): string[] {
    const faults: string[] = []
    const booked = Map.groupBy(entries, (entry) => entry.operation_id)
    for (const operation of this.#model.operations) {
      const sum = total((booked.get(operation.id) ?? []).map((entry) => entry.amount_micros))
      const due = bookedMicros(operation)
      if (sum !== due) faults.push(`the entries of ${operation.id} sum to ${sum}, not ${due}`)
    }
    for (const account of this.#accounts) {
      const balance = accounts.find(({ id }) => id === account.id)?.balance_micros ?? null
      const due = this.#model.balanceMicros(account)
      if (balance !== due) faults.push(`${account.name} has ${balance}, not ${due}`)
      if (balance !== null && balance < 0) faults.push(`${account.name} has ${balance}`)
      const owed = total(entries.filter((entry) => entry.account_id === account.id).map((entry) => entry.amount_micros))
      if (balance !== null && balance + owed !== 0) faults.push(`${account.name} has ${balance}, and owes ${owed}`)
    }
    return faults
  }

  #usageFaults({ usage }: Snapshot): string[] {
    const faults: string[] = []
    const counted = Map.groupBy(usage, (row) => row.operation_id)
    for (const { id, ending, settledMs, priceMicros, ask } of this.#model.operations) {
      const rows = counted.get(id) ?? []
      const used = settledMs !== null && ending !== null && (ending.outcome === 'completed' || ending.chargedMicros > 0)
      if (rows.length !== (used ? 1 : 0)) faults.push(`${id} is counted ${rows.length} times`)
      const [row] = rows
      if (row === undefined || ending === null) continue
      const is = [row.characters, row.audio_ms, row.charged_micros, row.refunded_micros, row.account_id, row.key_id]
      const { usedChars, audioMs, chargedMicros } = ending
      const due = [usedChars, audioMs, chargedMicros, priceMicros - chargedMicros, ask.key.account.id, ask.key.id]
      if (is.join() !== due.join()) faults.push(`${id} is counted as ${is.join()}, not ${due.join()}`)
    }
    if (usage.length > this.#model.operations.length) faults.push('more is counted than was done')
    return faults
  }

  #entryFaults({ entries }: Snapshot): string[] {
    const now = entries.map((entry) => JSON.stringify(entry))
    const lost = this.#entries.filter((entry, index) => now[index] !== entry)
    this.#entries = now
    return lost.map((entry) => `the entry ${entry} was changed or removed`)
  }
}

function keyFaults({ operations }: Snapshot): string[] {
  const held = [...operations.values()].filter((row) => row.idempotency_hash !== null)
  const places = held.map((row) => `${row.account_id} ${row.type} ${row.idempotency_hash}`)
  const faults = new Set(places).size === places.length ? [] : ['two operations hold one key']
  for (const {
    id,
    outcome,
    charged_micros: charged,
    key_supplied: supplied,
    idempotency_hash: hash,
  } of operations.values()) {
    const free = outcome !== null && outcome !== 'completed' && charged === 0
    if (supplied === 1 && free !== (hash === null)) faults.push(`the key of ${id} is wrongly ${free ? 'held' : 'free'}`)
  }
  return faults
}

const hashOf = (key: string | null): string | null => (key === null ? null : sha256(key))
const total = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0)
