/** Decoders run in this process's memory, and a file may be made to eat it. */
import type { Timer } from '../../domain/time.ts'

const checkMs = 100

export const residentBytesNow = (): number => process.memoryUsage.rss()

/** Calls back once when the process holds more than this. @returns ends the watch */
export function watchMemory(
  timer: Timer,
  residentBytes: () => number,
  limitBytes: number,
  onOver: () => void,
): () => void {
  const check = (): void => {
    if (residentBytes() > limitBytes) onOver()
    else stop = timer.after(checkMs, check)
  }
  let stop = timer.after(checkMs, check)
  return () => stop()
}
