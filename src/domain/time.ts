/**
 * Time is passed in, never read: rules and stores are tested with a fixed clock. Wall time stamps records and decides
 * retention; deadlines and limiters use monotonic time, because a wall clock jumps.
 */
export interface Clock {
  /** Unix time in milliseconds. May jump in either direction. */
  nowMs(): number
  /** Milliseconds since an arbitrary start. Never goes back. */
  monotonicMs(): number
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
}

/** Deadlines. Passed in beside the clock, so that a test says when one is over. */
export interface Timer {
  /** Calls back once, later, unless the returned function is called before. */
  after(delayMs: number, callback: () => void): () => void
}

export const systemTimer: Timer = {
  after: (delayMs, callback) => {
    const timeout = setTimeout(callback, delayMs)
    return () => clearTimeout(timeout)
  },
}
