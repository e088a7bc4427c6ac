/**
 * WAV with 16-bit mono PCM: the header that we send, and a reader for what the built-in voice writes. Clips of unknown
 * origin go through the real demuxer instead.
 * Format: RIFF/WAVE with a 16-byte `fmt ` chunk (Microsoft, "Multiple Channel Audio Data and WAVE Files").
 */
import { s16FromBytes } from './pcm.ts'

export const wavHeaderBytes = 44
const unknownSize = 0xffffffff
const tagPcm = 1
const tagExtensible = 0xfffe

/**
 * @param pcmBytes size of the samples that follow; null while it is unknown: RIFF and data then claim 0xFFFFFFFF, which
 * players take for "until the stream ends"
 * @throws RangeError when the file would pass 4 GiB
 */
export function wavHeader(sampleRateHz: number, pcmBytes: number | null): Uint8Array<ArrayBuffer> {
  const riffSize = pcmBytes === null ? unknownSize : pcmBytes + wavHeaderBytes - 8
  if (riffSize > unknownSize) throw new RangeError(`${pcmBytes} bytes do not fit into one WAV file`)
  const header = new Uint8Array(wavHeaderBytes)
  const view = new DataView(header.buffer)
  const text = new TextEncoder()
  header.set(text.encode('RIFF'), 0)
  view.setUint32(4, riffSize, true)
  header.set(text.encode('WAVEfmt '), 8)
  view.setUint32(16, 16, true)
  view.setUint16(20, tagPcm, true)
  view.setUint16(22, 1, true)
  view.setUint32(24, sampleRateHz, true)
  view.setUint32(28, sampleRateHz * 2, true)
  view.setUint16(32, 2, true)
  view.setUint16(34, 16, true)
  header.set(text.encode('data'), 36)
  view.setUint32(40, pcmBytes ?? unknownSize, true)
  return header
}

export interface WavAudio {
  sampleRateHz: number
  pcm: Int16Array
}

/**
 * Skips chunks that it does not know; a data chunk that claims more than there is (a stream) is read to the end.
 * @throws Error that says what is wrong: no WAV, not 16-bit mono PCM, no data
 */
export function readWav(bytes: Uint8Array): WavAudio {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < 12 || tag(bytes, 0) !== 'RIFF' || tag(bytes, 8) !== 'WAVE') throw new Error('not a WAV file')
  let sampleRateHz: number | null = null
  for (let at = 12; at + 8 <= bytes.length;) {
    const name = tag(bytes, at)
    const size = view.getUint32(at + 4, true)
    const start = at + 8
    if (name === 'fmt ') sampleRateHz = readFormat(view, start, size)
    if (name === 'data') {
      if (sampleRateHz === null) throw new Error('WAV data comes before its format')
      const end = Math.min(start + size, bytes.length)
      return { sampleRateHz, pcm: s16FromBytes(bytes.subarray(start, end - ((end - start) % 2))) }
    }
    // Chunks are padded to even sizes; the size field does not count the pad.
    at = start + size + (size % 2)
  }
  throw new Error('WAV file without data')
}

function readFormat(view: DataView, start: number, size: number): number {
  if (size < 16 || start + size > view.byteLength) throw new Error('WAV format chunk is cut short')
  const declared = view.getUint16(start, true)
  // An extensible format names the real one in the first two bytes of its sub-format, 24 bytes in.
  const format = declared === tagExtensible && size >= 26 ? view.getUint16(start + 24, true) : declared
  const channels = view.getUint16(start + 2, true)
  const bits = view.getUint16(start + 14, true)
  if (format !== tagPcm || channels !== 1 || bits !== 16) {
    throw new Error(`WAV is not 16-bit mono PCM (format ${format}, ${channels} channels, ${bits} bits)`)
  }
  const sampleRateHz = view.getUint32(start + 4, true)
  if (sampleRateHz === 0) throw new Error('WAV has a sample rate of 0')
  return sampleRateHz
}

const tag = (bytes: Uint8Array, at: number): string => String.fromCharCode(...bytes.subarray(at, at + 4))
