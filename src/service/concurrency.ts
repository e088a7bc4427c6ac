/** How many requests of one account are under way, and no more than so many. */
import { MynaError } from '../domain/error.ts'

export class PerAccount {
  readonly #limit: number
  readonly #what: string
  readonly #counts = new Map<string, number>()

  /** @param what in the plural, for the refusal: `speech requests` */
  constructor(limit: number, what: string) {
    this.#limit = limit
    this.#what = what
  }

  /** @returns how to leave; a second call does nothing @throws MynaError `concurrency_limit_exceeded` */
  enter(accountId: string): () => void {
    const count = this.#counts.get(accountId) ?? 0
    if (count >= this.#limit) {
      const message = `This account has ${count} ${this.#what} under way, which is its limit.`
      throw new MynaError('concurrency_limit_exceeded', message, { retryAfterMs: 1000 })
    }
    this.#counts.set(accountId, count + 1)
    let inside = true
    return () => {
      if (!inside) return
      inside = false
      const left = (this.#counts.get(accountId) ?? 1) - 1
      if (left === 0) this.#counts.delete(accountId)
      else this.#counts.set(accountId, left)
    }
  }
}
