/**
 * How a stream stands with whoever plays it as it comes: it is due when all that it was given has been played. A
 * listener who runs dry waits and goes on, so that a gap moves everything behind it.
 */
export class PlayClock {
  #startMs: number | null = null
  #givenMs = 0
  #gaps = 0
  #gapMs = 0

  /** Of sound, so far. */
  get givenMs(): number {
    return this.#givenMs
  }

  /** How often, and for how long, the listener had nothing to play. */
  get gaps(): { count: number; ms: number } {
    return { count: this.#gaps, ms: this.#gapMs }
  }

  /** When the listener runs dry; null: nothing was given yet. */
  get dueMs(): number | null {
    return this.#startMs === null ? null : this.#startMs + this.#givenMs
  }

  /** Sound that the listener has and has not played; 0 before the first. */
  aheadMs(nowMs: number): number {
    return Math.max(0, (this.dueMs ?? nowMs) - nowMs)
  }

  /** @param soundMs what is given at this time @param leastGapMs shorter gaps than this are none that anybody hears */
  give(soundMs: number, nowMs: number, leastGapMs = 20): void {
    this.#startMs ??= nowMs
    const lateMs = nowMs - (this.#startMs + this.#givenMs)
    if (lateMs > 0) {
      this.#startMs += lateMs
      if (lateMs >= leastGapMs) {
        this.#gaps++
        this.#gapMs += lateMs
      }
    }
    this.#givenMs += soundMs
  }

  /** For so long the reader took nothing: that is no time in which it could have run dry. */
  hold(ms: number): void {
    if (this.#startMs !== null) this.#startMs += ms
  }
}
