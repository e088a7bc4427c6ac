/** MP3, by mpg123. */
import MpegDecoder from '../../../node_modules/mpg123-decoder/src/MPEGDecoder.js'
import { nothing, type PacketDecoder, type StreamFacts } from './planes.ts'

/**
 * The package's loop has no end once mpg123 reports an error that it does not know: it prints it and asks again. The
 * only way out of it is through what it prints.
 */
export async function openMp3({ channels }: StreamFacts): Promise<PacketDecoder> {
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
