/**
 * Describes what the encoders have in common: they run inside a Worker, are driven synchronously, take 16-bit mono and
 * return bytes that can be streamed as they are. Only opening may be asynchronous, because of WebAssembly.
 */

/** The formats that need an encoder; pcm and wav are only copied. */
export type CodecFormat = 'mp3' | 'opus' | 'aac' | 'flac'

export interface Codec {
  /** @returns bytes that are ready, in a buffer of their own; possibly none */
  encode(pcm: Int16Array): Uint8Array<ArrayBuffer>
  /** The rest of the stream, including the header if there was no audio. Releases everything. */
  finish(): Uint8Array<ArrayBuffer>
  /** Releases everything without finishing. Harmless afterwards and more than once. */
  close(): void
}

/**
 * The format cannot have this sample rate. The only way in which an encoder refuses; whatever else is thrown means that
 * its memory is in doubt.
 */
export class UnsupportedRate extends RangeError {
  constructor(format: CodecFormat, sampleRateHz: number, ratesHz: readonly number[]) {
    super(`${format} cannot be encoded at ${sampleRateHz} Hz, only at ${ratesHz.join(', ')}.`)
  }
}
