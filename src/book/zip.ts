/**
 * Reads a zip archive in memory, in the browser and in the program: yauzl needs Node, and this is the half of it that
 * books need. It writes nothing to a disk. It trusts an archive's claims only as far as its bytes confirm them: sizes
 * are counted during reading, and checksums compared. Source: PKWARE APPNOTE 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16.
 */
import { BookError } from './book.ts'

export interface Zip {
  /** Names of files as the directory lists them. */
  names: readonly string[]
  /** @returns null when there is no such file @throws BookError when it is damaged or too large */
  read(name: string): Promise<Uint8Array | null>
}

interface Entry {
  method: number
  crc: number
  packedBytes: number
  bytes: number
  at: number
  isEncrypted: boolean
}

const endMark = 0x06054b50
const entryMark = 0x02014b50
const fileMark = 0x04034b50
const endBytes = 22
const maxComment = 0xffff

const maxEntries = 20_000
/** The limit of one file, and of all files together: a book's text has 1 or 2 MB. */
const maxFileBytes = 16 * 1024 * 1024
const maxTotalBytes = 64 * 1024 * 1024

const damaged = (): BookError => new BookError('The archive is damaged.')

/** @throws BookError when it is not an archive, or an unsupported one */
export function openZip(bytes: Uint8Array): Zip {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const entries = directory(bytes, view)
  let total = 0
  return {
    names: [...entries.keys()],
    async read(name) {
      const entry = entries.get(name)
      if (entry === undefined) return null
      if (entry.isEncrypted) throw new BookError('The archive is encrypted.')
      const limit = Math.min(maxFileBytes, maxTotalBytes - total)
      if (entry.bytes > limit) throw new BookError(`${name} is too large: ${entry.bytes} bytes.`)
      const content = await unpacked(packedOf(bytes, view, entry), entry, name)
      total += content.length
      return content
    },
  }
}

function directory(bytes: Uint8Array, view: DataView): Map<string, Entry> {
  const end = endOf(view)
  const count = view.getUint16(end + 10, true)
  let at = view.getUint32(end + 16, true)
  if (count === 0xffff || at === 0xffffffff) throw new BookError('The archive is too large (zip64).')
  if (count > maxEntries) throw new BookError(`The archive has ${count} files; at most ${maxEntries} are read.`)
  const entries = new Map<string, Entry>()
  for (let index = 0; index < count; index++) {
    if (at + 46 > end || view.getUint32(at, true) !== entryMark) throw damaged()
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((from) => view.getUint16(at + from, true))
    const nameEnd = at + 46 + (nameBytes ?? 0)
    if (nameEnd > end) throw damaged()
    entries.set(new TextDecoder().decode(bytes.subarray(at + 46, nameEnd)), {
      isEncrypted: (view.getUint16(at + 8, true) & 1) === 1,
      method: view.getUint16(at + 10, true),
      crc: view.getUint32(at + 16, true),
      packedBytes: view.getUint32(at + 20, true),
      bytes: view.getUint32(at + 24, true),
      at: view.getUint32(at + 42, true),
    })
    at = nameEnd + (extraBytes ?? 0) + (commentBytes ?? 0)
  }
  return entries
}

function endOf(view: DataView): number {
  const last = view.byteLength - endBytes
  for (let at = last; at >= Math.max(0, last - maxComment); at--) {
    if (view.getUint32(at, true) === endMark) return at
  }
  throw new BookError('It is not a zip archive, as every EPUB is.')
}

function packedOf(bytes: Uint8Array, view: DataView, entry: Entry): Uint8Array<ArrayBuffer> {
  if (entry.at + 30 > bytes.length || view.getUint32(entry.at, true) !== fileMark) throw damaged()
  const from = entry.at + 30 + view.getUint16(entry.at + 26, true) + view.getUint16(entry.at + 28, true)
  if (from + entry.packedBytes > bytes.length) throw damaged()
  return bytes.slice(from, from + entry.packedBytes)
}

async function unpacked(packed: Uint8Array<ArrayBuffer>, entry: Entry, name: string): Promise<Uint8Array> {
  if (entry.method !== 0 && entry.method !== 8) {
    throw new BookError(`${name} is packed in a way that is not read (method ${entry.method}).`)
  }
  const content = entry.method === 0 ? packed : await inflated(packed, entry.bytes)
  if (content.length !== entry.bytes || crc32(content) !== entry.crc) throw damaged()
  return content
}

/** @param bytes the expected size; reading stops there */
async function inflated(packed: Uint8Array<ArrayBuffer>, bytes: number): Promise<Uint8Array> {
  const content = new Uint8Array(bytes)
  let at = 0
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return content.subarray(0, at)
      if (at + value.length > bytes) throw damaged()
      content.set(value, at)
      at += value.length
    }
  } catch {
    await reader.cancel().catch(() => {})
    throw damaged()
  }
}

let table: Uint32Array | null = null

function crc32(bytes: Uint8Array): number {
  table ??= Uint32Array.from({ length: 256 }, (_, byte) => {
    let value = byte
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1
    return value
  })
  let crc = 0xffffffff
  for (const byte of bytes) crc = (table[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8)
  return (crc ^ 0xffffffff) >>> 0
}
