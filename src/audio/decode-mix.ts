/** Collects decoded stretches as mono: the mean of the channels. Refuses what is no sound, and what never ends. */
import type { Planes } from './decode-planes.ts'
import { undecodable } from './decode-refusal.ts'
import { concatFloats } from './pcm.ts'

export class MonoMix {
  readonly #maxSeconds: number
  readonly #parts: Float32Array[] = []
  #samples = 0
  #sampleRateHz = 0

  constructor(maxSeconds: number) {
    this.#maxSeconds = maxSeconds
  }

  /** @throws Refusal for samples that are no numbers, Error for a change of rate and beyond the limit */
  add({ channels, sampleRateHz }: Planes): void {
    const length = channels[0]?.length ?? 0
    if (length === 0) return
    if (this.#samples === 0) this.#sampleRateHz = sampleRateHz
    else if (sampleRateHz !== this.#sampleRateHz) throw undecodable('The sample rate changes within the file.')
    const mono = channels.length === 1 ? channels[0]! : meanOf(channels, length)
    if (!mono.every(Number.isFinite))
      throw undecodable('The file holds samples that are not numbers (NaN or infinite).')
    this.#parts.push(mono)
    this.#samples += length
    if (this.isOver) throw new Error('beyond the limit')
  }

  get sampleRateHz(): number {
    return this.#sampleRateHz
  }

  get seconds(): number {
    return this.#samples === 0 ? 0 : this.#samples / this.#sampleRateHz
  }

  get isOver(): boolean {
    return this.seconds > this.#maxSeconds
  }

  take(start: number, end: number): Float32Array<ArrayBuffer> {
    return concatFloats(this.#parts).slice(start, end)
  }
}

function meanOf(channels: readonly Float32Array[], length: number): Float32Array {
  const mono = new Float32Array(length)
  for (const channel of channels) for (let i = 0; i < length; i++) mono[i]! += channel[i]! / channels.length
  return mono
}
