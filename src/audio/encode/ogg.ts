/**
 * Ogg pages and the two header packets of Opus in Ogg, by hand: a page for each call keeps the delay low, which muxers
 * do not. RFC 3533 (pages), RFC 7845 (Opus: granule positions are always at 48 kHz).
 */

/** Flags of a page. */
export const oggFirst = 2
export const oggLast = 4

const headerBytes = 27
const maxSegments = 255
const polynomial = 0x04c11db7

const crcTable = new Uint32Array(256).map((_, byte) => {
  let remainder = byte << 24
  for (let bit = 0; bit < 8; bit++) remainder = remainder < 0 ? (remainder << 1) ^ polynomial : remainder << 1
  return remainder
})

export interface OggPage {
  /** Names the stream; streams that are concatenated must have different ones. */
  serial: number
  /** Counts the pages from 0. */
  sequence: number
  /** Samples at 48 kHz that have ended when this page has, pre-skip included. */
  granule: number
  flags: number
  packets: readonly Uint8Array[]
}

/** @throws RangeError when the packets need more than the 255 segments of one page */
export function oggPage(page: OggPage): Uint8Array<ArrayBuffer> {
  const segments: number[] = []
  for (const packet of page.packets) {
    for (let left = packet.length; ; left -= maxSegments) {
      segments.push(Math.min(left, maxSegments))
      if (left < maxSegments) break
    }
  }
  if (segments.length > maxSegments) throw new RangeError(`${segments.length} segments do not fit into an Ogg page`)
  const bodyBytes = segments.reduce((sum, segment) => sum + segment, 0)
  const bytes = new Uint8Array(headerBytes + segments.length + bodyBytes)
  const view = new DataView(bytes.buffer)
  bytes.set(new TextEncoder().encode('OggS'))
  bytes[5] = page.flags
  view.setBigInt64(6, BigInt(page.granule), true)
  view.setUint32(14, page.serial, true)
  view.setUint32(18, page.sequence, true)
  bytes[26] = segments.length
  bytes.set(segments, headerBytes)
  let at = headerBytes + segments.length
  for (const packet of page.packets) {
    bytes.set(packet, at)
    at += packet.length
  }
  view.setUint32(22, oggChecksum(bytes), true)
  return bytes
}

/** Over the page with its checksum field zero; not the CRC-32 of zip: bits in the other order, no inversion. */
export function oggChecksum(bytes: Uint8Array): number {
  let crc = 0
  for (let i = 0; i < bytes.length; i++) crc = (crc << 8) ^ crcTable[(crc >>> 24) ^ bytes[i]!]!
  return crc >>> 0
}

/**
 * Identification header of a mono stream.
 * @param preSkip samples at 48 kHz that a decoder drops at the start
 * @param inputRateHz informative only
 */
export function opusHead(preSkip: number, inputRateHz: number): Uint8Array {
  const packet = new Uint8Array(19)
  const view = new DataView(packet.buffer)
  packet.set(new TextEncoder().encode('OpusHead'))
  packet[8] = 1
  packet[9] = 1
  view.setUint16(10, preSkip, true)
  view.setUint32(12, inputRateHz, true)
  return packet
}

/** Comment header: a vendor and no comments. */
export function opusTags(vendor: string): Uint8Array {
  const name = new TextEncoder().encode(vendor)
  const packet = new Uint8Array(16 + name.length)
  packet.set(new TextEncoder().encode('OpusTags'))
  new DataView(packet.buffer).setUint32(8, name.length, true)
  packet.set(name, 12)
  return packet
}
