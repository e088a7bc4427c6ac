/** Describes what the decoders have in common: a packet in, samples per channel out. */

/** Samples of a stretch, one array of equal length for each channel. */
export interface Planes {
  channels: readonly Float32Array[]
  sampleRateHz: number
  /** Packets that could not be decoded; silence replaces them. */
  broken?: number
}

export interface PacketDecoder {
  /** @returns what is ready, in buffers of its own; possibly nothing @throws Error when the packet is damaged */
  decode(packet: Uint8Array): Planes | Promise<Planes>
  /** The remaining samples of the packets so far; more packets may follow. */
  finish(): Planes | Promise<Planes>
}

export interface StreamFacts {
  codec: string
  channels: number
  sampleRateHz: number
  /** The codec's own header, as the container keeps it. */
  description: Uint8Array | null
}

/** Takes interleaved samples apart, into buffers of their own. */
export function planesOf(interleaved: Float32Array, channels: number): Float32Array[] {
  const length = Math.floor(interleaved.length / channels)
  return Array.from({ length: channels }, (_, channel) => {
    const plane = new Float32Array(length)
    for (let i = 0; i < length; i++) plane[i] = interleaved[i * channels + channel]!
    return plane
  })
}

export const nothing: Planes = { channels: [], sampleRateHz: 0 }
