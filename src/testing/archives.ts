/** Writes archives, correct and malicious ones, for tests of the readers. */
import { crc32, deflateRawSync } from 'node:zlib'
import { pack } from 'tar-stream'

export interface TarEntry {
  name: string
  content?: Uint8Array
  type?: 'file' | 'symlink' | 'link'
  linkname?: string
}

export async function tarOf(entries: readonly TarEntry[]): Promise<Uint8Array> {
  const packing = pack()
  for (const { name, content = new Uint8Array(0), type = 'file', linkname } of entries) {
    packing.entry({ name, type, size: content.length, ...(linkname && { linkname }) }, Buffer.from(content))
  }
  packing.finalize()
  const blocks: Uint8Array[] = []
  for await (const block of packing) blocks.push(block as Uint8Array)
  return Buffer.concat(blocks)
}

/**
 * The same archive, but its first header claims another size. Source: pax(1) of POSIX, ustar Interchange Format; sizes
 * above 8 GB as GNU tar writes them: a bit and base 256.
 */
export function claimingSize(tar: Uint8Array, sizeBytes: number): Uint8Array {
  const forged = Buffer.from(tar)
  forged.fill(0, 124, 136)
  forged[124] = 0x80
  forged.writeBigUInt64BE(BigInt(sizeBytes), 128)
  forged.fill(' ', 148, 156)
  const sum = forged.subarray(0, 512).reduce((total, byte) => total + byte, 0)
  forged.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return forged
}

export interface ZipEntry {
  name: string
  content: Uint8Array
  /** The size that the directory claims, if it is not the true one. */
  claimedBytes?: number
  isCompressed?: boolean
}

/**
 * Local headers with data, the central directory, and its end record. Source: PKWARE APPNOTE 6.3.10, sections 4.3.7,
 * 4.3.12 and 4.3.16.
 */
export function zipOf(entries: readonly ZipEntry[]): Uint8Array {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const { name, content, claimedBytes = content.length, isCompressed = true } of entries) {
    const data = isCompressed ? deflateRawSync(content) : Buffer.from(content)
    const path = Buffer.from(name)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(0x800, 2)
    common.writeUInt16LE(isCompressed ? 8 : 0, 4)
    common.writeUInt32LE(crc32(content), 10)
    common.writeUInt32LE(data.length, 14)
    common.writeUInt32LE(claimedBytes, 18)
    common.writeUInt16LE(path.length, 22)
    parts.push(Buffer.from([0x50, 0x4b, 3, 4]), common, path, data)
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(at, 10)
    directory.push(Buffer.from([0x50, 0x4b, 1, 2, 20, 0]), common, rest, path)
    at += 30 + path.length + data.length
  }
  const listed = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(listed.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...parts, listed, end])
}
