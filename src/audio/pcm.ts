/**
 * Samples in the forms that the program passes on: floats in [-1, 1) inside models and filters, signed 16-bit between
 * processes, little-endian bytes to the client. Scaling is by 32,768 both ways, so 16-bit to float and back is exact.
 */

const fullScale = 32768

/** Rounds and clamps; NaN becomes silence, because one would ruin a whole stream in a codec. */
export function toS16(samples: Float32Array): Int16Array {
  const pcm = new Int16Array(samples.length)
  for (let i = 0; i < samples.length; i++) {
    const sample = samples[i]!
    if (Number.isFinite(sample)) {
      pcm[i] = Math.max(-fullScale, Math.min(fullScale - 1, Math.round(sample * fullScale)))
    }
  }
  return pcm
}

/** @returns floats in [-1, 1) */
export function fromS16(pcm: Int16Array): Float32Array {
  const samples = new Float32Array(pcm.length)
  for (let i = 0; i < pcm.length; i++) samples[i] = pcm[i]! / fullScale
  return samples
}

/** The same memory as little-endian bytes. Every platform that Bun runs on is little-endian. */
export const s16AsBytes = ({ buffer, byteOffset, byteLength }: Int16Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)

/**
 * A copy, wherever the bytes are.
 * @throws RangeError if the last sample is cut in half
 */
export function s16FromBytes(bytes: Uint8Array): Int16Array<ArrayBuffer> {
  if (bytes.length % 2 !== 0) throw new RangeError(`${bytes.length} bytes are not a whole number of 16-bit samples`)
  return new Int16Array(new Uint8Array(bytes).buffer)
}

/** RMS level in dB of full scale (a square wave from -1 to 1 has 0, a sine 3.01 less); silence is -Infinity. */
export function levelDb(samples: Float32Array): number {
  let energy = 0
  for (let i = 0; i < samples.length; i++) energy += samples[i]! * samples[i]!
  return energy === 0 ? -Infinity : 10 * Math.log10(energy / samples.length)
}

export const concatFloats = (parts: readonly Float32Array[]): Float32Array<ArrayBuffer> =>
  concat(new Float32Array(lengthOf(parts)), parts)

export const concatS16 = (parts: readonly Int16Array[]): Int16Array<ArrayBuffer> =>
  concat(new Int16Array(lengthOf(parts)), parts)

/** In a buffer of its own: unlike a pooled `Buffer` it may be transferred to another thread. */
export const concatBytes = (parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> =>
  concat(new Uint8Array(lengthOf(parts)), parts)

const lengthOf = (parts: readonly { length: number }[]): number =>
  parts.reduce((length, part) => length + part.length, 0)

/** @param whole as long as the parts together */
function concat<Part extends ArrayLike<number>, Whole extends { set(part: Part, at: number): void }>(
  whole: Whole,
  parts: readonly Part[],
): Whole {
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
