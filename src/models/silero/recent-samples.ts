/**
 * The last stretch of a stream, with the results for each of its windows: only what may still be cut out is kept, so
 * that hours of audio take the memory of one window of a recognizer.
 */
import { detectorRateHz } from './detector.ts'

export const samplesPerMs = detectorRateHz / 1000

/** The results for one window of the detector. */
export interface Heard {
  probability: number
  /** Mean square of its samples. */
  power: number
}

export class Tape {
  readonly #samples: Float32Array
  /** Samples of the whole sound before the first one here, and how many are here. */
  #dropped = 0
  #length = 0
  #heard: Heard[] = []
  #heardDropped = 0

  /**
   * @param capacityMs how much may be kept at once; twice that is allocated, so that samples are moved rarely
   * @param windowMs of the detector
   */
  constructor(
    capacityMs: number,
    readonly windowMs: number,
  ) {
    this.#samples = new Float32Array(2 * Math.ceil(capacityMs * samplesPerMs))
  }

  /** The end of the audio so far. */
  get endMs(): number {
    return (this.#dropped + this.#length) / samplesPerMs
  }

  /** @param window of the detector's length; only the last one may be shorter @throws RangeError when it is full */
  append(window: Float32Array, probability: number): void {
    this.#samples.set(window, this.#length)
    this.#length += window.length
    let power = 0
    for (let i = 0; i < window.length; i++) power += window[i]! * window[i]!
    this.#heard.push({ probability, power: power / window.length })
  }

  /** Drops everything before it; cheap, so it may be called often. */
  dropBefore(atMs: number): void {
    const drop = Math.floor(atMs * samplesPerMs) - this.#dropped
    if (drop < this.#samples.length / 2) return
    this.#samples.copyWithin(0, drop, this.#length)
    this.#dropped += drop
    this.#length -= drop
    const windows = Math.floor(atMs / this.windowMs) - this.#heardDropped
    this.#heard = this.#heard.slice(windows)
    this.#heardDropped += windows
  }

  /** A copy. */
  between(startMs: number, endMs: number): Float32Array {
    const start = Math.round(startMs * samplesPerMs) - this.#dropped
    if (start < 0) throw new RangeError(`${startMs} ms was already dropped`)
    return this.#samples.slice(start, Math.round(endMs * samplesPerMs) - this.#dropped)
  }

  /** The results for each window that begins within these times. */
  heardBetween(startMs: number, endMs: number): readonly Heard[] {
    const first = Math.ceil(startMs / this.windowMs) - this.#heardDropped
    return this.#heard.slice(first, Math.ceil(endMs / this.windowMs) - this.#heardDropped)
  }
}
