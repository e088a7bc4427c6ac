/** Pauses end at once, and deadlines end only when a test says so. */
import type { Timer } from '../domain/time.ts'

/** The length that a test uses for a deadline: longer than any pause. */
export const deadlineMs = 1_000_000_000

export class ImpatientTimer implements Timer {
  readonly pauses: number[] = []
  /** Whether deadlines end as soon as they begin. */
  isHasty = false
  readonly #deadlines = new Set<() => void>()

  after(delayMs: number, callback: () => void): () => void {
    if (delayMs >= deadlineMs && !this.isHasty) {
      const deadline = () => callback()
      this.#deadlines.add(deadline)
      return () => void this.#deadlines.delete(deadline)
    }
    if (delayMs < deadlineMs) this.pauses.push(delayMs)
    let isOff = false
    setImmediate(() => {
      if (!isOff) callback()
    })
    return () => {
      isOff = true
    }
  }

  /** Running deadlines. */
  get running(): number {
    return this.#deadlines.size
  }

  /** Ends all running deadlines. */
  expire(): void {
    for (const deadline of Array.from(this.#deadlines)) {
      this.#deadlines.delete(deadline)
      deadline()
    }
  }
}
