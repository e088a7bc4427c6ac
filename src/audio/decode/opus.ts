/**
 * Opus, by libopus. Its WebAssembly is called directly, because the package's own decoders share one memory in a
 * thread: what a hostile file did to it would reach the next file.
 */
import openLibopus from '../../../node_modules/libopus-wasm/dist/generated/libopus.generated.mjs'
import { nothing, type PacketDecoder, type Planes, planesOf, type StreamFacts } from './planes.ts'

const opusRateHz = 48000
/** A packet lasts 120 ms at most (RFC 6716, 3.2.5). */
const mostSamples = 0.12 * opusRateHz
/** 48 frames of 1,275 bytes and what precedes them (RFC 6716, 3.4). */
const mostBytes = 65_536
const floatBytes = Float32Array.BYTES_PER_ELEMENT

/**
 * Always at 48 kHz, whatever the header says of the input. A stream of more than two channels is several streams.
 * @throws Error when there is no memory
 */
export async function openOpus({ channels }: StreamFacts): Promise<PacketDecoder> {
  const count = channels === 1 ? 1 : 2
  const opus = await openLibopus()
  const decoder = opus._oc_create_decoder(opusRateHz, count, 0)
  const packetAt = opus._malloc(mostBytes)
  const soundAt = opus._malloc(mostSamples * count * floatBytes)
  if (decoder === 0 || packetAt === 0 || soundAt === 0) throw new Error('libopus has no memory')
  const decode = (packet: Uint8Array): Planes => {
    if (packet.length === 0 || packet.length > mostBytes) throw new Error(`an Opus packet of ${packet.length} bytes`)
    opus.HEAPU8.set(packet, packetAt)
    const samples = opus._oc_decode_float(decoder, packetAt, packet.length, soundAt, mostSamples, 0)
    if (samples < 0) throw new Error(opus.UTF8ToString(opus._oc_strerror(samples)))
    const from = soundAt / floatBytes
    const sound = opus.HEAPF32.subarray(from, from + samples * count)
    return { channels: planesOf(sound, count), sampleRateHz: opusRateHz }
  }
  return { decode, finish: () => nothing }
}
