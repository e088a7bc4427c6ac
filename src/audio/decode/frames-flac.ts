/**
 * Frames of FLAC (RFC 9639, section 9). None says how long it is: it ends where the next begins, whose header has a
 * checksum and tells which samples follow. A frame whose successor's header is damaged is given up with it, and how
 * much is missing is known to the sample.
 */
import { type Packet, whole } from './packet.ts'
import { type ClipBytes, pastId3 } from './source.ts'

const maxHeaderBytes = 16
const scanBytes = 65_536
/** A header that claims to be further ahead is a chance likeness. */
const believedSeconds = 600

interface Header {
  /** Of the first sample, in the whole stream. */
  position: number
  samples: number
}

export function* flacFramesOf(clip: ClipBytes, sampleRateHz: number): Generator<Packet> {
  const stream = streamOf(clip)
  let expected = 0
  let current = findHeader(clip, stream, stream.startsAt, 0, sampleRateHz)
  while (current !== null) {
    const { at, position, samples } = current
    const end = position + samples
    const following = findHeader(clip, stream, at + maxHeaderBytes / 2, end, sampleRateHz)
    // Between the two may be one frame, or what is left of several.
    if (following === null || following.position === end) {
      yield {
        data: clip.read(at, following?.at ?? Math.min(clip.sizeBytes, at + stream.maxFrameBytes)).slice(),
        timestamp: position / sampleRateHz,
        duration: samples / sampleRateHz,
        ...whole,
        missingBefore: (position - expected) / sampleRateHz,
      }
      expected = end
    }
    current = following
  }
}

interface Stream {
  startsAt: number
  isVariable: boolean
  /** Of every frame but the last, where all are alike. */
  blockSamples: number
  maxFrameBytes: number
  rateCodeHz: number
}

/** Behind the metadata, of which the first block describes the stream. @throws Error when it is damaged */
function streamOf(clip: ClipBytes): Stream {
  const begin = pastId3(clip, 0) + 4
  const info = clip.read(begin + 4, begin + 4 + 34)
  const blockSamples = (info[2]! << 8) | info[3]!
  const rateCodeHz = (info[10]! << 12) | (info[11]! << 4) | (info[12]! >> 4)
  const channels = ((info[12]! >> 1) & 7) + 1
  let at = begin
  for (let isLast = false; !isLast;) {
    const head = clip.read(at, at + 4)
    if (head.length < 4) throw new Error('the metadata of FLAC is cut short')
    isLast = head[0]! >= 128
    at += 4 + ((head[1]! << 16) | (head[2]! << 8) | head[3]!)
  }
  const isVariable = ((clip.read(at, at + 2)[1] ?? 0) & 1) === 1
  return {
    startsAt: at,
    isVariable,
    blockSamples,
    rateCodeHz,
    maxFrameBytes: maxHeaderBytes + 2 + 65_535 * channels * 4,
  }
}

/** The first header from there on whose samples are those, or later ones. */
function findHeader(
  clip: ClipBytes,
  stream: Stream,
  from: number,
  position: number,
  sampleRateHz: number,
): (Header & { at: number }) | null {
  const latest = position + believedSeconds * sampleRateHz
  for (let at = from; at < clip.sizeBytes;) {
    const window = clip.read(at, at + scanBytes)
    const found = window.indexOf(0xff)
    if (found < 0) {
      at += window.length
      continue
    }
    at += found
    const header = headerOf(clip.read(at, at + maxHeaderBytes), stream)
    if (header !== null && header.position >= position && header.position <= latest) return { ...header, at }
    at++
  }
  return null
}

/** RFC 9639, 9.1. */
function headerOf(bytes: Uint8Array, { isVariable, blockSamples, rateCodeHz }: Stream): Header | null {
  if (bytes.length < 6 || bytes[0] !== 0xff || bytes[1] !== (isVariable ? 0xf9 : 0xf8)) return null
  const sizeCode = bytes[2]! >> 4
  const rateCode = bytes[2]! & 15
  if (sizeCode === 0 || rateCode === 15 || bytes[3]! >> 4 > 10 || (bytes[3]! & 1) !== 0) return null
  const coded = codedNumber(bytes)
  if (coded === null) return null
  let at = coded.end
  const sizeBytes = sizeCode === 6 ? 1 : sizeCode === 7 ? 2 : 0
  const samples = sizeBytes === 0 ? commonSize(sizeCode) : 1 + bigEndian(bytes, at, sizeBytes)
  at += sizeBytes
  const rateBytes = rateCode < 12 ? 0 : rateCode === 12 ? 1 : 2
  const rateScale = rateCode === 12 ? 1000 : rateCode === 14 ? 10 : 1
  if (rateBytes > 0 && bigEndian(bytes, at, rateBytes) * rateScale !== rateCodeHz) return null
  at += rateBytes
  if (at >= bytes.length || crc8(bytes, at) !== bytes[at]) return null
  return { position: isVariable ? coded.value : coded.value * blockSamples, samples }
}

const commonSize = (code: number): number => (code === 1 ? 192 : code < 6 ? 576 << (code - 2) : 256 << (code - 8))

/** As UTF-8 writes characters, up to 36 bits (9.1.5). */
function codedNumber(bytes: Uint8Array): { value: number; end: number } | null {
  const first = bytes[4]!
  if (first < 0x80) return { value: first, end: 5 }
  const more = Math.clz32(~(first << 24)) - 1
  if (more < 1 || more > 6 || bytes.length < 5 + more) return null
  let value = first & (0x3f >> more)
  for (let i = 0; i < more; i++) {
    const byte = bytes[5 + i]!
    if (byte >> 6 !== 2) return null
    value = value * 64 + (byte & 63)
  }
  return { value, end: 5 + more }
}

function bigEndian(bytes: Uint8Array, at: number, count: number): number {
  let value = 0
  for (let i = 0; i < count; i++) value = value * 256 + (bytes[at + i] ?? 0)
  return value
}

/** Polynomial x^8 + x^2 + x + 1 (9.1.8). */
function crc8(bytes: Uint8Array, length: number): number {
  let crc = 0
  for (let i = 0; i < length; i++) {
    crc ^= bytes[i]!
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & 0x80 ? 0x07 : 0)) & 0xff
  }
  return crc
}
