/**
 * Headers of the two kinds of stream that are nothing but frames behind each other: MPEG audio (ISO 11172-3, 2.4.1.3
 * and 13818-3) and AAC in ADTS (ISO 14496-3, 1.A.2.2).
 */
import type { StreamFacts } from './planes.ts'

export interface FrameHeader {
  sizeBytes: number
  samples: number
  /** It holds tables for players instead of sound. */
  isIndex: boolean
}

/** @param bytes from the header on @returns null if it is not a header of that stream */
export type ReadHeader = (bytes: Uint8Array) => FrameHeader | null

/** This many bytes are enough to read any header and to recognize an index. */
export const headerBytes = 64

const mpegRatesHz = [44_100, 48_000, 32_000]
/** Bit rates in kbit/s, by version and layer. */
const mpegBitRates: Readonly<Record<string, readonly number[]>> = {
  '1.1': [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  '1.2': [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  '1.3': [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  '2.1': [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  '2.2': [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
}
const mono = 3

/** @param facts that every frame must share, so that noise is not mistaken for a frame */
export const mpegHeader =
  ({ sampleRateHz, channels }: Pick<StreamFacts, 'sampleRateHz' | 'channels'>): ReadHeader =>
  (bytes) => {
    if (bytes.length < 4 || bytes[0] !== 0xff || (bytes[1]! & 0xe0) !== 0xe0) return null
    // 0: version 2.5, 1: none, 2: version 2, 3: version 1.
    const version = (bytes[1]! >> 3) & 3
    const layer = 4 - ((bytes[1]! >> 1) & 3)
    const isFirst = version === 3
    const bitRate = mpegBitRates[`${isFirst ? 1 : 2}.${isFirst || layer === 1 ? layer : 2}`]?.[(bytes[2]! >> 4) - 1]
    const rateHz = mpegRatesHz[(bytes[2]! >> 2) & 3]! / (isFirst ? 1 : version === 2 ? 2 : 4)
    const isMono = bytes[3]! >> 6 === mono
    if (version === 1 || layer === 4 || bitRate === undefined) return null
    if (rateHz !== sampleRateHz || isMono !== (channels === 1)) return null
    const padding = (bytes[2]! >> 1) & 1
    const samples = layer === 1 ? 384 : layer === 3 && !isFirst ? 576 : 1152
    const slotBytes = layer === 1 ? 4 : 1
    const slots = Math.floor((samples * bitRate * 125) / (rateHz * slotBytes))
    return {
      sizeBytes: (slots + padding) * slotBytes,
      samples,
      isIndex: layer === 3 && isIndex(bytes, isFirst, isMono),
    }
  }

/** A frame of Xing or LAME: its tag comes after the side information of a silent frame. */
function isIndex(bytes: Uint8Array, isFirst: boolean, isMono: boolean): boolean {
  const at = 4 + (isFirst ? (isMono ? 17 : 32) : isMono ? 9 : 17)
  const tag = String.fromCharCode(...bytes.subarray(at, at + 4))
  return tag === 'Xing' || tag === 'Info'
}

const adtsRatesHz = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000, 7350]
const adtsSamples = 1024
const adtsHeaderBytes = 7

export const adtsHeader =
  ({ sampleRateHz }: Pick<StreamFacts, 'sampleRateHz'>): ReadHeader =>
  (bytes) => {
    if (bytes.length < adtsHeaderBytes || bytes[0] !== 0xff || (bytes[1]! & 0xf6) !== 0xf0) return null
    if (adtsRatesHz[(bytes[2]! >> 2) & 15] !== sampleRateHz) return null
    const sizeBytes = ((bytes[3]! & 3) << 11) | (bytes[4]! << 3) | (bytes[5]! >> 5)
    const isOneBlock = (bytes[6]! & 3) === 0
    return sizeBytes > adtsHeaderBytes && isOneBlock ? { sizeBytes, samples: adtsSamples, isIndex: false } : null
  }
