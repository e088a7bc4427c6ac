/**
 * Decides where the first administrator's key is shown. A terminal shows it once; a journal would keep it for all its
 * readers, so there it goes to a file that only the owner of the data folder can read.
 */
import { fstatSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isJournal } from '../../config.ts'
import type { IssuedKey } from '../../service/accounts.ts'

/** In the data folder. */
export const firstKeyName = 'first-key'

/**
 * A key that is there already belonged to a database that is gone, because this one had no administrator.
 * @returns the file that has the key now, or null: it may be shown
 */
export function keptFromJournal(firstKey: IssuedKey | null, dataDir: string): string | null {
  if (firstKey === null || !isJournal(standardOutput())) return null
  const path = join(dataDir, firstKeyName)
  rmSync(path, { force: true })
  writeFileSync(path, `${firstKey.secret}\n`, { mode: 0o600, flag: 'wx', flush: true })
  return path
}

function standardOutput(): { dev: number; ino: number } | null {
  try {
    return fstatSync(1)
  } catch {
    return null
  }
}
