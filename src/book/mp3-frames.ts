/**
 * MP3 as a row of frames: how long it lasts, and silence of the same kind. Streams that were encoded one by one are
 * joined by putting their frames in a row, because the first frame of each refers to none before it.
 * Source: ISO/IEC 11172-3, 2.4.1.3, and 13818-3 for the lower rates.
 */

export interface Mp3Stream {
  /** The frames alone, without tags around them. */
  frames: Uint8Array
  seconds: number
  /** Frames without sound, about as long. */
  silence(seconds: number): Uint8Array<ArrayBuffer>
}

interface Header {
  bytes: number
  samples: number
  sampleRateHz: number
}

const kbpsOfVersion1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
const kbpsOfVersion2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
const ratesHz = [44_100, 48_000, 32_000]
const headerBytes = 4

/** @returns null where no frame of layer III begins */
function headerAt(bytes: Uint8Array, at: number): Header | null {
  const [first = 0, second = 0, third = 0] = bytes.subarray(at, at + headerBytes)
  if (first !== 0xff || (second & 0xe6) !== 0xe2) return null
  // 3 is MPEG 1, 2 is MPEG 2, 0 is its extension to lower rates.
  const version = (second >> 3) & 3
  const kbps = (version === 3 ? kbpsOfVersion1 : kbpsOfVersion2)[third >> 4] ?? 0
  const fullRate = ratesHz[(third >> 2) & 3]
  if (version === 1 || kbps === 0 || fullRate === undefined) return null
  const sampleRateHz = version === 3 ? fullRate : fullRate / (version === 2 ? 2 : 4)
  const samples = version === 3 ? 1152 : 576
  const padding = (third >> 1) & 1
  return { bytes: Math.floor((samples / 8) * ((1000 * kbps) / sampleRateHz)) + padding, samples, sampleRateHz }
}

/** @throws Error when there is no whole frame in it */
export function mp3Stream(bytes: Uint8Array): Mp3Stream {
  const from = tagBytes(bytes)
  const first = headerAt(bytes, from)
  if (first === null) throw new Error('The server sent something else than MP3.')
  let at = from
  let samples = 0
  for (let header: Header | null = first; header !== null && at + header.bytes <= bytes.length;) {
    at += header.bytes
    samples += header.samples
    header = headerAt(bytes, at)
  }
  const still = stillFrame(bytes.subarray(from, from + headerBytes), first)
  const frameSeconds = first.samples / first.sampleRateHz
  return {
    frames: bytes.subarray(from, at),
    seconds: samples / first.sampleRateHz,
    silence(seconds) {
      const count = Math.max(0, Math.round(seconds / frameSeconds))
      const row = new Uint8Array(count * still.length)
      for (let index = 0; index < count; index++) row.set(still, index * still.length)
      return row
    },
  }
}

/** All zeros behind the header mean no sound; its length is that without padding. */
function stillFrame(header: Uint8Array, { bytes }: Header): Uint8Array {
  const padding = ((header[2] ?? 0) >> 1) & 1
  const frame = new Uint8Array(bytes - padding)
  frame.set(header)
  // Without a checksum, and without padding.
  frame[1] = (header[1] ?? 0) | 1
  frame[2] = (header[2] ?? 0) & ~2
  return frame
}

/** An ID3 tag in front: its size is in 28 bits, 7 in each byte. */
function tagBytes(bytes: Uint8Array): number {
  if (bytes[0] !== 0x49 || bytes[1] !== 0x44 || bytes[2] !== 0x33) return 0
  return 10 + bytes.subarray(6, 10).reduce((sum, byte) => (sum << 7) | (byte & 0x7f), 0)
}
