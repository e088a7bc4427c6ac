/** Samples as a WAV file: a header of 44 bytes in front (RIFF, PCM, 16 bit, mono). */

/** @param pcm signed 16-bit little-endian, mono */
export function wavOf(pcm: readonly Uint8Array<ArrayBuffer>[], sampleRateHz: number): Blob {
  const size = pcm.reduce((sum, { length }) => sum + length, 0)
  const header = new DataView(new ArrayBuffer(44))
  const text = (at: number, letters: string) =>
    [...letters].forEach((letter, index) => header.setUint8(at + index, letter.charCodeAt(0)))
  text(0, 'RIFF')
  header.setUint32(4, 36 + size, true)
  text(8, 'WAVEfmt ')
  header.setUint32(16, 16, true)
  header.setUint16(20, 1, true)
  header.setUint16(22, 1, true)
  header.setUint32(24, sampleRateHz, true)
  header.setUint32(28, sampleRateHz * 2, true)
  header.setUint16(32, 2, true)
  header.setUint16(34, 16, true)
  text(36, 'data')
  header.setUint32(40, size, true)
  return new Blob([header, ...pcm], { type: 'audio/wav' })
}

/** @param samples in [-1, 1] */
export function toS16(samples: Float32Array): Uint8Array<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(samples.length * 2))
  samples.forEach((sample, at) => view.setInt16(at * 2, Math.round(Math.max(-1, Math.min(1, sample)) * 32_767), true))
  return new Uint8Array(view.buffer)
}
