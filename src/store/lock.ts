/**
 * One server per data folder. The lock is an SQLite transaction on a file of its own: the operating system drops it
 * with the process, however that ends, so no stale lock can keep a server from starting. The file is never deleted (a
 * second file of the same name would be a second lock) and never opened other than through SQLite (closing any other
 * descriptor of it would drop the lock).
 */
import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isBusy, StoreError } from './errors.ts'
import { makeDataFolder, makePrivate } from './folder.ts'

export interface DataLock {
  /** Harmless when called again. */
  release(): void
}

const fileName = 'server.lock'

/** A process that merely checks whether the lock is held is in its way for a moment. */
const attempts = 25
const pauseMs = 10

/** @throws StoreError when another process (or this one) holds the lock, or the folder cannot be used */
export function acquireLock(dataDir: string): DataLock {
  makeDataFolder(dataDir)
  for (let attempt = 1; ; attempt++) {
    const file = open(dataDir)
    makePrivate(join(dataDir, fileName))
    try {
      file.run('BEGIN EXCLUSIVE')
      return { release: () => file.close() }
    } catch (cause) {
      file.close()
      if (!isBusy(cause)) throw new StoreError(`The lock of the data folder ${dataDir} cannot be taken.`, { cause })
      if (attempt === attempts) throw new StoreError(`Another myna serves this data folder: ${dataDir}`, { cause })
    }
    Bun.sleepSync(pauseMs)
  }
}

/**
 * The same kind of lock on another file, which is created if its folder exists.
 * @returns null if it is held
 * @throws StoreError if the file cannot be used
 */
export function tryFileLock(path: string): DataLock | null {
  const file = openFile(path)
  try {
    file.run('BEGIN EXCLUSIVE')
    return { release: () => file.close() }
  } catch (cause) {
    file.close()
    if (isBusy(cause)) return null
    throw new StoreError(`The lock ${path} cannot be taken.`, { cause })
  }
}

/** Whether a server owns the folder now. A moment later it may be gone, or another may be there. */
export function isLocked(dataDir: string): boolean {
  if (!existsSync(join(dataDir, fileName))) return false
  const file = open(dataDir)
  try {
    file.query('SELECT 1 FROM sqlite_schema').get()
    return false
  } catch (error) {
    if (isBusy(error)) return true
    throw error
  } finally {
    file.close()
  }
}

/** A server that waits to take the place of another holds this from its start until it owns the folder. */
export const successorLock = (dataDir: string): string => join(dataDir, 'successor.lock')

/** Whether a server waits: if the folder is free, its former server has just ended, and nothing else may take it. */
export function hasSuccessor(dataDir: string): boolean {
  const path = successorLock(dataDir)
  const lock = existsSync(path) ? tryFileLock(path) : null
  lock?.release()
  return lock === null && existsSync(path)
}

const open = (dataDir: string): Database => openFile(join(dataDir, fileName))

function openFile(path: string): Database {
  try {
    const file = new Database(path, { create: true })
    file.run('PRAGMA busy_timeout = 0')
    return file
  } catch (cause) {
    throw new StoreError(`The lock ${path} cannot be opened.`, { cause })
  }
}
