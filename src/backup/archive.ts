/**
 * A backup is one tar file: `myna.db`, `voices/<voice id>/<file>`, `consents/<consent id>/recording`, and last
 * `myna-backup.json` with the SHA-256 of every file before it. Nothing is unpacked under a name that does not look like
 * one of these, and a backup counts only when every file that it names is there with its hash, and no other.
 */
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { extract, pack, type Pack } from 'tar-stream'

export interface Manifest {
  /** Version of this format. */
  version: 1
  /** Version of the program that wrote it. */
  program: string
  /** UTC, ISO 8601. */
  made_at: string
  files: Record<string, { bytes: number; sha256: string }>
}

/** What is wrong with a backup, or why none can be made; shown to the user. */
export class BackupError extends Error {
  override readonly name = 'BackupError'
}

const manifestName = 'myna-backup.json'
const topNames = ['myna.db', 'pronunciations.txt']
/** A voice's id never begins with a dot (`store/clips.ts`). */
const voiceName = /^voices\/[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}\/(clip|preview\.wav|reference\.wav|state)$/
const consentName = /^consents\/cons_[0-9A-Z]{26}\/recording$/
const isOurs = (name: string): boolean => topNames.includes(name) || voiceName.test(name) || consentName.test(name)
const manifestBytesMax = 256 * 2 ** 20
/** Readable only by its owner: it has hashes of keys and people's voices. */
const mode = 0o600

/**
 * Writes an archive and syncs it.
 * @param files by their names in the archive, the paths to read
 * @returns what it holds
 * @throws BackupError for a file that changes while it is read; what the system says
 */
export async function writeArchive(
  path: string,
  files: ReadonlyMap<string, string>,
  about: Pick<Manifest, 'program' | 'made_at'>,
): Promise<Manifest> {
  const tar = pack()
  const written = pipeline(tar, createWriteStream(path, { flags: 'wx', mode, flush: true }))
  const manifest: Manifest = { version: 1, ...about, files: {} }
  const filled = async () => {
    for (const [name, source] of files) manifest.files[name] = await add(tar, name, source)
    tar.entry({ name: manifestName, mode }, JSON.stringify(manifest, null, 1))
    tar.finalize()
  }
  await Promise.all([written, filled().catch((error: unknown) => tar.destroy(error as Error))])
  return manifest
}

async function add(tar: Pack, name: string, source: string): Promise<{ bytes: number; sha256: string }> {
  const { size } = await stat(source)
  const hash = createHash('sha256')
  const entry = tar.entry({ name, size, mode })
  await pipeline(createReadStream(source), hashing(hash), entry)
  return { bytes: size, sha256: hash.digest('hex') }
}

const hashing = (hash: ReturnType<typeof createHash>) =>
  async function* (chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      hash.update(chunk)
      yield chunk
    }
  }

/**
 * Reads an archive through and checks it against its manifest.
 * @param folder an empty folder to unpack into, or null to look only
 * @throws BackupError when it is not a backup, is damaged or not whole
 */
export async function readArchive(path: string, folder: string | null): Promise<Manifest> {
  const found = new Map<string, { bytes: number; sha256: string }>()
  let manifest: Manifest | null = null
  const tar = extract()
  const fed = pipeline(createReadStream(path), tar)
  try {
    for await (const entry of tar) {
      const { name, type } = entry.header
      if (manifest !== null) throw new BackupError(`${path} continues after its end.`)
      if (type !== 'file') throw new BackupError(`${path} contains ${name}, which is not part of a backup.`)
      if (name === manifestName) manifest = parseManifest(path, await textOf(path, entry as AsyncIterable<Uint8Array>))
      else if (!isOurs(name)) throw new BackupError(`${path} contains ${name}, which is not part of a backup.`)
      else found.set(name, await take(entry as AsyncIterable<Uint8Array>, folder === null ? null : join(folder, name)))
    }
    await fed
  } catch (error) {
    fed.catch(() => {})
    tar.destroy()
    if (error instanceof BackupError) throw error
    throw new BackupError(
      `${path} is not a backup, or is damaged: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
  if (manifest === null) throw new BackupError(`${path} is not a backup, or is incomplete: ${manifestName} is missing.`)
  compare(path, manifest, found)
  return manifest
}

async function take(entry: AsyncIterable<Uint8Array>, to: string | null): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256')
  let bytes = 0
  if (to !== null) await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  const file = to === null ? null : await open(to, 'wx', mode)
  try {
    for await (const chunk of entry) {
      hash.update(chunk)
      bytes += chunk.length
      await file?.write(chunk)
    }
    await file?.sync()
  } finally {
    await file?.close()
  }
  return { bytes, sha256: hash.digest('hex') }
}

async function textOf(path: string, entry: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of entry) {
    bytes += chunk.length
    if (bytes > manifestBytesMax) throw new BackupError(`${path}: ${manifestName} is too large.`)
    parts.push(chunk)
  }
  return Buffer.concat(parts).toString('utf8')
}

function parseManifest(path: string, text: string): Manifest {
  const wrong = new BackupError(`${path}: ${manifestName} cannot be read.`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw wrong
  }
  if (typeof value !== 'object' || value === null || !('version' in value) || !('files' in value)) throw wrong
  if (value.version !== 1)
    throw new BackupError(`${path} was written by a newer Myna (format ${String(value.version)}).`)
  if (typeof value.files !== 'object' || value.files === null) throw wrong
  return value as Manifest
}

function compare(
  path: string,
  manifest: Manifest,
  found: ReadonlyMap<string, { bytes: number; sha256: string }>,
): void {
  const missing = Object.keys(manifest.files).filter((name) => !found.has(name))
  if (missing.length > 0) throw new BackupError(`${path} lacks ${missing.slice(0, 5).join(', ')}.`)
  for (const [name, { bytes, sha256 }] of found) {
    const due = manifest.files[name]
    if (due?.bytes !== bytes || due.sha256 !== sha256)
      throw new BackupError(`${path} is damaged: ${name} is not as it was written.`)
  }
  if (!found.has('myna.db')) throw new BackupError(`${path} contains no database.`)
}
