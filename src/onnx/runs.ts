/**
 * The graph runs of this process: how many have succeeded, and how many are active. Together with processor time, they
 * show whether long work makes progress.
 */
let ended = 0
let underWay = 0

/** Runs that came to their end, of all graphs. Those that failed or were stopped do not count. */
export const runCount = (): number => ended

/** Runs that are computed on other threads at this moment. */
export const runsUnderWay = (): number => underWay

/** A run ended well. */
export function noteRun(): void {
  ended++
}

/** A run begins on other threads. @returns to be called once when it has ended, well or not */
export function beginRun(): () => void {
  underWay++
  return () => void underWay--
}
