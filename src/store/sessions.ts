/**
 * Sessions of the console, which outlive a restart; servers on one database share them. Kept are hashes: who reads the
 * table can sign in with none of them.
 */
import { hashSecret } from '../domain/account.ts'
import type { Clock } from '../domain/time.ts'
import type { SessionStore } from '../service/ports/sessions.ts'
import type { Database } from './database.ts'

/** A use is written at most this often, because a page sends several requests per second. */
const noteEveryMs = 60_000
/** More push out the one that was idle longest. */
const maxSessions = 1000

export class SqlSessions implements SessionStore {
  readonly #database: Database
  readonly #clock: Pick<Clock, 'nowMs'>
  readonly #idleMs: number

  /** @param idleMs a session without a request for this long has ended */
  constructor(database: Database, clock: Pick<Clock, 'nowMs'>, idleMs: number) {
    this.#database = database
    this.#clock = clock
    this.#idleMs = idleMs
  }

  async open(token: string, secretHash: string): Promise<void> {
    const nowMs = this.#clock.nowMs()
    await this.#database.run('DELETE FROM sessions WHERE used_at_ms <= $endedMs', { endedMs: nowMs - this.#idleMs })
    await this.#database.run(
      `DELETE FROM sessions WHERE token_hash IN
         (SELECT token_hash FROM sessions ORDER BY used_at_ms DESC LIMIT $max OFFSET $kept)`,
      { max: maxSessions, kept: maxSessions - 1 },
    )
    await this.#database.run(
      `INSERT INTO sessions (token_hash, secret_hash, used_at_ms) VALUES ($tokenHash, $secretHash, $nowMs)
       ON CONFLICT (token_hash) DO NOTHING`,
      { tokenHash: hashSecret(token), secretHash, nowMs },
    )
  }

  async use(token: string): Promise<string | null> {
    const tokenHash = hashSecret(token)
    const row = await this.#database.get<{ secret_hash: string; used_at_ms: number }>(
      'SELECT secret_hash, used_at_ms FROM sessions WHERE token_hash = $tokenHash',
      { tokenHash },
    )
    const nowMs = this.#clock.nowMs()
    if (row === null || nowMs - row.used_at_ms >= this.#idleMs) return null
    if (nowMs - row.used_at_ms >= noteEveryMs) {
      const used = 'UPDATE sessions SET used_at_ms = $nowMs WHERE token_hash = $tokenHash'
      // A full disk must not lock out who wants to look why: the session then only ends earlier.
      await this.#database.run(used, { nowMs, tokenHash }).catch(() => {})
    }
    return row.secret_hash
  }

  async close(token: string): Promise<void> {
    await this.#database.run('DELETE FROM sessions WHERE token_hash = $tokenHash', { tokenHash: hashSecret(token) })
  }
}
