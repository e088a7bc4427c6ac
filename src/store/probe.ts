/**
 * Finds out by writing whether the disk of the data folder accepts a write: free space by `statfs` does not include
 * quotas, and permissions do not show a read-only disk. The file is removed before the system has written it out, so a
 * probe every two seconds costs the disk almost nothing.
 */
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { DiskState, Standing } from '../service/ports/storage.ts'
import { codeOf, messageOf } from './errors.ts'

const fileName = '.write-probe'
/** Enough for the pages of a few commits. */
const bytes = Buffer.alloc(256 * 1024, 0x6d)

/** One at a time for a folder. Never throws. */
export async function probeDisk(dataDir: string): Promise<Standing<DiskState>> {
  const path = join(dataDir, fileName)
  try {
    const file = await open(path, 'w', 0o600)
    try {
      await file.writeFile(bytes)
    } finally {
      await file.close()
    }
    return { state: 'ok', words: null }
  } catch (error) {
    return judged(dataDir, error)
  } finally {
    await rm(path, { force: true }).catch(() => {})
  }
}

function judged(dataDir: string, error: unknown): Standing<DiskState> {
  const code = codeOf(error)
  if (['ENOSPC', 'EDQUOT', 'EFBIG'].includes(code)) return { state: 'full', words: `the disk of ${dataDir} is full` }
  if (code === 'EROFS') return { state: 'read_only', words: `the disk of ${dataDir} is read-only` }
  return { state: 'failed', words: `${dataDir} cannot be written: ${messageOf(error)}` }
}
