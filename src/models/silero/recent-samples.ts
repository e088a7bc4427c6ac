/**
 * The last stretch of a sound, with what was made of each window of it: what may still be cut out lies here and nothing
 * before it, so that hours of sound take the memory of one window of a recogniser.
 */
import { detectorRateHz } from './detector.ts'

export const samplesPerMs = detectorRateHz / 1000

/** How one window of the detector sounds. */
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
   * @param capacityMs what may lie here at once; space for twice as much is taken, so that samples are moved seldom
   * @param windowMs of the detector
   */
  constructor(
    capacityMs: number,
    readonly windowMs: number,
  ) {
    this.#samples = new Float32Array(2 * Math.ceil(capacityMs * samplesPerMs))
  }

  /** Where the sound ends so far. */
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

  /** Lets go of what lies before: it costs nothing to ask often. */
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

  /** What was made of each window that begins within these times. */
  heardBetween(startMs: number, endMs: number): readonly Heard[] {
    const first = Math.ceil(startMs / this.windowMs) - this.#heardDropped
    return this.#heard.slice(first, Math.ceil(endMs / this.windowMs) - this.#heardDropped)
  }
}
