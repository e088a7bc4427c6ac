/** A clock and a timer that move only when a test says so. */
import type { Clock, Timer } from '../domain/time.ts'

export class ManualClock implements Clock, Timer {
  #nowMs: number
  #monotonicMs = 0
  readonly #due: { atMs: number; callback: () => void }[] = []

  constructor(nowMs = Date.UTC(2026, 10, 21, 12)) {
    this.#nowMs = nowMs
  }

  nowMs(): number {
    return this.#nowMs
  }

  monotonicMs(): number {
    return this.#monotonicMs
  }

  after(delayMs: number, callback: () => void): () => void {
    const entry = { atMs: this.#monotonicMs + delayMs, callback }
    this.#due.push(entry)
    return () => {
      const at = this.#due.indexOf(entry)
      if (at >= 0) this.#due.splice(at, 1)
    }
  }

  /** Lets time pass and runs the timers that fall due, in order. */
  advance(ms: number): void {
    const untilMs = this.#monotonicMs + ms
    for (;;) {
      const next = this.#due.filter((entry) => entry.atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0]
      if (next === undefined) break
      this.#due.splice(this.#due.indexOf(next), 1)
      this.#pass(Math.max(0, next.atMs - this.#monotonicMs))
      next.callback()
    }
    this.#pass(untilMs - this.#monotonicMs)
  }

  /** The process stands still: what falls due meanwhile runs late, once it continues. @param first runs before that */
  freeze(ms: number, first: () => void = () => {}): void {
    this.#pass(ms)
    first()
    this.advance(0)
  }

  /** The wall clock jumps; monotonic time does not. */
  jump(ms: number): void {
    this.#nowMs += ms
  }

  get waiting(): number {
    return this.#due.length
  }

  #pass(ms: number): void {
    this.#nowMs += ms
    this.#monotonicMs += ms
  }
}
