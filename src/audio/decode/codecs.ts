/**
 * Turns packets into samples: one decoder per codec, all WebAssembly, driven packet by packet so that a limit holds
 * while decoding. The packages' own functions for whole files are not used: they have no limit.
 */
import { createDecoder } from 'libopus-wasm'
import { _FLACDecoder as FlacDecoder } from '../../../node_modules/@wasm-audio-decoders/flac/src/FLACDecoder.js'
import MpegDecoder from '../../../node_modules/mpg123-decoder/src/MPEGDecoder.js'
import { openAac } from './aac.ts'
import { nothing, type PacketDecoder, planesOf, type StreamFacts } from './planes.ts'
import { openVorbis } from './vorbis.ts'

const opusRateHz = 48000

/** @returns null if no decoder exists for it; plain PCM needs none */
export async function openPacketDecoder(facts: StreamFacts): Promise<PacketDecoder | null> {
  switch (facts.codec) {
    case 'mp3':
      return openMp3(facts)
    case 'flac':
      return openFlac()
    case 'opus':
      return openOpus(facts)
    case 'vorbis':
      return openVorbis(facts)
    case 'aac':
      return openAac(facts)
    default:
      return null
  }
}

/**
 * The package's loop has no end once mpg123 reports an error that it does not know: it prints it and asks again. The
 * only way out of it is through what it prints.
 */
async function openMp3({ channels }: StreamFacts): Promise<PacketDecoder> {
  const decoder = new MpegDecoder({ enableGapless: false })
  await decoder.ready
  return {
    decode(packet) {
      const { error } = console
      console.error = throwLine
      try {
        const { channelData, sampleRate } = decoder.decodeFrame(packet)
        // Two come out in any case, of which the second is a copy when there is one.
        return { channels: channelData.slice(0, channels), sampleRateHz: sampleRate }
      } finally {
        console.error = error
      }
    },
    finish: () => nothing,
  }
}

const throwLine = (line: unknown): never => {
  throw new Error(String(line))
}

/** A frame that lost bytes can leave the decoder in a state in which it takes everything and gives nothing. */
async function openFlac(): Promise<PacketDecoder> {
  const decoder = new FlacDecoder()
  await decoder.ready
  return {
    async decode(packet) {
      const { channelData, sampleRate, samplesDecoded, errors } = decoder.decodeFrames([packet])
      if (errors.length === 0 && samplesDecoded > 0) return { channels: channelData, sampleRateHz: sampleRate }
      await decoder.reset()
      throw new Error(errors[0]?.message ?? 'the frame gave no samples')
    },
    finish: () => nothing,
  }
}

/** Always at 48 kHz, whatever the header says of the input. A stream of more than two channels is several streams. */
async function openOpus({ channels }: StreamFacts): Promise<PacketDecoder> {
  const count = channels === 1 ? 1 : 2
  const decoder = await createDecoder({ channels: count, sampleRate: opusRateHz })
  return {
    decode: (packet) => ({ channels: planesOf(decoder.decodeFloat(packet), count), sampleRateHz: opusRateHz }),
    finish: () => nothing,
  }
}

/** Samples at 48 kHz that an Opus decoder throws away at the start: bytes 10 and 11 of OpusHead (RFC 7845, 5.1). */
export function opusPreSkip(description: Uint8Array | null): number {
  if (description === null || description.length < 12) return 0
  return new DataView(description.buffer, description.byteOffset).getUint16(10, true)
}
