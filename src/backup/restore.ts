/**
 * `myna restore`: a backup in the place of what is there. It is unpacked beside it, checked file by file and audited
 * before anything is touched; what was there moves into a folder of its own and is never removed. A mark in the data
 * folder says that files are being exchanged, so that no server starts on half of each.
 */
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { audit } from '../audit/audit.ts'
import { BackupError, type Manifest, readArchive } from './archive.ts'
import { syncFolder } from './backup.ts'

export interface RestoreFacts {
  manifest: Manifest
  accounts: number
  voices: number
  /** Where the former content is now; null: there was none. */
  former: string | null
}

/** While it is there, nothing may open the database (`store/sqlite.ts` looks for it). */
const markName = 'restore-unfinished'

/** What a backup replaces; a log belongs to its database. */
const replaced = ['myna.db', 'myna.db-wal', 'myna.db-shm', 'myna.db.sum', 'voices', 'consents', 'previews']
const brought = ['myna.db', 'voices', 'consents', 'pronunciations.txt']

/**
 * Only while the caller owns the data folder's lock.
 * @param mayReplace whether a database that is there may move away
 * @param now UTC, names the folder of the former content
 * @throws BackupError; nothing has changed then
 */
export async function restore(dataDir: string, path: string, mayReplace: boolean, now: Date): Promise<RestoreFacts> {
  const found = await stat(path).catch(() => null)
  if (found === null) throw new BackupError(`There is no file ${path}.`)
  if (!found.isFile()) throw new BackupError(`${path} is not a file. Name one that myna backup wrote.`)
  const isInterrupted = existsSync(join(dataDir, markName))
  const hasFormer = replaced.some((name) => existsSync(join(dataDir, name)))
  if (hasFormer && !mayReplace && !isInterrupted) {
    throw new BackupError(`${dataDir} has a database already. With --replace it moves aside; nothing is deleted.`)
  }
  const staging = join(dataDir, '.restore')
  await rm(staging, { recursive: true, force: true })
  await mkdir(staging, { recursive: true, mode: 0o700 })
  try {
    const manifest = await readArchive(path, staging)
    const { faults, seen } = await audit(staging, 'full')
    const [fault] = faults
    if (fault !== undefined)
      throw new BackupError(`${path} cannot be restored, because it has an error: ${fault.words}.`)
    await writeFile(join(dataDir, markName), `${path}\n`, { mode: 0o600, flush: true })
    await syncFolder(dataDir)
    const former = await moveAside(dataDir, now)
    for (const name of brought) {
      if (existsSync(join(staging, name))) await rename(join(staging, name), join(dataDir, name))
    }
    await syncFolder(dataDir)
    await rm(join(dataDir, markName))
    await syncFolder(dataDir)
    return { manifest, accounts: seen.accounts, voices: seen.voices, former }
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

/** @returns the folder, or null when there was nothing */
async function moveAside(dataDir: string, now: Date): Promise<string | null> {
  const there = (await readdir(dataDir)).filter((name) => replaced.includes(name) || name === 'pronunciations.txt')
  if (there.length === 0) return null
  const time = now.toISOString().replace(/[:.]/g, '-')
  const former = join(dataDir, `before-restore-${time}`)
  await mkdir(former, { mode: 0o700 })
  for (const name of there) await rename(join(dataDir, name), join(former, name))
  await syncFolder(former)
  return former
}
