/**
 * libopus's encoder, called in its native library. Only the encoder: a clip comes from outside and may be hostile, so
 * libopus decodes it as WebAssembly, which cannot reach other memory.
 */
import { CString, dlopen, type Pointer, ptr } from 'bun:ffi'
import { openLibopus } from '../../embedded/libopus.ts'

/** As `opus.h` declares them. */
const functions = {
  opus_encoder_create: { args: ['i32', 'i32', 'i32', 'ptr'], returns: 'ptr' },
  // Variadic: its third argument is a number or an address. On x86-64 both travel in the same register.
  opus_encoder_ctl: { args: ['ptr', 'i32', 'u64'], returns: 'i32' },
  opus_encode: { args: ['ptr', 'ptr', 'i32', 'ptr', 'i32'], returns: 'i32' },
  opus_encoder_destroy: { args: ['ptr'], returns: 'void' },
  opus_strerror: { args: ['i32'], returns: 'ptr' },
} as const

type Functions = ReturnType<typeof dlopen<typeof functions>>['symbols']

/** From `opus_defines.h`. */
const applicationAudio = 2049
const signalVoice = 3001
const request = { setBitrate: 4002, setVbr: 4006, setComplexity: 4010, setSignal: 4024, getLookahead: 4027 }

/** `opus_encode` asks for room for the largest packet of 20 ms. */
const mostBytes = 1275

/** One library a thread, whatever its path. */
let opened: Functions | null = null

/**
 * The library's path, for the threads that encode. It is loaded here first, because a thread that cannot load it ends
 * with all its streams, and without the remedy.
 * @throws as `openLibopus`
 */
export const libopusPath = (): string =>
  openLibopus((path) => {
    opened ??= dlopen(path, functions).symbols
    return path
  })

/** Encodes mono speech. Freed by hand. */
export class OpusEncoder {
  readonly #call: Functions
  readonly #packet = new Uint8Array(mostBytes)
  #encoder: Pointer | null

  /**
   * @param library path of libopus
   * @param settings `complexity` of 0 to 10; the bit rate varies around `bitsPerSecond`
   * @throws Error when the library cannot be loaded, or refuses
   */
  constructor(library: string, settings: { rateHz: number; bitsPerSecond: number; complexity: number }) {
    this.#call = opened ??= dlopen(library, functions).symbols
    const status = new Int32Array(1)
    const address = this.#call.opus_encoder_create(settings.rateHz, 1, applicationAudio, status)
    this.#check(status[0]!)
    this.#encoder = Number(address) as Pointer
    this.#set(request.setBitrate, settings.bitsPerSecond)
    this.#set(request.setComplexity, settings.complexity)
    this.#set(request.setSignal, signalVoice)
    this.#set(request.setVbr, 1)
  }

  /** How late what it encodes is, in samples. */
  get lookahead(): number {
    const samples = new Int32Array(1)
    this.#set(request.getLookahead, ptr(samples))
    return samples[0]!
  }

  /** @param pcm one packet: 2.5, 5, 10 or 20 ms @throws Error once it was freed, or when libopus refuses */
  encode(pcm: Int16Array): Uint8Array {
    const bytes = this.#call.opus_encode(this.#address, pcm, pcm.length, this.#packet, mostBytes)
    return this.#packet.slice(0, this.#check(bytes))
  }

  /** Harmless when called again. */
  free(): void {
    if (this.#encoder !== null) this.#call.opus_encoder_destroy(this.#encoder)
    this.#encoder = null
  }

  /** Given the address of a freed encoder, libopus would read whatever is there now. */
  get #address(): Pointer {
    if (this.#encoder === null) throw new Error('libopus: the encoder was freed')
    return this.#encoder
  }

  #set(what: number, value: number): void {
    this.#check(this.#call.opus_encoder_ctl(this.#address, what, value))
  }

  /** @returns what is no error */
  #check(code: number): number {
    if (code >= 0) return code
    throw new Error(`libopus: ${new CString(this.#call.opus_strerror(code)!)}`)
  }
}
