/**
 * Keys with their accounts, looked up once and kept until a key or an account changes: every request begins with this.
 * Where the database cannot say cheaply whether one did, each request looks again.
 */
import type { Database } from './database.ts'
import type { CallerRow } from './rows.ts'

const tables = ['keys', 'accounts']

export class KnownCallers {
  readonly #database: Database
  #version: string | null = null
  /** As of that version; no more than there are keys. */
  readonly #rows = new Map<string, CallerRow>()

  constructor(database: Database) {
    this.#database = database
  }

  /** @returns the row as it is now; null: there is no such key */
  async find(secretHash: string): Promise<CallerRow | null> {
    const version = this.#database.version(tables)
    if (version !== this.#version) this.#rows.clear()
    this.#version = version
    const known = this.#rows.get(secretHash)
    if (known !== undefined) return known
    const row = await this.#database.get<CallerRow>(
      `SELECT keys.*, accounts.name AS account_name, role AS account_role, balance_micros AS account_balance_micros,
           accounts.created_at_ms AS account_created_at_ms, disabled_at_ms AS account_disabled_at_ms,
           speech_concurrency, transcription_concurrency, speech_per_minute, transcriptions_per_minute,
           requests_per_minute
         FROM keys JOIN accounts ON accounts.id = account_id WHERE hash = $secretHash`,
      { secretHash },
    )
    // A change while it waited for its turn may be older or newer than what was read.
    const isOfVersion = version !== null && version === this.#version && version === this.#database.version(tables)
    if (row !== null && isOfVersion) this.#rows.set(secretHash, row)
    return row
  }
}
