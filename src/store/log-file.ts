/**
 * The write-ahead log that a crash left (`myna.db-wal`), read before SQLite opens it. SQLite believes a log up to the
 * first frame whose checksum is wrong and silently forgets the rest. That is right for the last transaction, which the
 * crash may have torn. It is wrong for damage in the middle: the commits behind it were synced and answered. The format
 * is section 4 of sqlite.org/fileformat2.html. Reading the log by hand drops no lock: SQLite locks the other files.
 */
import { readFileSync, statSync } from 'node:fs'
import { codeOf } from './errors.ts'

const headerBytes = 32
const frameHeaderBytes = 24
const magic = 0x377f0682

/** Whether there is a log that is not empty: the last process did not end in order. @param path of the database */
export function hasLog(path: string): boolean {
  try {
    return statSync(`${path}-wal`).size > 0
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return false
    throw error
  }
}

/** @param path of the database @returns how many commits would be forgotten and where, or null: none for certain */
export function logDamage(path: string): string | null {
  const log = readFileSync(`${path}-wal`)
  if (log.length < headerBytes + frameHeaderBytes) return null
  const view = new DataView(log.buffer, log.byteOffset, log.length)
  const isLittleEndian = (view.getUint32(0) & 1) === 0
  const pageBytes = view.getUint32(8)
  const header = sum(view, 0, headerBytes - 8, isLittleEndian, [0, 0])
  const isSound = (view.getUint32(0) & ~1) === (magic & ~1) && isSame(header, view, headerBytes - 8)
  // Nothing can be said about a log whose first bytes are damaged; SQLite would take it for an empty one.
  if (!isSound) return 'its header is wrong, so that every commit in it would be forgotten'
  const frame = frameHeaderBytes + pageBytes
  const count = Math.floor((log.length - headerBytes) / frame)
  let checksum = header
  for (let index = 0; index < count; index++) {
    const at = headerBytes + index * frame
    // A frame from before the log was restarted: the log ends here.
    if (!isOfThisLog(view, at)) return forgotten(view, index, count, frame)
    checksum = sum(view, at, 8, isLittleEndian, checksum)
    checksum = sum(view, at + frameHeaderBytes, pageBytes, isLittleEndian, checksum)
    if (!isSame(checksum, view, at + 16)) return forgotten(view, index, count, frame)
  }
  return null
}

/** After the first wrong frame: one commit may be that of the torn transaction itself, two cannot. */
function forgotten(view: DataView, from: number, count: number, frame: number): string | null {
  let commits = 0
  for (let index = from; index < count; index++) {
    const at = headerBytes + index * frame
    if (isOfThisLog(view, at) && view.getUint32(at + 4) !== 0) commits++
  }
  return commits < 2 ? null : `page ${from + 1} of ${count} is wrong, so that ${commits} commits would be forgotten`
}

/** By the two salts, which change whenever the log starts over. */
const isOfThisLog = (view: DataView, at: number): boolean =>
  view.getUint32(at + 8) === view.getUint32(16) && view.getUint32(at + 12) === view.getUint32(20)

const isSame = ([first, second]: readonly [number, number], view: DataView, at: number): boolean =>
  view.getUint32(at) === first && view.getUint32(at + 4) === second

/** The running checksum of section 4.2: over pairs of 32-bit words, in the byte order that the magic number names. */
function sum(
  view: DataView,
  at: number,
  bytes: number,
  isLittleEndian: boolean,
  [first, second]: readonly [number, number],
): readonly [number, number] {
  for (let here = at; here < at + bytes; here += 8) {
    first = (first + view.getUint32(here, isLittleEndian) + second) >>> 0
    second = (second + view.getUint32(here + 4, isLittleEndian) + first) >>> 0
  }
  return [first, second]
}
