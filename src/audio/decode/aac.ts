/**
 * AAC by FFmpeg's decoder inside audio-file-decoder. That package reads files whole, so it is given ADTS streams of
 * our own making, a stretch at a time: its demuxers never see what a client sent, and a limit holds.
 *
 * It gives nothing for the first packet of a file, and the second is not right yet because it overlaps with that one.
 * So each stretch is led by the two packets before it (the very first by itself, twice): what comes out for the rest
 * is to the last bit what one pass over the whole would give. A stretch with a broken packet fails as a whole; it is
 * halved until the packet is found.
 */
import wasm from 'audio-file-decoder/decode-audio.wasm' with { type: 'file' }
import { AudioDecoder, getAudioDecoder } from 'audio-file-decoder'
import { unpacked } from '../../embedded/packed.ts'
import { nothing, type PacketDecoder, type Planes, planesOf, type StreamFacts } from './planes.ts'
import { concatBytes, concatFloats } from '../pcm.ts'

/** About 9 s at 44.1 kHz. */
const stretchPackets = 400
const leadPackets = 2
const headerBytes = 7
/** Each leaves its memory to the thread. */
const maxCrashes = 5
const maxFrameBytes = 8191

const packetSamples = 1024
const maxRateIndex = 12
const objectTypeSbr = 5
const objectTypePs = 29
/** Six more bits follow, which count from 32. */
const objectTypeEscape = 31
const objectTypeUsac = 42

interface AdtsConfig {
  /** MPEG-4 audio object type less 1: 0 Main, 1 LC, 2 SSR, 3 LTP. */
  profile: number
  /** Rates in the order of the standard's table, 96,000 Hz first. */
  rateIndex: number
  channels: number
}

/** @throws UnsupportedAac, Error when the header is damaged */
export async function openAac({ description }: StreamFacts): Promise<PacketDecoder> {
  const config = description === null ? null : configOf(description)
  const decode = await openStretches()
  let lead: Uint8Array[] = []
  let fresh: Uint8Array[] = []
  const parts = async (frames: readonly Uint8Array[]): Promise<Planes[]> => {
    const led = [...lead]
    while (led.length < leadPackets) led.unshift(led[0] ?? frames[0]!)
    const planes = await decode([...led, ...frames], frames.length).catch(() => null)
    if (planes !== null) {
      lead = [...lead, ...frames].slice(-leadPackets)
      return [planes]
    }
    if (frames.length === 1) return [{ ...nothing, broken: 1 }]
    const half = frames.length >> 1
    return [...(await parts(frames.slice(0, half))), ...(await parts(frames.slice(half)))]
  }
  const flush = async (): Promise<Planes> => {
    const stretch = fresh
    fresh = []
    return stretch.length === 0 ? nothing : joined(await parts(stretch), stretch.length)
  }
  return {
    decode(packet) {
      fresh.push(config === null ? packet : withHeader(packet, config))
      return fresh.length === stretchPackets ? flush() : nothing
    },
    finish: flush,
  }
}

/** One stretch, with silence for broken packets. */
function joined(parts: readonly Planes[], packets: number): Planes {
  const broken = parts.reduce((sum, part) => sum + (part.broken ?? 0), 0)
  const whole = parts.find(({ channels }) => channels.length > 0)
  if (whole === undefined) return { ...nothing, broken }
  const { sampleRateHz } = whole
  const samples = parts.reduce((sum, { channels }) => sum + (channels[0]?.length ?? 0), 0)
  const silence = new Float32Array(Math.round(samples / (packets - broken)))
  const channels = whole.channels.map((_, channel) =>
    concatFloats(parts.map((part) => part.channels[channel] ?? part.channels[0] ?? silence)),
  )
  return { channels, sampleRateHz, broken }
}

export class UnsupportedAac extends Error {}

/** @returns decodes ADTS frames and gives what the last `wanted` of them hold */
async function openStretches(): Promise<(frames: readonly Uint8Array[], wanted: number) => Promise<Planes>> {
  // The package fetches its WebAssembly, and inside the executable nothing else than a data address can be fetched.
  const url = `data:application/wasm;base64,${Buffer.from(await unpacked(wasm)).toString('base64')}`
  let build: unknown = null
  let crashes = 0
  return async (frames, wanted) => {
    if (crashes > maxCrashes) throw new Error('FFmpeg crashed too often in this file')
    const file = concatBytes(frames).buffer
    try {
      const decoder = build === null ? await getAudioDecoder(url, file) : new AudioDecoder(build, file)
      // Compiled once; the package has no other way to give the same module a second file.
      build = decoder['_module']
      return stretchOf(decoder, frames.length, wanted)
    } catch (error) {
      // A decoder that has crashed cannot be trusted with another file.
      if (error instanceof WebAssembly.RuntimeError) {
        build = null
        crashes++
      }
      throw error
    }
  }
}

function stretchOf(decoder: AudioDecoder, frames: number, wanted: number): Planes {
  try {
    const { sampleRate: sampleRateHz, channelCount } = decoder
    const all = planesOf(decoder.decodeAudioData(0, -1, { multiChannel: true }), channelCount)
    const length = all[0]?.length ?? 0
    // With spectral band replication (HE-AAC) a packet has twice as many, at twice the rate.
    const perPacket = length > packetSamples * frames ? 2 * packetSamples : packetSamples
    // FFmpeg drops some broken packets without an error.
    if (length < wanted * perPacket) throw new Error('an AAC packet gave no samples')
    return { channels: all.map((plane) => plane.slice(length - wanted * perPacket)), sampleRateHz }
  } finally {
    decoder.dispose()
  }
}

/**
 * Parses an AudioSpecificConfig (ISO 14496-3, 1.6.2.1): five bits of object type, four of rate, four of channels.
 * HE-AAC states its core after that; a decoder finds the rest in the packets themselves.
 */
function configOf(description: Uint8Array): AdtsConfig {
  const bits = [...description.subarray(0, 5)].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const take = (from: number, count: number): number => Number.parseInt(bits.slice(from, from + count), 2)
  const objectType = take(0, 5) === objectTypeEscape ? 32 + take(5, 6) : take(0, 5)
  const rateIndex = take(5, 4)
  const channels = take(9, 4)
  const isHighEfficiency = objectType === objectTypeSbr || objectType === objectTypePs
  if (!isHighEfficiency && !(objectType >= 1 && objectType <= 4)) {
    throw new UnsupportedAac(objectType === objectTypeUsac ? 'xHE-AAC' : `AAC of object type ${objectType}`)
  }
  if (!(rateIndex <= maxRateIndex)) throw new UnsupportedAac('AAC at an unusual sample rate')
  if (!(channels >= 1 && channels <= 7)) throw new UnsupportedAac('AAC with channels of its own order')
  return { profile: isHighEfficiency ? 1 : objectType - 1, rateIndex, channels }
}

/** ADTS (ISO 14496-3, 1.A.2.2): sync, no checksum, one frame. */
function withHeader(packet: Uint8Array, { profile, rateIndex, channels }: AdtsConfig): Uint8Array {
  const size = packet.length + headerBytes
  if (size > maxFrameBytes) throw new Error('an AAC packet is too large')
  const header = Uint8Array.of(
    0xff,
    0xf1,
    (profile << 6) | (rateIndex << 2) | (channels >> 2),
    ((channels & 3) << 6) | (size >> 11),
    (size >> 3) & 0xff,
    ((size & 7) << 5) | 0x1f,
    0xfc,
  )
  return concatBytes([header, packet])
}
