/** Questions to the engine that have one answer each (server side): paired by number, and given up in time. */
import type { FromEngine } from './protocol.ts'
import type { Timers } from './timers.ts'

export class Queries {
  readonly #timers: Timers
  readonly #pending = new Map<number, (answer: FromEngine | null) => void>()
  #nextId = 1

  constructor(timers: Timers) {
    this.#timers = timers
  }

  /**
   * @param send says whether the question left
   * @returns the answer, or null when none came in time
   */
  ask(deadlineMs: number, send: (id: number) => boolean): Promise<FromEngine | null> {
    const id = this.#nextId++
    return new Promise((resolve) => {
      const cancel = this.#timers.after(deadlineMs, () => this.answer(id, null))
      this.#pending.set(id, (answer) => {
        cancel()
        resolve(answer)
      })
      if (!send(id)) this.answer(id, null)
    })
  }

  answer(id: number, answer: FromEngine | null): void {
    const resolve = this.#pending.get(id)
    this.#pending.delete(id)
    resolve?.(answer)
  }

  /** At the end of the engine: nothing will be answered any more. */
  answerAll(answer: null): void {
    for (const id of Array.from(this.#pending.keys())) this.answer(id, answer)
  }
}
