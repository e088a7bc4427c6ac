/**
 * Vorbis, through the packet decoder inside @wasm-audio-decoders/ogg-vorbis: what the package exports reads Ogg itself,
 * page by page and without a limit.
 */
import { Decoder } from '../../../node_modules/@wasm-audio-decoders/ogg-vorbis/src/OggVorbisDecoder.js'
import { nothing, type PacketDecoder, type StreamFacts } from './planes.ts'

/** @throws Error when the headers are damaged */
export async function openVorbis({ description }: StreamFacts): Promise<PacketDecoder> {
  const { identification, setup } = headersOf(description)
  const decoder = new Decoder()
  await decoder.ready
  decoder.sendSetupHeader(identification)
  decoder.sendSetupHeader(setup)
  decoder.initDsp()
  return {
    decode(packet) {
      const { channelData, sampleRate } = decoder.decodePackets([packet])
      return { channels: channelData, sampleRateHz: sampleRate }
    },
    finish: () => nothing,
  }
}

/** Three packets behind a count and two lengths in Xiph's lacing (Matroska, "Codec Mappings", A_VORBIS). */
function headersOf(description: Uint8Array | null): { identification: Uint8Array; setup: Uint8Array } {
  if (description === null || description[0] !== 2) throw new Error('no Vorbis headers')
  let at = 1
  const lacedLength = (): number => {
    for (let length = 0; ; at++) {
      const part = description[at]
      if (part === undefined) throw new Error('Vorbis headers are cut short')
      length += part
      if (part < 255) {
        at++
        return length
      }
    }
  }
  const first = lacedLength()
  const second = lacedLength()
  const identification = description.subarray(at, at + first)
  const setup = description.subarray(at + first + second)
  if (identification[0] !== 1 || setup[0] !== 5) throw new Error('Vorbis headers are damaged')
  return { identification, setup }
}
