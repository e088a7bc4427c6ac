/**
 * Packets of Ogg (RFC 3533): pages with a checksum, each stating how much audio there is up to its end. What is between
 * two pages is given up, with what began in the first and would have ended there. A page with a wrong checksum in the
 * right place is accepted: a second of words is worth more than avoiding a moment of noise.
 */
import { type Packet, whole } from './packet.ts'
import type { ClipBytes } from './source.ts'
import { oggChecksum, oggLast } from '../encode/ogg.ts'

const headBytes = 27
const maxPageBytes = headBytes + 255 + 255 * 255
const scanBytes = 131_072
const continued = 1

interface Page {
  flags: number
  /** Samples up to the end of the last packet that ends here; null: none does. */
  granule: number | null
  serial: number
  sequence: number
  /** Sizes of the pieces of packets; a packet ends with the first piece below 255. */
  lacing: Uint8Array
  data: Uint8Array
  end: number
  isSound: boolean
  /** Whether this page is followed by another one, or by the end of the file. */
  isFollowed: boolean
}

interface Found {
  at: number
  page: Page
}

/** Start of the stream's first packet, and of its other headers. */
const signatures: Readonly<Record<string, readonly string[]>> = {
  opus: ['OpusHead', 'OpusTags'],
  vorbis: ['\x01vorbis', '\x03vorbis', '\x05vorbis'],
}

/** Packets of the first stream with this codec, without its headers. @param granulesHz granules per second */
export function* oggPacketsOf(clip: ClipBytes, codec: string, granulesHz: number): Generator<Packet> {
  const headers = signatures[codec] ?? []
  let serial: number | null = null
  let packets: Packets | null = null
  let last: Page | null = null
  let granule: number | null = null
  let found = findPage(clip, 0)
  for (let at = 0; found !== null; found = findPage(clip, at)) {
    const { page }: Found = found
    const isPlausible = page.isFollowed && (packets === null || packets.expects(page))
    const isTaken = page.isSound || isPlausible
    at = isTaken ? page.end : found.at + 4
    if (!isTaken) continue
    if (serial === null && startsWith(page.data, headers[0] ?? '')) serial = page.serial
    if (page.serial !== serial) continue
    packets ??= new Packets(granulesHz, serial)
    granule = page.granule ?? granule
    last = { ...page, granule }
    for (const packet of packets.of(page)) {
      if (!headers.some((signature) => startsWith(packet.data, signature))) yield packet
    }
  }
  if (last !== null && !endsBehind(clip, last)) yield unread(clip, last, granulesHz)
}

/** Whether that was the stream's last page, or the next one was cut short with the file. */
function endsBehind(clip: ClipBytes, { flags, end }: Page): boolean {
  const head = clip.read(end, end + headBytes + 255)
  const isPage = startsWith(head, 'OggS') || head.length < headBytes
  return (flags & oggLast) !== 0 || (isPage && end + pageSize(head) > clip.sizeBytes)
}

/** Stands for the rest of the file, judged by its bytes, because the pages that gave its length are gone. */
function unread(clip: ClipBytes, { end, granule }: Page, granulesHz: number): Packet {
  const seconds = (granule ?? 0) / granulesHz
  const missingBefore = ((clip.sizeBytes - end) * seconds) / end
  return { data: new Uint8Array(), timestamp: 0, duration: 0, missingBefore, endsAt: seconds + missingBefore }
}

/** At least, where the head itself is cut short. */
function pageSize(head: Uint8Array): number {
  const lacing = head.subarray(headBytes, headBytes + (head[26] ?? 0))
  return head.length < headBytes ? headBytes : headBytes + head[26]! + lacing.reduce((sum, piece) => sum + piece, 0)
}

const startsWith = (data: Uint8Array, signature: string): boolean =>
  String.fromCharCode(...data.subarray(0, signature.length)) === signature

class Packets {
  readonly #granulesHz: number
  readonly #serial: number
  #pieces: Uint8Array[] = []
  #lastSequence: number | null = null
  #isMissing = false

  constructor(granulesHz: number, serial: number) {
    this.#granulesHz = granulesHz
    this.#serial = serial
  }

  /** Whether this is the next page by everything it states. */
  expects({ serial, sequence }: Page): boolean {
    return serial === this.#serial && sequence === (this.#lastSequence ?? -1) + 1
  }

  *of(page: Page): Generator<Packet> {
    if (this.#lastSequence !== null && page.sequence !== this.#lastSequence + 1) {
      this.#isMissing = true
      // What has begun will never end.
      this.#pieces = []
    }
    this.#lastSequence = page.sequence
    // The start of the packet that this page continues is lost.
    let isOrphan = (page.flags & continued) !== 0 && this.#pieces.length === 0
    if ((page.flags & continued) === 0) this.#pieces = []
    const lastEnd = page.lacing.findLastIndex((size) => size < 255)
    let at = 0
    for (const [index, size] of page.lacing.entries()) {
      this.#pieces.push(page.data.subarray(at, at + size))
      at += size
      if (size === 255) continue
      const data = Buffer.concat(this.#pieces)
      this.#pieces = []
      if (isOrphan) isOrphan = false
      else if (data.length > 0) yield this.#packet(data, index === lastEnd ? page : null)
    }
    if (isOrphan) this.#pieces = []
  }

  #packet(data: Uint8Array, last: Page | null): Packet {
    const endsAt = last === null || last.granule === null ? null : last.granule / this.#granulesHz
    const missingBefore = this.#isMissing ? null : 0
    this.#isMissing = false
    return { data, timestamp: 0, duration: 0, ...whole, missingBefore, endsAt }
  }
}

/** Anything that looks like a page, of any stream. */
function findPage(clip: ClipBytes, from: number): Found | null {
  for (let at = from; at < clip.sizeBytes;) {
    const window = clip.read(at, at + scanBytes)
    const found = Buffer.from(window.buffer, window.byteOffset, window.length).indexOf('OggS')
    if (found < 0) {
      at += Math.max(1, window.length - 3)
      continue
    }
    const page = pageAt(clip, at + found)
    if (page !== null) return { at: at + found, page }
    at += found + 4
  }
  return null
}

function pageAt(clip: ClipBytes, at: number): Page | null {
  const head = clip.read(at, at + headBytes + 255)
  if (head.length < headBytes || head[4] !== 0) return null
  const lacing = head.slice(headBytes, headBytes + head[26]!)
  const size = headBytes + lacing.length + lacing.reduce((sum, piece) => sum + piece, 0)
  const bytes = clip.read(at, at + Math.min(size, maxPageBytes)).slice()
  if (bytes.length < size) return null
  const view = new DataView(bytes.buffer)
  const checksum = view.getUint32(22, true)
  view.setUint32(22, 0, true)
  const isSound = oggChecksum(bytes) === checksum
  const granule = view.getBigInt64(6, true)
  return {
    flags: bytes[5]!,
    granule: granule < 0n || !isSound ? null : Number(granule),
    serial: view.getUint32(14, true),
    sequence: view.getUint32(18, true),
    lacing,
    data: bytes.subarray(headBytes + lacing.length),
    end: at + size,
    isSound,
    isFollowed: at + size === clip.sizeBytes || startsWith(clip.read(at + size, at + size + 4), 'OggS'),
  }
}
