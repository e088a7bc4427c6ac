/** The lock of a data folder, for commands that change it as a whole and need the server to be away. */
import { acquireLock, type DataLock, isLocked } from '../store/lock.ts'
import { Failure } from './terminal/terminal.ts'

/** @throws Failure when a server or another command owns the folder */
export function lockOf(dataDir: string): DataLock {
  try {
    return acquireLock(dataDir)
  } catch (error) {
    if (!isLocked(dataDir)) throw error
    throw new Failure(`A server runs on ${dataDir}. Stop it first, or name another folder with --data.`, 'server_runs')
  }
}
