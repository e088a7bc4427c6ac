/** Limits how many requests of one account run at once: as many as every account may, or its own number. */
import { MynaError } from '../domain/error.ts'
import type { Timer } from '../domain/time.ts'

export interface Patience {
  timer: Timer
  maxMs: number
  signal: AbortSignal
}

/** @param what in the plural: `speech requests` */
export const concurrencyExceeded = (count: number, what: string): MynaError =>
  new MynaError('concurrency_limit_exceeded', `This account has reached its limit of ${what} at once: ${count}.`, {
    retryAfterMs: 1000,
  })

export class PerAccount {
  readonly #limit: number
  readonly #what: string
  readonly #counts = new Map<string, number>()
  /** Waiting requests by account, in order of arrival. */
  readonly #waiting = new Map<string, Set<() => void>>()

  /** @param what plural noun for the refusal: `speech requests` */
  constructor(limit: number, what: string) {
    this.#limit = limit
    this.#what = what
  }

  /**
   * @param own the account's own limit; null: that of every account
   * @returns how to leave; a second call does nothing
   * @throws MynaError `concurrency_limit_exceeded`
   */
  enter(accountId: string, own: number | null = null): () => void {
    const count = this.#counts.get(accountId) ?? 0
    if (count >= (own ?? this.#limit)) {
      throw concurrencyExceeded(count, this.#what)
    }
    this.#counts.set(accountId, count + 1)
    let inside = true
    return () => {
      if (!inside) return
      inside = false
      const left = (this.#counts.get(accountId) ?? 1) - 1
      if (left === 0) this.#counts.delete(accountId)
      else this.#counts.set(accountId, left)
      const [next] = this.#waiting.get(accountId) ?? []
      next?.()
    }
  }

  /** Like `enter`, but waits for others to leave. @throws MynaError as `enter` after the wait; the signal's reason */
  async enterInTurn(
    accountId: string,
    { timer, maxMs, signal }: Patience,
    own: number | null = null,
  ): Promise<() => void> {
    signal.throwIfAborted()
    const hasPlace = () => (this.#counts.get(accountId) ?? 0) < (own ?? this.#limit)
    const waiting = this.#waiting.get(accountId) ?? new Set()
    if (waiting.size === 0 && hasPlace()) return this.enter(accountId, own)
    this.#waiting.set(accountId, waiting)
    const woken = Promise.withResolvers<void>()
    const wake = () => woken.resolve()
    waiting.add(wake)
    const cancel = timer.after(maxMs, wake)
    signal.addEventListener('abort', wake)
    await woken.promise
    cancel()
    signal.removeEventListener('abort', wake)
    waiting.delete(wake)
    if (waiting.size === 0) this.#waiting.delete(accountId)
    if (!signal.aborted) return this.enter(accountId, own)
    // It was perhaps this one that was woken for the place that is free now.
    const [next] = waiting
    if (hasPlace()) next?.()
    throw signal.reason
  }
}
