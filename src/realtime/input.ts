/** The client's sound, appended in pieces of any size, as 16-bit samples at 16 kHz: one stream, without a seam. */
import { decodeG711 } from '../audio/g711.ts'
import { fromS16, toS16 } from '../audio/pcm.ts'
import { Resampler, rough } from '../audio/resample.ts'
import type { InputFormat } from './config.ts'

export const heardRateHz = 16_000
export const samplesPerMs = heardRateHz / 1000

export class SoundInput {
  readonly format: InputFormat
  readonly #resampler: Resampler
  /** Half of a sample, whose other half comes with the next piece. */
  #odd: Uint8Array = new Uint8Array(0)

  constructor(format: InputFormat) {
    this.format = format
    this.#resampler = new Resampler(format.rateHz, heardRateHz, rough)
  }

  /** How long it would be if all of it is base64. */
  secondsOf(base64: string): number {
    const sampleBytes = this.format.encoding === 'pcm' ? 2 : 1
    return (3 * base64.length) / 4 / sampleBytes / this.format.rateHz
  }

  /** @returns null when nothing of it is base64 */
  push(base64: string): Int16Array | null {
    const bytes = Buffer.from(base64, 'base64')
    if (bytes.length === 0 && base64 !== '') return null
    return toS16(this.#resampler.push(fromS16(this.#decoded(bytes))))
  }

  /** The rest in the filter, at the end of the audio. */
  flush(): Int16Array {
    return toS16(this.#resampler.flush())
  }

  #decoded(bytes: Uint8Array): Int16Array {
    if (this.format.encoding === 'pcmu') return decodeG711(bytes, 'mu')
    if (this.format.encoding === 'pcma') return decodeG711(bytes, 'a')
    const whole = new Uint8Array(this.#odd.length + bytes.length)
    whole.set(this.#odd)
    whole.set(bytes, this.#odd.length)
    this.#odd = whole.slice(whole.length - (whole.length % 2))
    return new Int16Array(whole.buffer, 0, whole.length >> 1)
  }
}
