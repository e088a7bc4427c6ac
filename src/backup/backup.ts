/**
 * `myna backup`: a copy of the database and of the files of its voices and consents, from one moment, whether or not a
 * server runs. SQLite itself copies the database (VACUUM INTO) beside the archive, because the disk of the data folder
 * may be full. Hard links hold the files, so that none is lost while the archive is written. The copy is audited before
 * it is packed, and the archive is read back after it was written.
 */
import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { link, mkdir, open, readdir, rename, rm, stat, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { audit } from '../audit/audit.ts'
import { BackupError, type Manifest, readArchive, writeArchive } from './archive.ts'

export interface BackupFacts {
  path: string
  bytes: number
  voices: number
  manifest: Manifest
}

/** The folder of each kind, the rows that have files there, and which. */
const kinds = [
  {
    folder: 'voices',
    sql: "SELECT id FROM voices WHERE status = 'ready' AND category = 'cloned'",
    files: ['clip', 'preview.wav', 'reference.wav', 'state'],
  },
  { folder: 'consents', sql: 'SELECT id FROM voice_consents', files: ['recording'] },
] as const
const stagingPrefix = '.backup-'
/** A voice or consent that is deleted between the copy and its links makes another try necessary. */
const attempts = 10
const busyTimeoutMs = 5000

/**
 * @param path must not exist
 * @param now UTC
 * @throws BackupError
 */
export async function backUp(dataDir: string, path: string, program: string, now: Date): Promise<BackupFacts> {
  if (!existsSync(join(dataDir, 'myna.db'))) throw new BackupError(`There is no database in ${dataDir}.`)
  if (existsSync(path)) throw new BackupError(`${path} exists already; a backup never replaces a file.`)
  await sweep(dataDir)
  const staging = join(dataDir, `${stagingPrefix}${process.pid}`)
  const part = `${path}.part`
  const copy = `${path}.db.part`
  await mkdir(staging, { mode: 0o700 })
  try {
    const voices = await stage(dataDir, staging, copy)
    const { faults } = await audit(staging, 'full')
    const [fault] = faults
    if (fault !== undefined) {
      throw new BackupError(`Not backed up, because the data has an error: ${fault.words}. See: myna audit`)
    }
    await rm(part, { force: true })
    const files = await filesOf(staging)
    if (existsSync(join(dataDir, 'pronunciations.txt'))) {
      files.set('pronunciations.txt', join(dataDir, 'pronunciations.txt'))
    }
    await writeArchive(part, files, { program, made_at: now.toISOString() })
    const manifest = await readArchive(part, null)
    await rename(part, path)
    await syncFolder(dirname(path))
    return { path, bytes: (await stat(path)).size, voices, manifest }
  } catch (error) {
    await rm(part, { force: true })
    throw error
  } finally {
    await rm(copy, { force: true })
    await rm(staging, { recursive: true, force: true })
  }
}

/** The copy and the links, of one moment. @returns how many voices */
async function stage(dataDir: string, staging: string, copy: string): Promise<number> {
  await symlink(copy, join(staging, 'myna.db'))
  for (let attempt = 1; ; attempt++) {
    await rm(copy, { force: true })
    const owners = copyDatabase(join(dataDir, 'myna.db'), copy)
    const lost = await linkAll(dataDir, staging, owners)
    if (lost === null) return owners.filter(({ folder }) => folder === 'voices').length
    for (const { folder } of kinds) await rm(join(staging, folder), { recursive: true, force: true })
    if (attempt === attempts)
      throw new BackupError(`Not backed up, because files are missing: ${lost}. See: myna audit`)
  }
}

interface Owner {
  folder: (typeof kinds)[number]['folder']
  id: string
  files: readonly string[]
}

/** @returns who has files */
function copyDatabase(from: string, to: string): Owner[] {
  const source = new Database(from, { readonly: true })
  try {
    source.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
    source.run(`VACUUM INTO '${to.replaceAll("'", "''")}'`)
  } finally {
    source.close()
  }
  const copy = new Database(to, { readonly: true })
  try {
    return kinds.flatMap(({ folder, sql, files }) =>
      copy
        .query<{ id: string }, []>(sql)
        .all()
        .map(({ id }) => ({ folder, id, files })),
    )
  } finally {
    copy.close()
  }
}

/** @returns the first folder of which a file is missing, or null */
async function linkAll(dataDir: string, staging: string, owners: readonly Owner[]): Promise<string | null> {
  for (const { folder, id, files } of owners) {
    await mkdir(join(staging, folder, id), { recursive: true, mode: 0o700 })
    for (const name of files) {
      const isLinked = await link(join(dataDir, folder, id, name), join(staging, folder, id, name)).then(
        () => true,
        () => false,
      )
      if (!isLinked) return `${folder}/${id}`
    }
  }
  return null
}

async function filesOf(staging: string): Promise<Map<string, string>> {
  const names = await readdir(staging, { recursive: true })
  const files = names.filter((name) => name.split('/').length === 3)
  return new Map(['myna.db', ...files.sort()].map((name) => [name, join(staging, name)]))
}

/** Leftovers of a killed backup. */
async function sweep(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (!name.startsWith(stagingPrefix)) continue
    if (isAlive(Number(name.slice(stagingPrefix.length)))) continue
    await rm(join(dataDir, name), { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH')
  }
}

export async function syncFolder(folder: string): Promise<void> {
  const opened = await open(folder, 'r')
  try {
    await opened.sync()
  } finally {
    await opened.close()
  }
}
