/**
 * Decides where an import takes files from: a folder, or an archive (.zip, .tar, .tar.gz) recognized by its first
 * bytes. Nothing is ever unpacked under a name from an archive: names are only compared with the wanted ones, links in
 * an archive are ignored, and unwanted files are not written. A source is read twice, once for the names and once for
 * the bytes of the chosen files.
 */
import { createReadStream } from 'node:fs'
import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { extract } from 'tar-stream'
import { openPromise } from 'yauzl'
import { ModelError } from '../model-error.ts'

export interface SourceEntry {
  /** Within the source, with slashes, without anything before the first name. */
  path: string
  sizeBytes: number
}

export interface Source {
  entries(signal: AbortSignal): Promise<SourceEntry[]>
  /** The chosen files, in the order of the source. `bytes` must be read to the end before the next is requested. */
  read(
    isChosen: (entry: SourceEntry) => boolean,
    signal: AbortSignal,
  ): AsyncIterable<{ entry: SourceEntry; bytes: AsyncIterable<Uint8Array> }>
}

/** No model is that large: such an archive only wastes our time. */
const entriesMax = 100_000
const totalBytesMax = 256 * 2 ** 30

/** A file that was come across; its bytes are taken or skipped before the next one. */
interface Found extends SourceEntry {
  bytes(): Promise<AsyncIterable<Uint8Array>>
  skip(): Promise<void>
}

type Walk = () => AsyncIterable<Found>

/** @throws ModelError `no_such_source` */
export async function openSource(path: string): Promise<Source> {
  const found = await stat(path).catch(() => null)
  if (found === null) throw new ModelError('no_such_source', `There is no file or folder ${path}.`)
  if (found.isDirectory()) return sourceOf(path, () => walkFolder(path))
  const kind = kindOf(await firstBytes(path))
  if (kind === 'zip') return sourceOf(path, () => walkZip(path))
  if (kind === 'tar' || kind === 'tar.gz') return sourceOf(path, () => walkTar(path, kind === 'tar.gz'))
  const what = kind === null ? 'not an archive that Myna knows' : `a ${kind} archive, which Myna cannot read`
  const message = `${path} is ${what}. Give a folder (unpack it first) or a .zip, .tar or .tar.gz file.`
  throw new ModelError('no_such_source', message)
}

function sourceOf(source: string, walk: Walk): Source {
  return {
    async entries(signal) {
      const entries: SourceEntry[] = []
      let totalBytes = 0
      for await (const found of guarded(source, walk())) {
        signal.throwIfAborted()
        const { path, sizeBytes } = found
        totalBytes += sizeBytes
        if (totalBytes > totalBytesMax || entries.length === entriesMax) {
          throw new ModelError('bad_archive', `${source} contains more files than any model.`)
        }
        entries.push({ path, sizeBytes })
        await found.skip()
      }
      return entries
    },
    async *read(isChosen, signal) {
      for await (const found of guarded(source, walk())) {
        signal.throwIfAborted()
        const { path, sizeBytes } = found
        if (isChosen({ path, sizeBytes })) {
          yield { entry: { path, sizeBytes }, bytes: guarded(source, await found.bytes()) }
        } else await found.skip()
      }
    },
  }
}

/** A library's error about a damaged archive, in our words. */
async function* guarded<T>(source: string, items: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* items
  } catch (error) {
    if (error instanceof ModelError) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw new ModelError('bad_archive', `${source} cannot be read to the end: ${why}`, { cause: error })
  }
}

async function firstBytes(path: string): Promise<Uint8Array> {
  const file = await open(path, 'r')
  try {
    const bytes = new Uint8Array(512)
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0)
    return bytes.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

const signatures: readonly [string, number, readonly number[]][] = [
  ['zip', 0, [0x50, 0x4b, 3, 4]],
  ['tar.gz', 0, [0x1f, 0x8b]],
  ['tar', 257, [...'ustar'].map((letter) => letter.charCodeAt(0))],
  ['bzip2', 0, [0x42, 0x5a, 0x68]],
  ['xz', 0, [0xfd, 0x37, 0x7a, 0x58, 0x5a]],
  ['zstd', 0, [0x28, 0xb5, 0x2f, 0xfd]],
  ['7z', 0, [0x37, 0x7a, 0xbc, 0xaf]],
  ['rar', 0, [0x52, 0x61, 0x72, 0x21]],
]

const kindOf = (bytes: Uint8Array): string | null =>
  signatures.find(([, at, magic]) => magic.every((byte, index) => bytes[at + index] === byte))?.[0] ?? null

/** A folder of one's own may hold links, as the hub's own cache does: they are followed. */
async function* walkFolder(root: string): AsyncGenerator<Found> {
  // What the user named must be readable; of what is below it, only the model's files matter.
  await readdir(root)
  for await (const { path, sizeBytes } of filesBelow(root, '', new Set())) {
    const place = join(root, path)
    yield { path, sizeBytes, bytes: async () => createReadStream(place), skip: async () => {} }
  }
}

/** @param seen folders that were gone through: a link may lead back to one of them */
async function* filesBelow(root: string, folder: string, seen: Set<string>): AsyncGenerator<SourceEntry> {
  const { dev, ino } = await stat(join(root, folder))
  if (seen.has(`${dev}:${ino}`)) return
  seen.add(`${dev}:${ino}`)
  for (const name of await readdir(join(root, folder)).catch(() => [])) {
    const path = folder === '' ? name : `${folder}/${name}`
    const found = await stat(join(root, path)).catch(() => null)
    if (found?.isFile() === true) yield { path, sizeBytes: found.size }
    if (found?.isDirectory() === true) yield* filesBelow(root, path, seen)
  }
}

async function* walkZip(source: string): AsyncGenerator<Found> {
  const zip = await openPromise(source, { autoClose: false })
  try {
    for await (const entry of zip.eachEntry()) {
      const path = pathOf(entry.fileName)
      if (path === null || entry.fileName.endsWith('/')) continue
      const sizeBytes = entry.uncompressedSize
      yield { path, sizeBytes, bytes: () => zip.openReadStreamPromise(entry), skip: async () => {} }
    }
  } finally {
    zip.close()
  }
}

async function* walkTar(source: string, isCompressed: boolean): AsyncGenerator<Found> {
  const unpacking = extract()
  // A failure here also ends the walk.
  const done = () => {}
  if (isCompressed) pipeline(createReadStream(source), createGunzip(), unpacking, done)
  else pipeline(createReadStream(source), unpacking, done)
  for await (const entry of unpacking) {
    const { name, size = 0, type } = entry.header
    const path = type === 'file' || type === 'contiguous-file' ? pathOf(name) : null
    const skip = async () => void entry.resume()
    if (path === null) await skip()
    else yield { path, sizeBytes: size, bytes: async () => entry as AsyncIterable<Uint8Array>, skip }
  }
}

/** Without a leading `./`; null: the name leads out of the archive and is ignored. */
function pathOf(name: string): string | null {
  const parts = name.split(/[/\\]+/).filter((part) => part !== '' && part !== '.')
  return parts.length === 0 || parts.includes('..') ? null : parts.join('/')
}
