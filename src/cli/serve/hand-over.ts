/**
 * One server takes the place of another on the same data folder, so that a restart goes unheard. The new one starts as
 * far as it can beside the old one: database, engines, models. Then both listen on the port for a moment, until the old
 * one, asked through the socket in the data folder, stops. The old one serves what it had begun to its end, within its
 * drain, and ends; with it goes the lock of the folder, which the new one takes over.
 */
import type { Timer } from '../../domain/time.ts'
import type { ServerStatus } from '../../http/admin-socket.ts'
import { acquireLock, type DataLock, isLocked, successorLock, tryFileLock } from '../../store/lock.ts'
import { callServer } from '../administration.ts'
import { Failure } from '../terminal/terminal.ts'

const pollMs = 20

export interface Predecessor {
  status: ServerStatus
  /** Has it stop listening. @throws Failure when it cannot */
  handOver(): Promise<void>
  /**
   * Waits until it has ended.
   * @param onOwned called once the folder is ours
   * @returns how to give up waiting, or the folder
   */
  inherit(onOwned: () => Promise<void>): () => void
}

interface HandOverParts {
  timer: Timer
  log: { warn(message: string, fields: Record<string, unknown>): void }
}

/** @returns null when no server runs on the folder @throws Failure when one does, and another waits for its place */
export async function findPredecessor(dataDir: string, parts: HandOverParts): Promise<Predecessor | null> {
  if (!isLocked(dataDir)) return null
  const waiting = tryFileLock(successorLock(dataDir))
  if (waiting === null) throw new Failure('Another server takes over on this data folder already.', 'taking_over')
  try {
    const status = (await callServer(dataDir, 'status', {})) as ServerStatus
    // When it answers, its ports and its socket file are free.
    const handOver = async () => void (await callServer(dataDir, 'handOver', {}))
    return { status, handOver, inherit: (onOwned) => inherit(dataDir, waiting, parts, onOwned) }
  } catch (error) {
    waiting.release()
    throw error
  }
}

function inherit(
  dataDir: string,
  waiting: DataLock,
  { timer, log }: HandOverParts,
  onOwned: () => Promise<void>,
): () => void {
  let cancel = () => {}
  let owned: DataLock | null = null
  const attempt = () => {
    cancel = timer.after(pollMs, () => {
      if (isLocked(dataDir)) return attempt()
      try {
        owned = acquireLock(dataDir)
      } catch {
        return attempt()
      }
      waiting.release()
      onOwned().catch((error: unknown) => {
        log.warn('what the former server left could not be settled', { cause: String(error) })
      })
    })
  }
  attempt()
  return () => {
    cancel()
    waiting.release()
    owned?.release()
  }
}
