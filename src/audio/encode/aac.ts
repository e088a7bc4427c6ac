/**
 * AAC-LC in ADTS by FFmpeg's encoder, through the WebAssembly build inside @mediabunny/aac-encoder, with our own ADTS
 * header before each frame (ISO/IEC 13818-7, 6.2). ADTS has no field that makes decoders trim the priming.
 */
import imported from '../../../node_modules/@mediabunny/aac-encoder/dist/modules/build/aac.js'
import { type Codec, UnsupportedRate } from './codec.ts'
import { buildFactory, type WasmBuild } from './emscripten.ts'
import { concatBytes, concatS16, fromS16 } from '../pcm.ts'

/** The used parts of the build's bridge.c. A context is an address; 0 means none. */
interface AacBuild extends WasmBuild {
  _init_encoder(channels: number, sampleRateHz: number, bitsPerSecond: number): number
  _get_encoder_frame_size(context: number): number
  _get_encode_input_ptr(context: number, bytes: number): number
  _send_frame(context: number, firstSample: bigint): number
  /** @returns the packet's size, 0 if there is none yet, or a negative error */
  _receive_packet(context: number): number
  _get_encoded_data(context: number): number
  _flush_encoder_start(context: number): void
  _close_encoder(context: number): void
}

/** In ADTS order. */
const ratesHz = [96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000]
const bitsPerSecond = 64_000
const lowRateBitsPerSecond = 32_000
const adtsBytes = 7

const createBuild = buildFactory<AacBuild>(imported)
let shared: Promise<AacBuild> | null = null

/** One instance serves all streams of a thread: contexts are freed, its memory is not. */
const build = (): Promise<AacBuild> => (shared ??= createBuild())

/** @throws UnsupportedRate */
export async function aacCodec(sampleRateHz: number): Promise<Codec> {
  const rateIndex = ratesHz.indexOf(sampleRateHz)
  if (rateIndex < 0) throw new UnsupportedRate('aac', sampleRateHz, ratesHz)
  const aac = await build()
  const context = aac._init_encoder(1, sampleRateHz, sampleRateHz < 16000 ? lowRateBitsPerSecond : bitsPerSecond)
  if (context === 0) throw new Error('the AAC encoder did not open')
  return new AacCodec(aac, context, rateIndex)
}

class AacCodec implements Codec {
  readonly #aac: AacBuild
  readonly #context: number
  readonly #rateIndex: number
  readonly #frameSamples: number
  #pending = new Int16Array(0)
  #sent = 0
  #open = true

  constructor(aac: AacBuild, context: number, rateIndex: number) {
    this.#aac = aac
    this.#context = context
    this.#rateIndex = rateIndex
    this.#frameSamples = aac._get_encoder_frame_size(context)
  }

  encode(pcm: Int16Array): Uint8Array<ArrayBuffer> {
    this.#pending = concatS16([this.#pending, pcm])
    const packets: Uint8Array[] = []
    let at = 0
    for (; at + this.#frameSamples <= this.#pending.length; at += this.#frameSamples) {
      this.#send(this.#pending.subarray(at, at + this.#frameSamples))
      this.#receive(packets)
    }
    this.#pending = this.#pending.slice(at)
    return concatBytes(packets)
  }

  finish(): Uint8Array<ArrayBuffer> {
    const packets: Uint8Array[] = []
    if (this.#pending.length > 0) {
      const padding = new Int16Array(this.#frameSamples - this.#pending.length)
      this.#send(concatS16([this.#pending, padding]))
      this.#receive(packets)
    }
    if (this.#sent > 0) {
      this.#aac._flush_encoder_start(this.#context)
      this.#receive(packets)
    }
    this.close()
    return concatBytes(packets)
  }

  close(): void {
    if (this.#open) this.#aac._close_encoder(this.#context)
    this.#open = false
  }

  #send(frame: Int16Array): void {
    const input = this.#aac._get_encode_input_ptr(this.#context, frame.length * 4)
    new Float32Array(this.#aac.HEAPU8.buffer, input, frame.length).set(fromS16(frame))
    const code = this.#aac._send_frame(this.#context, BigInt(this.#sent))
    if (code < 0) throw new Error(`the AAC encoder failed (${code})`)
    this.#sent += frame.length
  }

  #receive(packets: Uint8Array[]): void {
    for (;;) {
      const size = this.#aac._receive_packet(this.#context)
      if (size < 0) throw new Error(`the AAC encoder failed (${size})`)
      if (size === 0) return
      const data = this.#aac._get_encoded_data(this.#context)
      packets.push(adtsFrame(this.#rateIndex, this.#aac.HEAPU8.subarray(data, data + size)))
    }
  }
}

/**
 * Header without checksum: MPEG-4, AAC-LC, one channel, variable bit rate (buffer fullness all ones), one raw block.
 */
function adtsFrame(rateIndex: number, payload: Uint8Array): Uint8Array {
  const size = adtsBytes + payload.length
  const frame = new Uint8Array(size)
  frame[0] = 0xff
  frame[1] = 0xf1
  frame[2] = (1 << 6) | (rateIndex << 2)
  frame[3] = (1 << 6) | (size >> 11)
  frame[4] = (size >> 3) & 0xff
  frame[5] = ((size & 7) << 5) | 0x1f
  frame[6] = 0xfc
  frame.set(payload, adtsBytes)
  return frame
}
