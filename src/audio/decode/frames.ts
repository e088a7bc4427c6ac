/**
 * Frames of a stream that consists only of frames: each states its length, and the next follows it. Where none follows,
 * the stream is damaged and continues at the next place where two frames follow each other. The number of lost bytes
 * says how much audio was lost.
 */
import { type FrameHeader, headerBytes, type ReadHeader } from './frame-headers.ts'
import { type Packet, whole } from './packet.ts'
import { type ClipBytes, pastId3 } from './source.ts'

const scanBytes = 65_536

/** @param readHeader of this stream only */
export function* framesOf(clip: ClipBytes, readHeader: ReadHeader, sampleRateHz: number): Generator<Packet> {
  const frames = new Frames(clip, readHeader)
  let missingBytes = 0
  let samples = 0
  let sizes = 0
  let count = 0
  for (let at = frames.next(frames.pastTags(0)); at !== null;) {
    const header = frames.at(at)!
    const [end, following] = frames.endOf(at, header)
    if (end > clip.sizeBytes) return
    if (!header.isIndex) {
      const duration = header.samples / sampleRateHz
      const missing = count === 0 ? 0 : Math.floor(missingBytes / (sizes / count)) * duration
      missingBytes = 0
      const data = clip.read(at, end).slice()
      yield { data, timestamp: samples / sampleRateHz, duration, ...whole, missingBefore: missing }
      samples += header.samples + Math.round(missing * sampleRateHz)
      sizes += header.sizeBytes
      count++
    }
    if (following !== null) missingBytes += Math.max(0, following - frames.pastTags(end))
    at = following
  }
}

class Frames {
  readonly #clip: ClipBytes
  readonly #readHeader: ReadHeader

  constructor(clip: ClipBytes, readHeader: ReadHeader) {
    this.#clip = clip
    this.#readHeader = readHeader
  }

  at(position: number): FrameHeader | null {
    return this.#readHeader(this.#clip.read(position, position + headerBytes))
  }

  /** Position after ID3 tags, which also occur in the middle of joined files. */
  pastTags(position: number): number {
    return pastId3(this.#clip, position)
  }

  /** @returns where the first frame begins that another follows, or the end of the file; from there on */
  next(from: number): number | null {
    const { sizeBytes } = this.#clip
    for (let at = from; at < sizeBytes;) {
      const window = this.#clip.read(at, at + scanBytes)
      const found = window.indexOf(0xff)
      if (found < 0) at += window.length
      else if (this.#isFollowed(at + found)) return at + found
      else at += found + 1
    }
    return null
  }

  /** @returns the end of the frame, and the start of the next one; null: there is none */
  endOf(at: number, { sizeBytes }: FrameHeader): [number, number | null] {
    const end = at + sizeBytes
    const follower = this.pastTags(end)
    if (follower < this.#clip.sizeBytes && this.at(follower) !== null) return [end, follower]
    if (end >= this.#clip.sizeBytes) return [end, null]
    // Its size may be what is damaged.
    const following = this.next(at + 4)
    return [following === null ? end : Math.min(end, following), following]
  }

  #isFollowed(at: number): boolean {
    const header = this.at(at)
    if (header === null) return false
    const end = this.pastTags(at + header.sizeBytes)
    return end === this.#clip.sizeBytes || this.at(end) !== null
  }
}
