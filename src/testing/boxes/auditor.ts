/**
 * Judges what three boxes and their database did, with its own SQL on the tables and with the answers that the boxes
 * received. It shares no code with what it checks.
 */
import { SQL } from 'bun'
import { leaseTimes, type Told } from './box.ts'

interface Row {
  id: string
  account_id: string
  type: string
  outcome: string | null
  charged_micros: bigint
  price_micros: bigint
  key_supplied: bigint
  idempotency_hash: string | null
  created_at_ms: bigint
  settled_at_ms: bigint | null
  settled_by: string | null
  box_id: string
}

export interface Limits {
  /** At once, for one account. */
  concurrency: number
  openingMicros: number
}

export interface Findings {
  faults: string[]
  seen: { operations: number; settledForOthers: number; entries: number; credits: number; usage: number }
}

export class BoxesAuditor {
  readonly #sql: SQL
  readonly #limits: Limits
  /** Accounts that had more operations running at one moment than they may. */
  readonly #crowded = new Set<string>()

  constructor(url: string, limits: Limits) {
    this.#sql = new SQL(url, { adapter: 'postgres', max: 1, bigint: true })
    this.#limits = limits
  }

  /** Call it often: it records what is pending now. Does nothing while the database is down. */
  async look(): Promise<void> {
    const sql = "SELECT account_id, count(*) AS n FROM operations WHERE outcome IS NULL AND type = 'speech' GROUP BY 1"
    const rows = await this.#sql.unsafe<{ account_id: string; n: bigint }[]>(sql).catch(() => [])
    for (const { account_id: id, n } of rows) {
      if (n > this.#limits.concurrency) this.#crowded.add(`${id} had ${n} under way, not ${this.#limits.concurrency}`)
    }
  }

  async findings(told: Told): Promise<Findings> {
    const operations = await this.#sql.unsafe<Row[]>('SELECT * FROM operations')
    const rows = new Map(operations.map((row) => [row.id, row]))
    const faults = [
      ...told.errors,
      ...this.#crowded,
      ...keyFaults(operations),
      ...operations.flatMap((row) => leaseFaults(row, told)),
      ...[...told.admitted].flatMap((id) => (rows.has(id) ? [] : [`${id} was admitted and is lost`])),
      ...[...told.refused].flatMap((id) => (rows.has(id) ? [`${id} was refused and is there`] : [])),
      ...settledFaults(rows, told),
      ...(await this.#moneyFaults(told)),
      ...(await this.#usageFaults()),
    ]
    const count = async (table: string) =>
      Number((await this.#sql.unsafe<{ n: bigint }[]>(`SELECT count(*) AS n FROM ${table}`))[0]?.n)
    const settledForOthers = operations.filter((row) => row.settled_by?.includes('settled for')).length
    const credits = operations.length === 0 ? 0 : await count("entries WHERE kind = 'credit'")
    const seen = { operations: operations.length, settledForOthers, credits }
    return { faults, seen: { ...seen, entries: await count('entries'), usage: await count('usage') } }
  }

  async #moneyFaults(told: Told): Promise<string[]> {
    const accounts = await this.#sql.unsafe<{ id: string; balance: bigint; owed: bigint; credit: bigint }[]>(
      `SELECT id, balance_micros AS balance,
         (SELECT coalesce(sum(amount_micros), 0) FROM entries WHERE account_id = accounts.id)::bigint AS owed,
         (SELECT coalesce(-sum(amount_micros), 0) FROM entries WHERE account_id = accounts.id
            AND kind = 'credit')::bigint AS credit
       FROM accounts WHERE balance_micros IS NOT NULL`,
    )
    const unbalanced = await this.#sql.unsafe<{ id: string; charged: bigint; owed: bigint }[]>(
      `SELECT id, charged_micros AS charged,
         (SELECT coalesce(sum(amount_micros), 0) FROM entries WHERE operation_id = operations.id)::bigint AS owed
       FROM operations`,
    )
    return [
      ...accounts.flatMap(({ id, balance, owed, credit }) => {
        const { sure, maybe } = told.creditedMicros.get(id) ?? { sure: 0, maybe: 0 }
        const given = Number(credit) - this.#limits.openingMicros
        return [
          ...(balance < 0n ? [`${id} has ${balance}`] : []),
          ...(balance + owed === 0n ? [] : [`${id} has ${balance} and owes ${owed}`]),
          ...(given >= sure && given <= sure + maybe ? [] : [`${id} got ${given}, not ${sure} to ${sure + maybe}`]),
        ]
      }),
      ...unbalanced.flatMap(({ id, charged, owed }) => (charged === owed ? [] : [`${id} costs ${charged}: ${owed}`])),
    ]
  }

  async #usageFaults(): Promise<string[]> {
    const rows = await this.#sql.unsafe<{ id: string; n: bigint; due: boolean }[]>(
      `SELECT id, (SELECT count(*) FROM usage WHERE operation_id = operations.id) AS n,
         outcome = 'completed' OR charged_micros > 0 OR (type = 'clone' AND outcome IS NOT NULL AND price_micros > 0)
           AS due
       FROM operations WHERE outcome IS NOT NULL`,
    )
    return rows.flatMap(({ id, n, due }) => (Number(n) === (due ? 1 : 0) ? [] : [`${id} is counted ${n} times`]))
  }

  async close(): Promise<void> {
    await this.#sql.close({ timeout: 0 })
  }
}

/** Each key of an account and type has at most one live operation. */
function keyFaults(operations: readonly Row[]): string[] {
  const holders = new Map<string, string>()
  return operations.flatMap((row) => {
    if (row.idempotency_hash === null) return []
    const place = `${row.account_id} ${row.type} ${row.idempotency_hash}`
    const first = holders.get(place)
    holders.set(place, row.id)
    return first === undefined ? [] : [`${first} and ${row.id} hold one key`]
  })
}

/** A box's answers take time, so its knowledge of a renewal may be a little older than the renewal. */
const exactMs = 50

/**
 * An operation may only be settled by the box that works on it while its lease is valid. A box that gives its lease
 * back may leave an operation behind: one whose admission was written, but never answered.
 */
function leaseFaults(row: Row, { renewals, leftMs }: Told): string[] {
  const own = row.settled_by === null || row.settled_by.startsWith(row.box_id)
  const removed = row.settled_by?.includes('removed') === true
  if (row.settled_at_ms === null || own || removed) return []
  const settledMs = Number(row.settled_at_ms)
  if (settledMs + exactMs >= (leftMs.get(row.box_id) ?? Infinity)) return []
  // Certainly valid: renewed before that moment, and for at least a lease from the time of the request.
  const held = renewals
    .get(row.box_id)
    ?.find(
      ({ askedMs, answeredMs }) =>
        answeredMs + exactMs < settledMs && settledMs + exactMs < askedMs + leaseTimes.leaseMs,
    )
  if (held === undefined) return []
  return [`${row.id} of ${row.box_id} was settled ${settledMs - held.askedMs} ms after a renewal, by ${row.settled_by}`]
}

/** A box whose settlement was confirmed must find it; a box whose settlement was rejected must find another box's. */
function settledFaults(rows: ReadonlyMap<string, Row>, { settled }: Told): string[] {
  return [...settled].flatMap(([id, { settlement, won }]) => {
    const row = rows.get(id)
    if (row === undefined) return [`${id} was settled and is lost`]
    const isOwn = row.settled_by?.endsWith(' worked') === true
    if (won !== isOwn) return [`${id}: its box was told ${won}, and it was settled by ${row.settled_by}`]
    if (!won || settlement === 'clone') return []
    const same = row.outcome === settlement.outcome && Number(row.charged_micros) === settlement.chargedMicros
    return same ? [] : [`${id} is ${row.outcome} at ${row.charged_micros}, not as it was settled`]
  })
}
