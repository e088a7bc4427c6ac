/**
 * Reads every page of the database in a thread of its own, over a connection of its own, and says what is damaged. The
 * thread lives for one check: checks are rare, and it gives its memory back.
 */
import type { CheckAnswer } from './integrity-worker.ts'

/** @returns what SQLite finds wrong first; null: nothing @throws Error when it cannot be checked */
export function checkIntegrity(path: string): Promise<string | null> {
  const { promise, resolve, reject } = Promise.withResolvers<string | null>()
  const worker = new Worker(new URL('./integrity-worker.ts', import.meta.url).href)
  worker.onmessage = ({ data }: MessageEvent<CheckAnswer>) => resolve(data.damage)
  worker.onerror = (event) => reject(new Error(`the check of the database failed: ${event.message}`))
  worker.postMessage(path)
  return promise.finally(() => worker.terminate())
}
