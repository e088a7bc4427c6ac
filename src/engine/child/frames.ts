/**
 * Turns a model's chunks into frames (child side): resampled, cut to at most `frameMsMax`, each stating how much of
 * the text is covered once it has been played. Only one chunk is held, and each frame owns its buffer.
 */
import type { SpokenWord } from '../../domain/speech.ts'
import { toS16 } from '../../audio/pcm.ts'
import { Resampler } from '../../audio/resample.ts'
import type { SpokenChunk } from '../../models/architecture.ts'
import { frameMsMax } from '../protocol.ts'

export interface Frame {
  /** Mono, at the requested rate. */
  pcm: Int16Array
  coveredChars: number
  /** Words that begin in it; absent: not requested. */
  words?: readonly SpokenWord[]
  /** Machine time of the chunk until its first sound: with the first frame of a stream. */
  firstMs?: number
}

export class FrameCutter {
  readonly #resampler: Resampler
  readonly #frameSamples: number
  /** The chunk that is being cut: its samples, and the text covered before it and after it. */
  #samples = new Float32Array(0)
  #position = 0
  #coveredBefore = 0
  #coveredAfter = 0
  #sentSamples = 0
  /** Words that have not begun in any frame yet; null: not requested. */
  #words: SpokenWord[] | null = null
  readonly #toHz: number

  constructor(fromHz: number, toHz: number) {
    this.#resampler = new Resampler(fromHz, toHz)
    this.#toHz = toHz
    this.#frameSamples = Math.floor((toHz * frameMsMax) / 1000)
  }

  /** Whether every sample of the last chunk has been taken. */
  get isEmpty(): boolean {
    return this.#position === this.#samples.length
  }

  /** @param words that begin with this chunk or later; null: not requested */
  add(chunk: SpokenChunk, words: readonly SpokenWord[] | null = null): void {
    if (words !== null) this.#words = [...(this.#words ?? []), ...words]
    this.#begin(this.#resampler.push(chunk.pcm), chunk.coveredChars)
  }

  /** What the resampler still holds, once the last chunk has been added and taken. */
  finish(): void {
    this.#begin(this.#resampler.flush(), this.#coveredAfter)
  }

  /**
   * The next frame of the chunk, or null when it is used up. Coverage grows with the samples, reaches the chunk's own
   * at its last frame and never passes it, so that what is charged after a break is what was heard.
   */
  take(): Frame | null {
    if (this.isEmpty) return null
    const end = Math.min(this.#position + this.#frameSamples, this.#samples.length)
    const pcm = toS16(this.#samples.subarray(this.#position, end))
    this.#position = end
    const share = end / this.#samples.length
    const coveredChars = this.#coveredBefore + Math.floor((this.#coveredAfter - this.#coveredBefore) * share)
    this.#sentSamples += pcm.length
    return { pcm, coveredChars, ...this.#begun() }
  }

  /** Leaves out so many samples of the chunk, with the words that begin in them. @returns how many there were */
  skip(samples: number): number {
    const count = Math.min(samples, this.#samples.length - this.#position)
    this.#position += count
    this.#sentSamples += count
    if (count > 0) this.#begun()
    return count
  }

  #begun(): { words?: SpokenWord[] } {
    if (this.#words === null) return {}
    const sentMs = (1000 * this.#sentSamples) / this.#toHz
    const count = this.#words.filter(({ startMs }) => startMs < sentMs).length
    return { words: this.#words.splice(0, count) }
  }

  #begin(samples: Float32Array<ArrayBuffer>, coveredChars: number): void {
    this.#coveredBefore = this.#coveredAfter
    this.#coveredAfter = Math.max(this.#coveredAfter, coveredChars)
    this.#samples = samples
    this.#position = 0
  }
}
