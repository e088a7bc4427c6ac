/**
 * Models a listener who plays a stream as it arrives: the stream is due when everything sent so far has been played. A
 * listener who runs dry waits and then continues, so a gap shifts everything after it.
 */

/** A reader that takes sound again has this much left, at least. */
const resumedMs = 500

export class PlayClock {
  #startMs: number | null = null
  #givenMs = 0
  #gaps = 0
  #gapMs = 0

  /** Audio sent so far. */
  get givenMs(): number {
    return this.#givenMs
  }

  /** How often, and for how long, the listener had nothing to play. */
  get gaps(): { count: number; ms: number } {
    return { count: this.#gaps, ms: this.#gapMs }
  }

  /** When the listener runs dry; null: nothing was sent yet. */
  get dueMs(): number | null {
    return this.#startMs === null ? null : this.#startMs + this.#givenMs
  }

  /** Sound that the listener has and has not played; 0 before the first. */
  aheadMs(nowMs: number): number {
    return Math.max(0, (this.dueMs ?? nowMs) - nowMs)
  }

  /** @param soundMs audio sent at this time @param leastGapMs shorter gaps are inaudible */
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

  /** Until this time the reader took nothing. It played what it had, and if it ran dry, that was its own doing. */
  hold(untilMs: number): void {
    if (this.#startMs !== null) this.#startMs = Math.max(this.#startMs, untilMs - this.#givenMs)
  }

  /**
   * The reader takes sound again. A player does so all the time, and has no more than its buffer. One that was stopped
   * has what it had: it is not late, which would put it before those who are heard.
   */
  resume(nowMs: number): void {
    this.hold(nowMs + resumedMs)
  }
}
