/**
 * Cancels an operation, whichever server works on it: this one, another box, or the server whose place this one takes.
 * That one finishes what it had begun, and no socket of it is left: it reads in the database what it is to stop.
 */
import type { Timer } from '../../domain/time.ts'
import type { CancelAsks } from '../../service/ports/records.ts'
import type { Shared } from './records.ts'
import type { Service } from './wiring.ts'

type Running = Pick<Service, 'speech' | 'clones'>

const lookEveryMs = 200

/** @param asks where the former server looks; null: there is none */
export const cancelling =
  ({ speech, clones }: Running, shared: Shared | null, asks: CancelAsks | null) =>
  async (id: string): Promise<void> => {
    const isHere = speech.isLive(id) || clones.isLive(id)
    for (const running of [speech, clones]) running.cancel(id)
    if (shared !== null) await shared.boxes.askToCancel(id)
    else if (!isHere) await asks?.askToCancel(id)
  }

/** For the former server: stops what is asked for elsewhere. @returns how to end it */
export function followCancels({ speech, clones }: Running, asks: CancelAsks, timer: Timer): () => void {
  let cancelTimer = () => {}
  let isOver = false
  const look = async () => {
    // What cannot be read now can be read at the next look.
    for (const id of await asks.askedToCancel().catch(() => [])) {
      for (const running of [speech, clones]) running.cancel(id)
    }
    if (!isOver) cancelTimer = timer.after(lookEveryMs, () => void look())
  }
  void look()
  return () => {
    isOver = true
    cancelTimer()
  }
}
