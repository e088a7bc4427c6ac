/** Work that must not overlap. */
import { refuseInScope } from './database.ts'

/** One at a time, in order of arrival. A free turn is taken at once. */
export class Turns {
  readonly #waiting: (() => void)[] = []
  #taken = false

  async take<T>(step: () => T | Promise<T>): Promise<T> {
    refuseInScope()
    if (this.#taken) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#taken = true
    try {
      return await step()
    } finally {
      const next = this.#waiting.shift()
      // The turn stays taken for the next one, so that no other can slip in before it runs.
      if (next === undefined) this.#taken = false
      else next()
    }
  }
}
