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

// Points in time as people type them on a command line: `30d` and the like count from now, an ISO date is itself. A
// date without a time means midnight UTC, so that the same words mean the same everywhere.
const unitsMs: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
}
const isoPattern = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?)?$/

/** The forms that {@link momentMs} parses, for messages and help texts. */
export const momentForms = '12h, 30d, 2w or a date like 2030-01-31'

/**
 * @param direction where a span leads: 1 after now, -1 before
 * @returns Unix milliseconds; null when the text is neither a span nor a date that exists
 */
export function momentMs(text: string, nowMs: number, direction: 1 | -1): number | null {
  const span = /^(\d{1,6})([smhdw])$/.exec(text.trim())
  if (span !== null) return nowMs + direction * Number(span[1]) * (unitsMs[span[2] ?? ''] ?? 0)
  if (!isoPattern.test(text.trim())) return null
  const withZone = /^\d{4}-\d{2}-\d{2}T[\d:.]+$/.test(text.trim()) ? `${text.trim()}Z` : text.trim()
  const timeMs = Date.parse(withZone)
  // Date.parse turns 30 February into 2 March: a date that comes back changed never existed.
  const day = Number(text.trim().slice(8, 10))
  const utcDay = new Date(Date.parse(`${text.trim().slice(0, 10)}T00:00:00Z`)).getUTCDate()
  return Number.isNaN(timeMs) || day !== utcDay ? null : timeMs
}
