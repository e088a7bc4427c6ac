/** The data folder: everything that one server owns lies in it, readable by nobody else. */
import { accessSync, chmodSync, closeSync, constants, existsSync, mkdirSync, openSync } from 'node:fs'
import { messageOf, StoreError } from './errors.ts'

/**
 * Makes the folder when there is none.
 * @throws StoreError when it cannot be made or written
 */
export function makeDataFolder(dataDir: string): void {
  try {
    // The books hold hashes of keys, and clips are people's voices.
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw new StoreError(`The data folder ${dataDir} cannot be created or written: ${messageOf(cause)}`, { cause })
  }
}

/**
 * Makes the database file when there is none, and closes it and its companions to other users: hashes of keys are in
 * them. SQLite gives the companions that it makes the mode of the database. Only files: a folder may be somebody
 * else's, and `myna doctor` reports it.
 * @throws what the system says when it cannot be made
 */
export function makePrivate(path: string): void {
  // Never opened where it exists: closing it would drop the locks that SQLite has on it.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    try {
      chmodSync(file, 0o600)
    } catch {
      // It is not there, or another user's; then doctor says so.
    }
  }
}
