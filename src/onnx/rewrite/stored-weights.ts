/** Weights as files store them, before rewriting. */

/** The zero of unsigned bytes. */
export const middle = 128
/** Of signed bytes, so that there are as many below 0 as above. */
export const largest = 127

/** A number is (stored byte - zero) * scale. */
export interface StoredBytes {
  raw: Uint8Array
  outputs: number
  inputs: number
  /** They are stored as [inputs, outputs]; else as [outputs, inputs]. */
  turned: boolean
  scale: number
  zero: number
  isSigned: boolean
}

/** Without a copy where they begin at a multiple of four. A copy of an embedding takes 106 MB: discard it. */
export function floatsOf(raw: Uint8Array): Float32Array {
  const aligned = raw.byteOffset % 4 === 0 ? raw : raw.slice()
  return new Float32Array(aligned.buffer, aligned.byteOffset, aligned.length / 4)
}
