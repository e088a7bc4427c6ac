/**
 * The folder of models: `<data folder>/models`. `blobs/` has the content of files, each under a name that its content
 * determines, so that files shared by two models exist once and an interrupted pull is found again; `<name>.part` is a
 * download in progress. `installed/<card id>/` has hard links to blobs under the names of the card, because ONNX
 * Runtime wants a graph's weights beside it, and not as symbolic links. Models are not secret: all users who may enter
 * the data folder can read them, so that a service under another user finds what root has pulled.
 */
import { constants } from 'node:fs'
import { chmod, copyFile, link, mkdir, open, readdir, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { HubPlace } from './install/hub.ts'

const blobPattern = /^([0-9a-f]{64}|git-[0-9a-f]{40}|at-[0-9a-f]{64})$/
const partSuffix = '.part'

/** A folder that is being built or taken away; none is ever looked into. */
export const newPrefix = '.new-'
export const gonePrefix = '.gone-'

export class ModelsFolder {
  /** @param path `<data folder>/models`; need not exist */
  constructor(readonly path: string) {}

  get blobs(): string {
    return join(this.path, 'blobs')
  }

  get installed(): string {
    return join(this.path, 'installed')
  }

  /** @param blob as `blobName` returned it @throws Error if it is not the name of a blob */
  blob(blob: string): string {
    if (!isBlobName(blob)) throw new Error(`'${blob}' is not the name of a blob`)
    return join(this.blobs, blob)
  }

  part(blob: string): string {
    return this.blob(blob) + partSuffix
  }

  /** @throws Error when such an id cannot name a folder */
  model(cardId: string): string {
    if (!/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/.test(cardId)) throw new Error(`'${cardId}' cannot name a folder`)
    return join(this.installed, cardId)
  }

  async make(): Promise<void> {
    // The data folder itself is closed to others, whichever command creates it first.
    await mkdir(join(this.path, '..'), { recursive: true, mode: 0o700 })
    for (const folder of [this.path, this.blobs, this.installed]) await makeFolder(folder)
  }

  /** Ids of the folders in `installed`, complete or not. */
  async modelIds(): Promise<string[]> {
    return (await namesIn(this.installed)).filter((name) => !name.startsWith('.')).sort()
  }
}

export const isBlobName = (name: string): boolean => blobPattern.test(name)

/** The blob to which a file in `blobs/` belongs; null: it is not one of ours. */
export function blobOf(fileName: string): string | null {
  const name = fileName.endsWith(partSuffix) ? fileName.slice(0, -partSuffix.length) : fileName
  return isBlobName(name) ? name : null
}

/** Derived from what is known about the content before it arrives: a hash, or otherwise the one place where it is. */
export function blobName(
  known: { sha256: string | null; gitSha1: string | null },
  { repo, revision, path }: HubPlace,
): string {
  if (known.sha256 !== null) return known.sha256
  if (known.gitSha1 !== null) return `git-${known.gitSha1}`
  return `at-${new Bun.CryptoHasher('sha256').update(`${repo}@${revision}/${path}`).digest('hex')}`
}

/** With the folders above it, where they are missing. */
export async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o755 })
  if (first === undefined) return
  // The umask of a pull may be stricter than a service of another user can bear.
  const top = resolve(first)
  for (let made = resolve(path); made.length >= top.length; made = dirname(made)) await chmod(made, 0o755)
}

/** Makes `to` the same file as `from`; a copy where the file system has no hard links. */
export async function linkFile(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    if (!['EPERM', 'EXDEV', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(codeOf(error))) throw error
    await copyFile(from, to, constants.COPYFILE_FICLONE)
    await syncFile(to)
  }
}

/** Whether a file here can have two names. */
export async function canLink(folder: string): Promise<boolean> {
  const [from, to] = [join(folder, newPrefix + crypto.randomUUID()), join(folder, newPrefix + crypto.randomUUID())]
  try {
    await (await open(from, 'wx')).close()
    await link(from, to)
    return true
  } catch {
    return false
  } finally {
    await Promise.all([from, to].map((path) => rm(path, { force: true })))
  }
}

/** Written, on the disk, and readable by all. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', 0o644)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await chmod(path, 0o644)
}

/** The names in a folder reach the disk with it. */
export const syncFolder = (path: string): Promise<void> => syncFile(path)

async function syncFile(path: string): Promise<void> {
  const opened = await open(path, 'r')
  try {
    await opened.sync()
  } finally {
    await opened.close()
  }
}

/** Empty if the folder does not exist. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return []
    throw error
  }
}

export function codeOf(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return ''
  return typeof error.code === 'string' ? error.code : ''
}
