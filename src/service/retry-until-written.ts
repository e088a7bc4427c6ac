/**
 * Retries the record of an ending until the database accepts it. While the disk is full the operation stays pending,
 * which is true: giving up would leave money reserved for work that is over.
 */
import type { Timer } from '../domain/time.ts'

export interface PersistParts {
  timer: Timer
  report: (message: string, cause: unknown) => void
}

const retryMs = [50, 200, 1000, 5000] as const

/**
 * Tries again, ever more slowly, for as long as it takes.
 * @param onRefused called whenever a try has failed
 */
export async function untilWritten<T>(
  what: string,
  write: () => Promise<T>,
  { timer, report }: PersistParts,
  onRefused: () => void,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await write()
    } catch (error) {
      if (attempt === 0) report(`${what} could not be written; it will be retried`, error)
      onRefused()
      const waitMs = retryMs[Math.min(attempt, retryMs.length - 1)] ?? 5000
      await new Promise<void>((resolve) => timer.after(waitMs, resolve))
    }
  }
}
