/** The clock of the engine's deadlines: monotonic, because a clock set forward must not kill a healthy engine. */
import { systemClock, systemTimer, type Clock, type Timer } from '../domain/time.ts'

export type Timers = Pick<Clock, 'monotonicMs'> & Timer

export const systemTimers: Timers = { monotonicMs: systemClock.monotonicMs, after: systemTimer.after }

/** Resolves after the delay, immediately if there is none. */
export const wait = (timers: Timers, delayMs: number): Promise<void> =>
  delayMs > 0 ? new Promise((resolve) => void timers.after(delayMs, resolve)) : Promise.resolve()

/** Resolves when the promise does, or after the delay. */
export async function atMost(timers: Timers, delayMs: number, promise: Promise<unknown>): Promise<void> {
  const over = Promise.withResolvers<void>()
  const cancel = timers.after(delayMs, over.resolve)
  await Promise.race([promise, over.promise]).finally(cancel)
}
