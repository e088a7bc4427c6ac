/**
 * Decides where the demuxer reads from: bytes in memory, or a file on disk of which only the current part is loaded,
 * so that hours of audio take no more memory than a second.
 */
import { fstatSync, readSync } from 'node:fs'
import { BufferSource, CustomSource, type Source } from 'mediabunny'

export interface ClipBytes {
  source: Source
  /** The first bytes: they identify a file without audio. */
  head: Uint8Array
  sizeBytes: number
  /** The bytes of a range; fewer where the file ends. Good until the next call. */
  read(start: number, end: number): Uint8Array
}

const headBytes = 65_536
/** The demuxer reads a little on either side of what it needs, and keeps that much. */
const cacheBytes = 1_048_576
const spareReads = 100_000
const windowBytes = 262_144

/** @param bytes may be repaired in place */
export function clipInMemory(bytes: Uint8Array<ArrayBuffer>): ClipBytes {
  mendSizes(bytes, bytes.length)
  return {
    source: limited(new BufferSource(bytes), bytes.length),
    head: bytes.subarray(0, headBytes),
    sizeBytes: bytes.length,
    read: (start, end) => bytes.subarray(start, end),
  }
}

/** @param descriptor open for reading for as long as the source is used; stays the caller's */
export function clipOnDisk(descriptor: number): ClipBytes {
  const sizeBytes = fstatSync(descriptor).size
  const read = (start: number, end: number): Uint8Array<ArrayBuffer> => {
    const bytes = new Uint8Array(end - start)
    for (let at = 0; at < bytes.length;) {
      const got = readSync(descriptor, bytes, at, bytes.length - at, start + at)
      if (got === 0) throw new Error('the file became shorter while it was read')
      at += got
    }
    return bytes
  }
  const head = read(0, Math.min(headBytes, sizeBytes))
  const mendedBytes = mendSizes(head, sizeBytes)
  const mended = (start: number, end: number): Uint8Array<ArrayBuffer> => {
    const bytes = read(start, end)
    if (start < mendedBytes) bytes.set(head.subarray(start, Math.min(end, mendedBytes)))
    return bytes
  }
  return { source: sourceOf(sizeBytes, mended), head, sizeBytes, read: windowed(sizeBytes, mended) }
}

/** The same bytes from there on, as though they were the file. */
export function laterPart(clip: ClipBytes, start: number): ClipBytes {
  const sizeBytes = clip.sizeBytes - start
  return derived(sizeBytes, (from, to) => new Uint8Array(clip.read(start + from, start + Math.min(to, sizeBytes))))
}

/** The same file with other bytes at one place. */
export function patched(clip: ClipBytes, at: number, patch: Uint8Array): ClipBytes {
  return derived(clip.sizeBytes, (from, to) => {
    const bytes = new Uint8Array(clip.read(from, to))
    for (let i = Math.max(from, at); i < Math.min(to, at + patch.length); i++) bytes[i - from] = patch[i - at]!
    return bytes
  })
}

function derived(sizeBytes: number, read: (start: number, end: number) => Uint8Array<ArrayBuffer>): ClipBytes {
  const head = read(0, Math.min(headBytes, sizeBytes))
  return { source: sourceOf(sizeBytes, read), head, sizeBytes, read: windowed(sizeBytes, read) }
}

function sourceOf(sizeBytes: number, read: (start: number, end: number) => Uint8Array): Source {
  const source = new CustomSource({
    getSize: () => sizeBytes,
    read,
    prefetchProfile: 'fileSystem',
    maxCacheSize: cacheBytes,
    // Prefetch errors are dropped: the read that needs the data will fail by itself.
    handleUnhandledError: () => {},
  })
  return limited(source, sizeBytes)
}

/** Small reads near each other cost one. */
function windowed(sizeBytes: number, read: (start: number, end: number) => Uint8Array): ClipBytes['read'] {
  let window: Uint8Array = new Uint8Array()
  let windowStart = 0
  return (start, given) => {
    const end = Math.min(given, sizeBytes)
    if (start >= end) return new Uint8Array()
    if (start < windowStart || end > windowStart + window.length) {
      windowStart = start
      window = read(start, Math.min(sizeBytes, Math.max(end, start + windowBytes)))
    }
    return window.subarray(start - windowStart, end - windowStart)
  }
}

/**
 * mediabunny loops in some damaged Matroska files. It asks its source for every few bytes, so a walk that has asked for
 * more than any real file needs is ended, long before the deadline.
 */
function limited(source: Source, sizeBytes: number): Source {
  // Its types leave this out.
  const inside = source as unknown as { _read(...range: number[]): unknown }
  const read = inside._read.bind(source)
  let left = spareReads + sizeBytes
  inside._read = (...range) => {
    if (left-- === 0) throw new Error('the demuxer makes no progress')
    return read(...range)
  }
  return source
}

const sizeUnknown = 0xffffffff
const chunkHeadBytes = 8

/**
 * Some recorders never come back to write their sizes into a WAV file, or were ended before they could; mediabunny then
 * finds nothing. What follows the head of the samples is taken for samples, as FFmpeg does.
 * @returns how many of the first bytes may have become others
 */
function mendSizes(head: Uint8Array, sizeBytes: number): number {
  if (asciiAt(head, 0) !== 'RIFF' || asciiAt(head, 8) !== 'WAVE') return 0
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  if (view.getUint32(4, true) + chunkHeadBytes < sizeBytes) view.setUint32(4, sizeUnknown, true)
  for (let at = 12; at + chunkHeadBytes <= head.length;) {
    const size = view.getUint32(at + 4, true)
    if (asciiAt(head, at) === 'data') {
      const isEmpty = /^[ -~]{4}$/.test(asciiAt(head, at + chunkHeadBytes))
      if (size === 0 && !isEmpty) view.setUint32(at + 4, sizeUnknown, true)
      return at + chunkHeadBytes
    }
    at += chunkHeadBytes + size + (size % 2)
  }
  return chunkHeadBytes
}

const asciiAt = (bytes: Uint8Array, at: number): string => String.fromCharCode(...bytes.subarray(at, at + 4))

const tagBytes = 10

/** End of the ID3 tags that begin here (ID3v2, 3.1): they may contain pictures of megabytes. */
export function pastId3(clip: ClipBytes, position: number): number {
  for (let at = position; ;) {
    const head = clip.read(at, at + tagBytes)
    const isTag = head.length === tagBytes && head[0] === 0x49 && head[1] === 0x44 && head[2] === 0x33
    if (!isTag || head.subarray(6).some((byte) => byte > 127)) return at
    at += tagBytes + ((head[6]! << 21) | (head[7]! << 14) | (head[8]! << 7) | head[9]!)
  }
}
