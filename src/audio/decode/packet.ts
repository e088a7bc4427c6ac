/** Describes what demuxers return, and what is known about audio missing between two packets. */

export interface Packet {
  /** Empty where only what is missing before it is known. */
  data: Uint8Array
  /** In seconds; below 0 if it only starts the decoder. */
  timestamp: number
  /** In seconds: how much silence replaces it if it cannot be decoded. */
  duration: number
  /** Seconds of audio missing before it; null: perhaps some, and the next `endsAt` says how many. */
  missingBefore: number | null
  /** End of this packet's audio within the whole stream, in seconds, if the container states it. */
  endsAt: number | null
}

/** For an audio file. */
export const whole = { missingBefore: 0, endsAt: null } as const

/** Times are rounded, and packets of a stream need not be of one length. */
const leastGapSeconds = 0.25
/** A frame of FLAC at a low rate. */
const longestPacketSeconds = 2
/** A time that is further ahead is damaged itself. */
const believedSeconds = 60

/** What a demuxer reports about each packet. */
export type Timed = Pick<Packet, 'data' | 'timestamp' | 'duration'>

/** Of a container whose packets follow each other without a gap. */
export async function* withoutGaps(packets: AsyncIterable<Timed>): AsyncGenerator<Packet> {
  for await (const { data, timestamp, duration } of packets) yield { data, timestamp, duration, ...whole }
}

/** For a container that states the time of every packet: missing audio shows as a jump. */
export async function* withGaps(packets: AsyncIterable<Timed>): AsyncGenerator<Packet> {
  let last: number | null = null
  let usual = 0
  for await (const { data, timestamp, duration: given } of packets) {
    const step = last === null ? 0 : timestamp - last
    if (usual === 0 && given > 0) usual = Math.min(given, longestPacketSeconds)
    const isGap = step - usual > leastGapSeconds
    const missing = isGap && step < believedSeconds ? step - usual : 0
    if (!isGap && step > 0) usual = step
    last = timestamp
    const duration = isGap || step <= 0 || given <= 0 ? usual : Math.min(given, believedSeconds)
    yield { data, timestamp, duration, ...whole, missingBefore: missing }
  }
}
