/** Sessions of the console that every box knows. Kept are hashes: who reads the table can sign in with none of them. */
import { hashSecret } from '../../domain/account.ts'
import type { SessionStore } from '../../service/ports-sessions.ts'
import type { Database } from '../database.ts'

/** A use is written at most this often, because a page sends several requests per second. */
const noteEveryMs = 60_000

export class PostgresSessions implements SessionStore {
  readonly #database: Database
  readonly #idleMs: number

  constructor(database: Database, idleMs: number) {
    this.#database = database
    this.#idleMs = idleMs
  }

  async open(token: string, secretHash: string): Promise<void> {
    await this.#database.run('DELETE FROM sessions WHERE used_at_ms <= myna_now_ms() - $idleMs', {
      idleMs: this.#idleMs,
    })
    await this.#database.run(
      `INSERT INTO sessions (token_hash, secret_hash, used_at_ms) VALUES ($tokenHash, $secretHash, myna_now_ms())
       ON CONFLICT (token_hash) DO NOTHING`,
      { tokenHash: hashSecret(token), secretHash },
    )
  }

  async use(token: string): Promise<string | null> {
    const tokenHash = hashSecret(token)
    const row = await this.#database.get<{ secret_hash: string; unused_ms: number }>(
      `SELECT secret_hash, myna_now_ms() - used_at_ms AS unused_ms FROM sessions WHERE token_hash = $tokenHash`,
      { tokenHash },
    )
    if (row === null || row.unused_ms >= this.#idleMs) return null
    if (row.unused_ms >= noteEveryMs) {
      const used = 'UPDATE sessions SET used_at_ms = myna_now_ms() WHERE token_hash = $tokenHash'
      await this.#database.run(used, { tokenHash })
    }
    return row.secret_hash
  }

  async close(token: string): Promise<void> {
    await this.#database.run('DELETE FROM sessions WHERE token_hash = $tokenHash', { tokenHash: hashSecret(token) })
  }
}
