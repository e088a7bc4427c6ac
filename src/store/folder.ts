/** The data folder: everything that one server owns lies in it, readable by nobody else. */
import { accessSync, constants, mkdirSync } from 'node:fs'
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
    throw new StoreError(`The data folder ${dataDir} cannot be made or written: ${messageOf(cause)}`, { cause })
  }
}
