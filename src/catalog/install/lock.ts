/** Only one command at a time changes the models of a data folder; a second one waits for it. */
import type { Timer } from '../../domain/time.ts'
import type { OnEvent } from './events.ts'
import { pause } from './retry.ts'

/** Tries to take the lock; null: another has it. It must be one that the system drops with its process. */
export type Lock = () => { release(): void } | null

const pauseMs = 200

/** @throws the signal's reason, what `work` throws */
export async function withLock<T>(
  { lock, timer, onEvent }: { lock: Lock; timer: Timer; onEvent: OnEvent },
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  let held = lock()
  if (held === null) onEvent({ event: 'waiting' })
  for (; held === null; held = lock()) await pause(timer, pauseMs, signal)
  try {
    return await work()
  } finally {
    held.release()
  }
}
