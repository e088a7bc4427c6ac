/**
 * Records when each key was last used. Every request updates it, but only one write per minute and key is made,
 * because a write is a sync of the disk. Nothing depends on it: failing to write it does not fail a request.
 */
import type { Clock } from '../domain/time.ts'
import type { Database } from './database.ts'

const saveEveryMs = 60_000

interface Use {
  atMs: number
  saved: boolean
  /** Monotonic time of the last attempt to write; tried no more often when the disk is full either. */
  triedMs: number
}

export class KeyUses {
  readonly #database: Database
  readonly #clock: Clock
  /** One for each key that was used, so no more than there are keys. */
  readonly #uses = new Map<string, Use>()

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  /** Never throws. The first use in a minute is written soon, later ones with the next write. */
  touch(keyId: string): void {
    const nowMs = this.#clock.monotonicMs()
    const known = this.#uses.get(keyId)
    const due = known === undefined || nowMs - known.triedMs >= saveEveryMs
    this.#uses.set(keyId, { atMs: this.#clock.nowMs(), saved: false, triedMs: due ? nowMs : known.triedMs })
    if (due) void this.#write(keyId)
  }

  /** The row with the time of a use that was not written yet when the row was read. */
  freshen<Row extends { id: string; last_used_at_ms: number | null }>(row: Row): Row {
    const use = this.#uses.get(row.id)
    if (use === undefined) return row
    // Written since the row was read, or another box has written a later one.
    const atMs = use.saved ? Math.max(use.atMs, row.last_used_at_ms ?? 0) : use.atMs
    return { ...row, last_used_at_ms: atMs }
  }

  /** Writes every use that is not written yet. Never throws. */
  async save(): Promise<void> {
    for (const [keyId, use] of this.#uses) if (!use.saved) await this.#write(keyId)
  }

  async #write(keyId: string): Promise<void> {
    try {
      // Looked up only in its turn: while this waited for the lock, a later use may have come.
      const written = await this.#database.transaction(async (sql) => {
        const use = this.#uses.get(keyId)!
        await sql.run('UPDATE keys SET last_used_at_ms = $atMs WHERE id = $keyId', { keyId, atMs: use.atMs })
        return use
      })
      written.saved = true
    } catch {
      // Stays unsaved, and is tried again by a use after a minute or at the end.
    }
  }
}
