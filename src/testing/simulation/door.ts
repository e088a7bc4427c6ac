/**
 * The required answers of authentication (docs/api.md 1.3, 7): which keys pass, and which failures are throttled. From
 * the contract: 10 failed attempts at once per address, one more every 6 seconds.
 */
import type { ManualClock } from '../manual-clock.ts'
import type { KnownKey } from './facts.ts'

const refillMs = 6000
const fullMs = 10 * refillMs

export class Door {
  readonly #clock: ManualClock
  /** By address: the remaining allowance, in milliseconds of refilling. */
  readonly #levels = new Map<string, { levelMs: number; atMs: number }>()

  constructor(clock: ManualClock) {
    this.#clock = clock
  }

  /** @param key null: a secret that was never issued @returns the refusal's code; null: the key passes */
  refusal(key: KnownKey | null, from: string): string | null {
    const why = this.#why(key)
    if (why === null) return null
    return this.#takeAttempt(from) ? why : 'too_many_failed_attempts'
  }

  /** A new process has forgotten the failures. */
  reopened(): void {
    this.#levels.clear()
  }

  #why(key: KnownKey | null): string | null {
    if (key === null || key.revoked) return 'invalid_api_key'
    if (key.expiresMs !== null && key.expiresMs <= this.#clock.nowMs()) return 'expired_api_key'
    return key.account.disabled ? 'account_disabled' : null
  }

  #takeAttempt(from: string): boolean {
    const nowMs = this.#clock.monotonicMs()
    const known = this.#levels.get(from) ?? { levelMs: fullMs, atMs: nowMs }
    const levelMs = Math.min(fullMs, known.levelMs + nowMs - known.atMs)
    const taken = levelMs >= refillMs
    this.#levels.set(from, { levelMs: taken ? levelMs - refillMs : levelMs, atMs: nowMs })
    return taken
  }
}
