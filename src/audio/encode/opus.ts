/**
 * Ogg Opus: packets of 20 ms by libopus, one page for each call. Pre-skip and the last granule position make a decoder
 * give back exactly as many samples as went in.
 */
import { type Codec, UnsupportedRate } from './codec.ts'
import { OpusEncoder } from './libopus.ts'
import { type OggPage, oggFirst, oggLast, oggPage, opusHead, opusTags } from './ogg.ts'
import { concatBytes, concatS16, s16AsBytes } from '../pcm.ts'

const ratesHz: readonly number[] = [8000, 12000, 16000, 24000, 48000]
const bitsPerSecond = 40_000
/**
 * Of 10, with the hint that it is a voice: above 6, libopus finds that out itself, which costs more than it gains. On
 * 24 sentences of the six built-in voices PESQ is 4.50, the worst 4.41 (with 7 and no hint 4.48 and 4.06), and DNSMOS
 * 3.86, as before it was encoded, for 8.7 ms a second of sound instead of 12.3. With 3, 7.3 ms, PESQ is 4.41. The other
 * mode, CELT, takes 3.7 ms, but PESQ is 3.95, and 4.27 with 56 kbit/s. (Times of libopus as WebAssembly.)
 */
const complexity = 5
const packetsPerSecond = 50
const granuleHz = 48000

/**
 * @param library path of libopus
 * @throws UnsupportedRate for the rates that libopus does not take, 22,050 and 44,100 among them
 */
export function opusCodec(sampleRateHz: number, library: string): Codec {
  if (!ratesHz.includes(sampleRateHz)) throw new UnsupportedRate('opus', sampleRateHz, ratesHz)
  return new OpusCodec(sampleRateHz, new OpusEncoder(library, { rateHz: sampleRateHz, bitsPerSecond, complexity }))
}

class OpusCodec implements Codec {
  readonly #encoder: OpusEncoder
  readonly #rateHz: number
  readonly #packetSamples: number
  readonly #lookahead: number
  #pending = new Int16Array(0)
  #serial: number | null = null
  #pages = 0
  #received = 0
  #encoded = 0

  constructor(rateHz: number, encoder: OpusEncoder) {
    this.#encoder = encoder
    this.#rateHz = rateHz
    this.#packetSamples = rateHz / packetsPerSecond
    this.#lookahead = encoder.lookahead
  }

  encode(pcm: Int16Array): Uint8Array<ArrayBuffer> {
    const pages = this.#headers(pcm)
    this.#received += pcm.length
    // A page holds little more than a second: 255 segments, of which a packet of 40 kbit/s takes one or two.
    for (let at = 0; at < pcm.length; at += this.#rateHz) {
      this.#pending = concatS16([this.#pending, pcm.subarray(at, at + this.#rateHz)])
      const packets = this.#packets()
      if (packets.length > 0) pages.push(this.#page(packets, this.#granule(this.#encoded), 0))
    }
    return concatBytes(pages)
  }

  finish(): Uint8Array<ArrayBuffer> {
    const pages = this.#headers(this.#pending)
    // The encoder is late by its lookahead: silence pushes the last real samples out.
    const end = this.#received + this.#lookahead
    const packetsLeft = Math.ceil((end - this.#encoded) / this.#packetSamples)
    this.#pending = concatS16([this.#pending, new Int16Array(packetsLeft * this.#packetSamples - this.#pending.length)])
    pages.push(this.#page(this.#packets(), this.#granule(end), oggLast))
    this.close()
    return concatBytes(pages)
  }

  close(): void {
    this.#encoder.free()
  }

  /**
   * The serial number is drawn from the first audio: replies that are concatenated make a legal chain, and the same
   * speech still gives the same bytes.
   */
  #headers(pcm: Int16Array): Uint8Array[] {
    if (this.#serial !== null) return []
    this.#serial = Bun.hash.crc32(s16AsBytes(pcm))
    const head = opusHead(this.#granule(this.#lookahead), this.#rateHz)
    return [this.#page([head], 0, oggFirst), this.#page([opusTags('myna')], 0, 0)]
  }

  #packets(): Uint8Array[] {
    const packets: Uint8Array[] = []
    let at = 0
    for (; at + this.#packetSamples <= this.#pending.length; at += this.#packetSamples) {
      packets.push(this.#encoder.encode(this.#pending.subarray(at, at + this.#packetSamples)))
    }
    this.#encoded += at
    this.#pending = this.#pending.slice(at)
    return packets
  }

  #page(packets: readonly Uint8Array[], granule: number, flags: number): Uint8Array {
    const page: OggPage = { serial: this.#serial ?? 0, sequence: this.#pages++, granule, flags, packets }
    return oggPage(page)
  }

  #granule(samples: number): number {
    return (samples * granuleHz) / this.#rateHz
  }
}
