/**
 * Finds how much sound follows the place where the demuxer ended. In a damaged file mediabunny ends without an error,
 * as if the recording ended there. The bytes show the difference: a recording that was cut short has none after that
 * place.
 */
import { type Packet, whole } from './packet.ts'
import type { Units } from './resume.ts'
import { type ClipBytes, pastId3 } from './source.ts'

/** What was read. */
export interface Reached {
  last: Packet
  /** Where the last packet ends. */
  seconds: number
  /** Of all packets. */
  bytes: number
}

/** @returns seconds of sound that could not be reached; 0: the file ends there */
export type Unread = (reached: Reached) => number

/** Timestamps and durations are rounded, by a packet at most. */
const leastSeconds = 0.25

/** The demuxer's packets, and one without data for what follows them. @throws what the demuxer threw otherwise */
export async function* toTheEnd(packets: AsyncIterable<Packet>, unread: Unread): AsyncGenerator<Packet> {
  let last: Packet | null = null
  let bytes = 0
  let failure: unknown = null
  try {
    for await (const packet of packets) {
      last = packet
      bytes += packet.data.length
      yield packet
    }
  } catch (error) {
    failure = error
  }
  const seconds = last === null ? 0 : last.timestamp + last.duration
  const missingBefore = last === null ? 0 : unread({ last, seconds, bytes })
  if (missingBefore > leastSeconds) {
    yield { data: new Uint8Array(), timestamp: seconds + missingBefore, duration: 0, ...whole, missingBefore }
  } else if (failure !== null) throw failure
}

/** FLAC (RFC 9639): frames follow each other without anything between. @param told seconds, by its header */
export const unreadFlac =
  (clip: ClipBytes, told: number | null): Unread =>
  ({ last, seconds, bytes }) => {
    const start = flacFramesAt(clip)
    if (start + bytes >= clip.sizeBytes) return 0
    if (told !== null) return told - seconds
    // The last frame is taken to be as long as a frame can be, because the demuxer found no end of it.
    const bytesBefore = bytes - last.data.length
    if (bytesBefore === 0) return ((clip.sizeBytes - start - bytes) * last.duration) / bytes
    return ((clip.sizeBytes - start - bytesBefore) * last.timestamp) / bytesBefore - last.duration
  }

/** Behind the metadata. */
function flacFramesAt(clip: ClipBytes): number {
  let at = pastId3(clip, 0) + 4
  for (let isLast = false; !isLast && at < clip.sizeBytes;) {
    const head = clip.read(at, at + 4)
    isLast = head.length < 4 || head[0]! >= 128
    at += 4 + ((head[1]! << 16) | (head[2]! << 8) | head[3]!)
  }
  return at
}

/**
 * Matroska (RFC 9559): the segment gives its length, in bytes and in time, unless it was written as a live stream.
 * @param told seconds, of the longest track
 */
export const unreadMatroska =
  (clip: ClipBytes, told: number | null): Unread =>
  ({ seconds }) => {
    if (told === null || seconds >= told) return 0
    const end = segmentEnd(clip)
    return end === null || end > clip.sizeBytes ? 0 : told - seconds
  }

/** null: it does not say. */
function segmentEnd(clip: ClipBytes): number | null {
  const header = elementAt(clip, 0)
  if (header?.end == null) return null
  return elementAt(clip, header.end)?.end ?? null
}

/** An element with an id of four bytes (RFC 8794). */
function elementAt(clip: ClipBytes, at: number): { end: number | null } | null {
  const head = clip.read(at + 4, at + 12)
  const length = Math.clz32(head[0] ?? 0) - 23
  if (length > 8 || head.length < length) return null
  let size = head[0]! & (0xff >> length)
  let isUnknown = size === 0xff >> length
  for (const byte of head.subarray(1, length)) {
    size = size * 256 + byte
    isUnknown &&= byte === 0xff
  }
  return { end: isUnknown ? null : at + 4 + length + size }
}

/** MP4 (ISO 14496-12, 4.2): boxes follow each other, each with its length and its name. @param told seconds */
export const unreadMp4 =
  (clip: ClipBytes, told: number | null, fragments: Units): Unread =>
  ({ seconds }) => {
    if (told !== null && seconds >= told) return 0
    const broken = lastBrokenAt(clip, fragments)
    if (broken === null) return 0
    return told === null ? ((clip.sizeBytes - broken) * seconds) / broken : told - seconds
  }

/** Where boxes end before the file does, and no fragment follows; null: they reach its end, or it was cut short. */
function lastBrokenAt(clip: ClipBytes, fragments: Units): number | null {
  for (let at = 0; at + 8 <= clip.sizeBytes;) {
    const head = Buffer.from(clip.read(at, at + 16))
    const size = head.readUInt32BE(0)
    const isBox = /^[a-z0-9 ]{4}$/i.test(head.toString('latin1', 4, 8)) && (size < 2 || size >= 8)
    if (isBox && size === 0) return null
    if (isBox) at += size === 1 && head.length === 16 ? Number(head.readBigUInt64BE(8)) : size
    else {
      const following = fragments.next(at)
      if (following === null) return at
      at = following.at
    }
  }
  return null
}
