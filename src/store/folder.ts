/** The data folder: it contains everything that one server owns, readable by no other user. */
import { accessSync, chmodSync, closeSync, constants, existsSync, mkdirSync, openSync } from 'node:fs'
import { messageOf, StoreError } from './errors.ts'

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EEXIST: 'a file is in its place',
  ENOTDIR: 'a file is in its place',
  EROFS: 'its disk is read-only',
}

/**
 * Creates the folder if missing.
 * @throws StoreError if it cannot be created or written
 */
export function makeDataFolder(dataDir: string): void {
  try {
    // The database has hashes of keys, and clips are people's voices.
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    const { code } = cause as { code?: string }
    const why = reasons[code ?? ''] ?? messageOf(cause)
    const what = `The data folder ${dataDir} cannot be created or written: ${why}.`
    throw new StoreError(`${what} Name another one with --data or MYNA_DATA.`, { cause })
  }
}

/**
 * Creates the database file if missing, and closes it and its companions to other users, because they contain hashes of
 * keys. SQLite gives the companions that it creates the mode of the database. Only files: a folder may belong to
 * someone else, and `myna doctor` reports it.
 * @throws what the system reports if it cannot be created
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
