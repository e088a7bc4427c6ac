/**
 * Keys with their accounts, looked up once and kept until a key or an account changes: every request begins with this.
 * A balance moves with every request that is paid, so it is kept apart. Where the database cannot say cheaply whether
 * something changed, each request looks again.
 */
import type { Database } from './database.ts'
import type { CallerRow } from './rows.ts'

const [attributes, balances] = [['keys', 'accounts'], ['balances']]

interface Known {
  row: CallerRow
  /** Version of the balances that its balance is as of. */
  balances: string
}

export class KnownCallers {
  readonly #database: Database
  #version: string | undefined
  /** As of that version, but for the balance; no more than there are keys. */
  readonly #known = new Map<string, Known>()

  constructor(database: Database) {
    this.#database = database
  }

  /** @returns the row as it is now; null: there is no such key */
  async find(secretHash: string): Promise<CallerRow | null> {
    const [version, balancesNow] = this.#database.versions(attributes, balances) ?? []
    if (version !== this.#version) this.#known.clear()
    this.#version = version
    const known = this.#known.get(secretHash)
    if (known !== undefined && balancesNow !== undefined) return this.#withBalance(known, balancesNow)
    const row = await this.#database.get<CallerRow>(
      `SELECT keys.*, accounts.name AS account_name, role AS account_role, balance_micros AS account_balance_micros,
           accounts.created_at_ms AS account_created_at_ms, disabled_at_ms AS account_disabled_at_ms,
           speech_concurrency, transcription_concurrency, speech_per_minute, transcriptions_per_minute,
           requests_per_minute
         FROM keys JOIN accounts ON accounts.id = account_id WHERE hash = $secretHash`,
      { secretHash },
    )
    // Another request may have met a later version meanwhile: what is kept now is of that one, and this row may not be.
    const isKept = row !== null && balancesNow !== undefined && version === this.#version
    if (isKept) this.#known.set(secretHash, { row, balances: balancesNow })
    return row
  }

  async #withBalance(known: Known, balancesNow: string): Promise<CallerRow> {
    if (known.balances === balancesNow) return known.row
    const account = await this.#database.get<{ balance_micros: number | null }>(
      'SELECT balance_micros FROM accounts WHERE id = $accountId',
      { accountId: known.row.account_id },
    )
    known.row = { ...known.row, account_balance_micros: account?.balance_micros ?? null }
    known.balances = balancesNow
    return known.row
  }
}
