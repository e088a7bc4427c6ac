/**
 * Reads what a shared library tells the loader about itself: its name, what it needs, where it looks, and which
 * versions of its functions it offers. `libonnxruntime.so.1` offers `VERS_1.30.0`, and that is the one sure way to
 * know the release of a file. Source: System V ABI, chapter 5 (dynamic linking); symbol versions: Linux Standard Base,
 * core, chapter 10.
 */
import { ElfFile, safe } from './elf-file.ts'

export interface ElfFacts {
  /** The name by which other libraries ask for it; null: the name of its file. */
  soname: string | null
  needed: readonly string[]
  /** Folders of its own search path, `$ORIGIN` not replaced. */
  runpath: readonly string[]
  /** Names of the versions of its symbols, without the library's own name. */
  versions: readonly string[]
}

const dynamicSegment = 2
const loadSegment = 1
const tag = { end: 0, needed: 1, strings: 5, stringBytes: 10, soname: 14, rpath: 15, runpath: 29 } as const
const versionTag = { defined: 0x6ffffffc, count: 0x6ffffffd } as const
const dynamicBytesMax = 1 << 20
const versionsMax = 1024

/** @throws RuntimeError `bad_library`; what the system says when it cannot be read */
export function readElf(path: string): ElfFacts {
  using file = new ElfFile(path)
  const entries = dynamicEntries(file)
  const one = (wanted: number) => entries.find(([name]) => name === wanted)?.[1] ?? null
  const [stringsAt, stringBytes] = [one(tag.strings), one(tag.stringBytes)]
  if (stringsAt === null || stringBytes === null) return { soname: null, needed: [], runpath: [], versions: [] }
  const strings = { offset: offsetOf(file, stringsAt), sizeBytes: stringBytes }
  const named = (wanted: number) =>
    entries.filter(([name]) => name === wanted).map(([, at]) => file.string(strings, at))
  const paths = [...named(tag.runpath), ...named(tag.rpath)]
  return {
    soname: named(tag.soname)[0] ?? null,
    needed: named(tag.needed),
    runpath: paths.flatMap((path) => path.split(':')),
    versions: definedVersions(file, strings, one(versionTag.defined), one(versionTag.count) ?? 0),
  }
}

function dynamicEntries(file: ElfFile): [tag: number, value: number][] {
  const segment = file.segments.find(({ type }) => type === dynamicSegment)
  if (segment === undefined) return []
  if (segment.fileBytes > dynamicBytesMax) throw file.damaged('its table for the loader is larger than any')
  const bytes = file.read(segment.offset, segment.fileBytes)
  const entries: [number, number][] = []
  for (let at = 0; at + 16 <= bytes.length; at += 16) {
    const name = safe(bytes.readBigUInt64LE(at))
    if (name === tag.end) break
    entries.push([name, safe(bytes.readBigUInt64LE(at + 8))])
  }
  return entries
}

/** Position in the file of an address. */
function offsetOf(file: ElfFile, address: number): number {
  const segment = file.segments.find(
    (one) => one.type === loadSegment && address >= one.address && address < one.address + one.fileBytes,
  )
  if (segment === undefined) throw file.damaged('an address in it is of no part of it')
  return segment.offset + address - segment.address
}

/** `Verdef` records, each with the offsets of its first name and of the next one. The first is the file itself. */
function definedVersions(
  file: ElfFile,
  strings: { offset: number; sizeBytes: number },
  address: number | null,
  count: number,
): string[] {
  if (address === null) return []
  if (count > versionsMax) throw file.damaged('it claims more versions than any library has')
  const found: string[] = []
  let at = offsetOf(file, address)
  for (let index = 0; index < count; index++) {
    const record = file.read(at, 20)
    const isFileItself = (record.readUInt16LE(2) & 1) === 1
    const name = file.read(at + record.readUInt32LE(12), 8).readUInt32LE(0)
    if (!isFileItself) found.push(file.string(strings, name))
    at += record.readUInt32LE(16)
  }
  return found
}
