/**
 * An ELF file, opened for reading at positions that the file itself names. Such positions are not trusted: one outside
 * the file, or sizes larger than any real one, make it a damaged file rather than a crash or an endless loop. Only
 * files that Myna can run are accepted: 64 bits, little-endian, a shared library for this processor. Source: System V
 * ABI, chapter 4 (object files), and its AMD64 and AArch64 supplements for the machine numbers.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { basename } from 'node:path'
import { RuntimeError } from './runtime-error.ts'

export interface Segment {
  type: number
  offset: number
  /** Address once loaded. */
  address: number
  fileBytes: number
}

export interface Section {
  name: string
  offset: number
  sizeBytes: number
}

const headerBytes = 64
const segmentBytes = 56
const sectionBytes = 64
const countMax = 4096
const stringMax = 4096
const sharedObject = 3
const sectionWithoutBytes = 8
const machines: Readonly<Record<string, number>> = { x64: 62, arm64: 183 }

export class ElfFile {
  readonly #path: string
  readonly #fd: number
  readonly sizeBytes: number
  readonly segments: readonly Segment[]
  readonly #sectionsAt: number
  readonly #sectionCount: number
  readonly #namesIndex: number

  /** @throws RuntimeError `bad_library`, in words that name the file; what the system says when it cannot be opened */
  constructor(path: string) {
    this.#path = path
    this.#fd = openSync(path, 'r')
    try {
      this.sizeBytes = fstatSync(this.#fd).size
      const header = this.#header()
      this.segments = this.#segments(header)
      this.#sectionsAt = safe(header.readBigUInt64LE(0x28))
      this.#sectionCount = header.readUInt16LE(0x3c)
      this.#namesIndex = header.readUInt16LE(0x3e)
      this.#requireWhole()
    } catch (error) {
      this.close()
      throw error
    }
  }

  close(): void {
    closeSync(this.#fd)
  }

  [Symbol.dispose](): void {
    this.close()
  }

  /** @throws RuntimeError if it is outside the file */
  read(offset: number, sizeBytes: number): Buffer {
    if (offset < 0 || sizeBytes < 0 || offset + sizeBytes > this.sizeBytes) {
      throw this.damaged('it refers to positions past its end, as a file that was cut short does')
    }
    const bytes = Buffer.alloc(sizeBytes)
    for (let done = 0; done < sizeBytes;) {
      const more = readSync(this.#fd, bytes, done, sizeBytes - done, offset + done)
      if (more === 0) throw this.damaged('it became shorter while it was read')
      done += more
    }
    return bytes
  }

  /** A string that ends with a zero byte, within the table. */
  string(table: { offset: number; sizeBytes: number }, at: number): string {
    if (at >= table.sizeBytes) throw this.damaged('a name in it is outside its table')
    const bytes = this.read(table.offset + at, Math.min(stringMax, table.sizeBytes - at))
    const end = bytes.indexOf(0)
    if (end < 0) throw this.damaged('a name in it does not end')
    return bytes.toString('latin1', 0, end)
  }

  /** null: there is none with this name, or it has no bytes in the file. */
  section(name: string): Section | null {
    if (this.#sectionCount === 0) return null
    const names = this.#sectionAt(this.#namesIndex)
    for (let index = 0; index < this.#sectionCount; index++) {
      const { nameAt, type, ...place } = this.#sectionAt(index)
      if (type !== sectionWithoutBytes && this.string(names, nameAt) === name) return { name, ...place }
    }
    return null
  }

  damaged(why: string): RuntimeError {
    return new RuntimeError('bad_library', `${basename(this.#path)} is a damaged library: ${why}.`)
  }

  #header(): Buffer {
    const name = basename(this.#path)
    const none = (what: string) => new RuntimeError('bad_library', `${name} is ${what}.`)
    if (this.sizeBytes < headerBytes) throw none('not a shared library: it is too short')
    const header = this.read(0, headerBytes)
    if (header.readUInt32BE(0) !== 0x7f454c46) throw none('not a shared library: it does not begin like one')
    if (header[4] !== 2 || header[5] !== 1)
      throw none('a library for another kind of machine (not 64 bits, little-endian)')
    if (header.readUInt16LE(0x10) !== sharedObject) throw none('not a shared library, but another kind of ELF file')
    const machine = header.readUInt16LE(0x12)
    if (machine === machines[process.arch]) return header
    const theirs = Object.entries(machines).find(([, number]) => number === machine)?.[0] ?? `number ${machine}`
    throw none(`a library for another processor (${theirs}; this one is ${process.arch})`)
  }

  #segments(header: Buffer): Segment[] {
    const at = safe(header.readBigUInt64LE(0x20))
    const [size, count] = [header.readUInt16LE(0x36), header.readUInt16LE(0x38)]
    if (count > countMax || (count > 0 && size !== segmentBytes)) throw this.damaged('its list of segments is none')
    const bytes = this.read(at, count * segmentBytes)
    return Array.from({ length: count }, (_, index) => {
      const one = bytes.subarray(index * segmentBytes)
      return {
        type: one.readUInt32LE(0),
        offset: safe(one.readBigUInt64LE(8)),
        address: safe(one.readBigUInt64LE(16)),
        fileBytes: safe(one.readBigUInt64LE(32)),
      }
    })
  }

  /** A truncated file is reported at once, not when the loader maps missing bytes. */
  #requireWhole(): void {
    const ends = this.segments.map(({ offset, fileBytes }) => offset + fileBytes)
    const end = Math.max(0, ...ends, this.#sectionsAt + this.#sectionCount * sectionBytes)
    if (this.#sectionCount > countMax) throw this.damaged('its list of sections is none')
    if (end > this.sizeBytes) throw this.damaged(`it was cut short: ${this.sizeBytes} of ${end} bytes are there`)
  }

  #sectionAt(index: number): { nameAt: number; type: number; offset: number; sizeBytes: number } {
    if (index >= this.#sectionCount) throw this.damaged('a section that it refers to is missing')
    const one = this.read(this.#sectionsAt + index * sectionBytes, sectionBytes)
    return {
      nameAt: one.readUInt32LE(0),
      type: one.readUInt32LE(4),
      offset: safe(one.readBigUInt64LE(0x18)),
      sizeBytes: safe(one.readBigUInt64LE(0x20)),
    }
  }
}

/** A value that does not fit is beyond every file. */
export const safe = (value: bigint): number => Number(value > 2n ** 52n ? 2n ** 52n : value)
