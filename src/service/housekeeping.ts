/** What the service does without being asked: it settles what a crash left, and removes what has expired. */
import type { Timer } from '../domain/time.ts'
import type { Ledger } from './ports.ts'

const sweepEveryMs = 60_000

/** Removes expired records once a minute. @returns how to end it */
export function startSweeping(ledger: Ledger, timer: Timer, report: (message: string, cause: unknown) => void) {
  let cancel = () => {}
  let stopped = false
  const next = () => {
    cancel = timer.after(sweepEveryMs, async () => {
      try {
        await ledger.sweep()
      } catch (error) {
        report('expired records could not be removed; the next sweep tries again', error)
      }
      if (!stopped) next()
    })
  }
  next()
  return () => {
    stopped = true
    cancel()
  }
}
