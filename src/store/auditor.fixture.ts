/**
 * An independent check of the database, written from the rules and not from the code under test: it reads the tables
 * and adds up for itself. Call it after every step; it remembers every terminal operation and notices if one changes.
 */
import type { Database } from './database.ts'

interface Row {
  id: string
  outcome: string | null
  charged_micros: number
  price_micros: number
  key_supplied: number
  idempotency_hash: string | null
  type: string
  account_id: string
  voice_id: string | null
  free: number
}
interface VoiceRow {
  id: string
  status: string
  operation_id: string | null
}
interface EntryRow {
  id: number
  account_id: string
  operation_id: string | null
  amount_micros: number
}
interface UsageRow {
  operation_id: string
  charged_micros: number
  refunded_micros: number
  free: number
}

export class Auditor {
  readonly #database: Database
  readonly #terminal = new Map<string, string>()
  #entriesSeen: string[] = []

  constructor(database: Database) {
    this.#database = database
  }

  /** @returns the broken rules of the account's records, in words; empty if all is well */
  async faults(accountId: string): Promise<string[]> {
    const of = { accountId }
    const operations = await this.#database.all<Row>('SELECT * FROM operations WHERE account_id = $accountId', of)
    const entries = await this.#database.all<EntryRow>(
      'SELECT * FROM entries WHERE account_id = $accountId ORDER BY id',
      of,
    )
    const usage = await this.#database.all<UsageRow>('SELECT * FROM usage WHERE account_id = $accountId', of)
    const voices = await this.#database.all<VoiceRow>('SELECT * FROM voices WHERE account_id = $accountId', of)
    const account = await this.#database.get<{ balance_micros: number | null }>(
      'SELECT balance_micros FROM accounts WHERE id = $accountId',
      of,
    )
    return [
      ...balanceFaults(account?.balance_micros ?? null, entries),
      ...operations.flatMap((operation) => operationFaults(operation, entries, usage)),
      ...operations.filter(({ type }) => type === 'clone').flatMap((operation) => cloneFaults(operation, voices)),
      ...operations.flatMap((operation) => this.#changeFaults(operation)),
      ...this.#entryFaults(entries),
      ...keyFaults(operations),
    ]
  }

  #changeFaults(operation: Row): string[] {
    if (operation.outcome === null) {
      return this.#terminal.has(operation.id) ? [`${operation.id} went back to pending`] : []
    }
    const now = JSON.stringify(operation)
    const before = this.#terminal.get(operation.id) ?? now
    this.#terminal.set(operation.id, now)
    return before === now ? [] : [`${operation.id} changed after its end: ${before} to ${now}`]
  }

  #entryFaults(entries: EntryRow[]): string[] {
    const now = entries.map((entry) => JSON.stringify(entry))
    const lost = this.#entriesSeen.filter((entry, index) => now[index] !== entry)
    this.#entriesSeen = now
    return lost.map((entry) => `the entry ${entry} was changed or removed`)
  }
}

function balanceFaults(balanceMicros: number | null, entries: EntryRow[]): string[] {
  if (balanceMicros === null) return []
  const faults = balanceMicros < 0 ? [`the balance is ${balanceMicros}`] : []
  const owed = sum(entries.map((entry) => entry.amount_micros))
  if (balanceMicros + owed !== 0) faults.push(`the balance is ${balanceMicros}, but the entries sum to ${owed}`)
  return faults
}

function operationFaults(operation: Row, entries: EntryRow[], usage: UsageRow[]): string[] {
  const { id, charged_micros: charged, price_micros: price, outcome } = operation
  const faults: string[] = []
  const booked = sum(entries.filter((entry) => entry.operation_id === id).map((entry) => entry.amount_micros))
  if (booked !== charged) faults.push(`${id} is charged ${charged}, but its entries sum to ${booked}`)
  if (charged < 0 || charged > price) faults.push(`${id} is charged ${charged} of ${price}`)
  const free = outcome !== null && outcome !== 'completed' && charged === 0
  if (operation.key_supplied === 1 && free !== (operation.idempotency_hash === null)) {
    faults.push(`${id} is ${outcome} at ${charged}, and its key is ${free ? 'held' : 'free'}`)
  }
  const counted = usage.filter((row) => row.operation_id === id)
  const cost = charged > 0 || (operation.type === 'clone' && price > 0)
  const due = outcome === 'completed' || (outcome !== null && cost) ? 1 : 0
  if (counted.length !== due) faults.push(`${id} is counted ${counted.length} times, not ${due}`)
  for (const row of counted) {
    if (row.charged_micros !== charged || row.refunded_micros !== price - charged || row.free !== operation.free) {
      faults.push(`${id} is counted wrong`)
    }
  }
  return faults
}

/**
 * A clone's voice matches its operation. Only the voice may be missing, and only once the operation has ended. A clone
 * that works on a ready voice does not count as that voice's clone until it completes.
 */
function cloneFaults(
  { id, outcome, charged_micros: charged, free, voice_id: voiceId }: Row,
  voices: VoiceRow[],
): string[] {
  const found = voices.filter((voice) => voice.operation_id === id).map((voice) => voice.status)
  const due = outcome === null ? 'processing' : outcome === 'completed' ? 'ready' : 'failed'
  const faults: string[] = []
  if (found.length > 1 || (found[0] ?? due) !== due)
    faults.push(`${id} is ${outcome}, and its voice is ${found.join()}`)
  const isRemade = voices.some((voice) => voice.id === voiceId && voice.status === 'ready')
  if (outcome === null && found.length === 0 && !isRemade) faults.push(`${id} is pending, and its voice is gone`)
  if (free === 1 && charged !== 0) faults.push(`${id} is free and charged ${charged}`)
  return faults
}

function keyFaults(operations: Row[]): string[] {
  const held = operations.filter((operation) => operation.idempotency_hash !== null)
  const places = held.map((operation) => `${operation.type} ${operation.idempotency_hash}`)
  return new Set(places).size === places.length ? [] : ['two operations hold one key']
}

const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0)
