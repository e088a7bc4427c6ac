/** FLAC, by libFLAC. */
import { _FLACDecoder as FlacDecoder } from '../../../node_modules/@wasm-audio-decoders/flac/src/FLACDecoder.js'
import { nothing, type PacketDecoder } from './planes.ts'

/** A frame that lost bytes can leave the decoder in a state in which it takes everything and gives nothing. */
export async function openFlac(): Promise<PacketDecoder> {
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
