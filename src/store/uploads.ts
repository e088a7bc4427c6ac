/**
 * Folder for uploads while they are read: in the data folder, because people's voices do not belong in a shared one.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from './errors.ts'

/** Creates the folder anew: leftovers of a crash belong to no request. @returns its path */
export function makeUploads(dataDir: string): string {
  const folder = join(dataDir, 'uploads')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { mode: 0o700 })
  return folder
}

/** The folder as it is, with what another server reads there. @returns its path */
export function shareUploads(dataDir: string): string {
  renewUploads(dataDir)
  return join(dataDir, 'uploads')
}

/** Makes the folder where it is missing. @returns whether it was */
export function renewUploads(dataDir: string): boolean {
  try {
    mkdirSync(join(dataDir, 'uploads'), { mode: 0o700 })
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}
