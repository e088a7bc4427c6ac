/**
 * Waiting for another writer of the same SQLite file. SQLite itself waits inside the call, which stops the event loop;
 * so it may wait only briefly there, and the rest is spent between attempts.
 */
import { asStorageFull, isBusy } from './errors.ts'

/** For one attempt. */
export const busyTimeoutMs = 100

/** 2 to 3 seconds in all. */
const usualAttempts = 20
const pauseMs = 10
const jitterMs = 40

/** @throws what `step` throws; MynaError `storage_full`, also when the other writer does not let go */
export async function patiently<T>(step: () => T | Promise<T>, attempts = usualAttempts): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await step()
    } catch (error) {
      if (!isBusy(error) || attempt === attempts) throw asStorageFull(error)
    }
    await Bun.sleep(pauseMs + Math.random() * jitterMs)
  }
}
