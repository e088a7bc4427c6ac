/** The lock of a data folder, for commands that change it as a whole and need the server to be away. */
import { acquireLock, type DataLock, hasSuccessor, isLocked } from '../store/lock.ts'
import { Failure } from './terminal/terminal.ts'

/** @throws Failure when a server or another command owns the folder */
export function lockOf(dataDir: string): DataLock {
  let lock: DataLock
  try {
    lock = acquireLock(dataDir)
  } catch (error) {
    throw isLocked(dataDir) ? serverRuns(dataDir) : error
  }
  if (!hasSuccessor(dataDir)) return lock
  lock.release()
  throw serverRuns(dataDir)
}

const serverRuns = (dataDir: string): Failure =>
  new Failure(`A server runs on ${dataDir}. Stop it first, or name another folder with --data.`, 'server_runs')
