/** Opus, by libopus. */
import { createDecoder } from 'libopus-wasm'
import { nothing, type PacketDecoder, planesOf, type StreamFacts } from './planes.ts'

const opusRateHz = 48000

/** Always at 48 kHz, whatever the header says of the input. A stream of more than two channels is several streams. */
export async function openOpus({ channels }: StreamFacts): Promise<PacketDecoder> {
  const count = channels === 1 ? 1 : 2
  const decoder = await createDecoder({ channels: count, sampleRate: opusRateHz })
  return {
    decode: (packet) => ({ channels: planesOf(decoder.decodeFloat(packet), count), sampleRateHz: opusRateHz }),
    finish: () => nothing,
  }
}
