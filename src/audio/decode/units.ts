/**
 * Finds where a demuxer can start again: clusters of Matroska (RFC 9559, 5.1.3) and fragments of MP4 (ISO 14496-12,
 * 8.8).
 */
import type { Units } from './resume.ts'
import type { ClipBytes } from './source.ts'

const scanBytes = 262_144
/** A fragment's own boxes. */
const maxFragmentBytes = 262_144

const clusterId = Buffer.from('1f43b675', 'hex')
const scaleId = Buffer.from('2ad7b1', 'hex')
const usualScaleNs = 1_000_000

export const clustersOf = (clip: ClipBytes): Units => ({
  next(from) {
    const scaleNs = scaleOf(clip)
    for (let at = find(clip, clusterId, from); at !== null; at = find(clip, clusterId, at + 1)) {
      const ticks = clusterTicks(clip.read(at + 4, at + 32))
      if (ticks !== null) return { at, seconds: (ticks * scaleNs) / 1e9 }
    }
    return null
  },
  /** RFC 8794, 11.3.2. */
  voidHead(sizeBytes) {
    const head = Buffer.alloc(9)
    head[0] = 0xec
    head[1] = 0x01
    head.writeUIntBE(sizeBytes - head.length, 3, 6)
    return head
  },
})

/** @param trackId of the sound @param ticksHz that its times count */
export const fragmentsOf = (clip: ClipBytes, trackId: number, ticksHz: number): Units => ({
  next(from) {
    const name = Buffer.from('moof')
    for (let found = find(clip, name, from + 4); found !== null; found = find(clip, name, found + 1)) {
      const at = found - 4
      const ticks = fragmentTicks(clip.read(at, at + maxFragmentBytes), trackId)
      if (ticks !== null) return { at, seconds: ticks / ticksHz }
    }
    return null
  },
  voidHead(sizeBytes) {
    const head = Buffer.alloc(8)
    head.writeUInt32BE(sizeBytes, 0)
    head.write('free', 4)
    return head
  },
})

function find(clip: ClipBytes, wanted: Buffer, from: number): number | null {
  for (let at = from; at < clip.sizeBytes;) {
    const window = clip.read(at, at + scanBytes)
    const found = Buffer.from(window.buffer, window.byteOffset, window.length).indexOf(wanted)
    if (found >= 0) return at + found
    at += Math.max(1, window.length - wanted.length + 1)
  }
  return null
}

/** The cluster's time, which comes first, or behind a checksum. */
function clusterTicks(bytes: Uint8Array): number | null {
  let at = Math.clz32(bytes[0] ?? 0) - 24 + 1
  if (bytes[at] === 0xbf) at += 6
  if (bytes[at] !== 0xe7) return null
  const size = (bytes[at + 1] ?? 0) & 0x7f
  return size < 1 || size > 6 ? null : bigEndian(bytes, at + 2, size)
}

function scaleOf({ head }: ClipBytes): number {
  const at = Buffer.from(head).indexOf(scaleId)
  const size = (head[at + 3] ?? 0) & 0x7f
  return at < 0 || size < 1 || size > 4 ? usualScaleNs : bigEndian(head, at + 4, size)
}

/** Start time of the fragment for this track; null: it is not one, or does not state it. */
function fragmentTicks(bytes: Uint8Array, trackId: number): number | null {
  const size = bigEndian(bytes, 0, 4)
  for (const track of boxesOf(bytes.subarray(8, size), 'traf')) {
    const [header] = boxesOf(track, 'tfhd')
    const [time] = boxesOf(track, 'tfdt')
    if (header === undefined || time === undefined || bigEndian(header, 4, 4) !== trackId) continue
    return bigEndian(time, 4, time[0] === 1 ? 8 : 4)
  }
  return null
}

/** The contents of boxes with that name. */
export function boxesOf(bytes: Uint8Array, name: string): Uint8Array[] {
  const found: Uint8Array[] = []
  for (let at = 0; at + 8 <= bytes.length;) {
    const size = bigEndian(bytes, at, 4)
    if (size < 8) break
    if (String.fromCharCode(...bytes.subarray(at + 4, at + 8)) === name) found.push(bytes.subarray(at + 8, at + size))
    at += size
  }
  return found
}

export function bigEndian(bytes: Uint8Array, at: number, count: number): number {
  let value = 0
  for (let i = 0; i < count; i++) value = value * 256 + (bytes[at + i] ?? 0)
  return value
}
