/**
 * The parts that are used of the decoders inside four packages, which their own types leave out. The packages' entries
 * cannot be bundled: they claim to be free of side effects but are not, so half of what they need would be dropped.
 */
declare module '*/OggVorbisDecoder.js' {
  export class Decoder {
    readonly ready: Promise<void>
    /** The identification header first, then the setup header; the comments between them are not wanted. */
    sendSetupHeader(packet: Uint8Array): void
    /** Called after the headers. */
    initDsp(): void
    decodePackets(packets: readonly Uint8Array[]): { channelData: Float32Array[]; sampleRate: number }
  }
}

declare module '*/FLACDecoder.js' {
  export class _FLACDecoder {
    readonly ready: Promise<void>
    reset(): Promise<void>
    decodeFrames(packets: readonly Uint8Array[]): {
      channelData: Float32Array[]
      sampleRate: number
      samplesDecoded: number
      errors: readonly { message: string }[]
    }
  }
}

declare module '*/MPEGDecoder.js' {
  export default class MPEGDecoder {
    constructor(options: { enableGapless: boolean })
    readonly ready: Promise<void>
    decodeFrame(packet: Uint8Array): { channelData: Float32Array[]; sampleRate: number }
  }
}

declare module '*/libopus.generated.mjs' {
  /** Addresses are bytes from the start of the memory. An error is a negative number. */
  interface Libopus {
    HEAPU8: Uint8Array
    HEAPF32: Float32Array
    UTF8ToString(address: number): string
    _malloc(bytes: number): number
    /** @param errorAt 0: nowhere @returns 0: there is no memory */
    _oc_create_decoder(sampleRateHz: number, channels: number, errorAt: number): number
    /** @returns samples a channel */
    _oc_decode_float(
      decoder: number,
      packetAt: number,
      packetBytes: number,
      soundAt: number,
      mostSamples: number,
      isRecovery: 0 | 1,
    ): number
    _oc_strerror(error: number): number
  }
  /** @returns a memory of its own each time */
  export default function openLibopus(): Promise<Libopus>
}
