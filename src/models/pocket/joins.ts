/**
 * Decides where one chunk ends and the next begins: neither clicks, and the pause between them is as long as the text
 * requires. The model makes a pause of its own after each chunk; what is missing is added, and what is too long after
 * a sentence that was only cut because of its length is removed.
 */
import type { Chunk } from './chunks.ts'

/** A decoder that starts afresh puts a small step into its first samples; 5 ms at 24 kHz, as in Kyutai's pocket-tts. */
const fadeS = 0.005
const windowS = 0.01
/** This far below the loudest window is silence, and so is anything inaudible. */
const floorRatio = 10 ** (-35 / 20)
const floorRms = 0.001

/** Shortest and longest silence behind a chunk, in seconds, by what ends with it. */
const pauses: Readonly<Record<Chunk['closes'], { min: number; max: number }>> = {
  nothing: { min: 0, max: 0.05 },
  clause: { min: 0.06, max: 0.15 },
  sentence: { min: 0.2, max: 0.45 },
  paragraph: { min: 0.5, max: 0.9 },
}

/** One stream, block by block. */
export class Joins {
  readonly #rateHz: number
  readonly #window: number
  #loudest = 0
  /** Samples of silence at the end of what was given out. */
  #quiet = 0

  constructor(rateHz: number) {
    this.#rateHz = rateHz
    this.#window = Math.round(windowS * rateHz)
  }

  /** The first block of a chunk. @param before what ended before it; null: nothing, it is the first chunk */
  start(pcm: Float32Array, before: Chunk['closes'] | null): Float32Array {
    const width = Math.round(fadeS * this.#rateHz)
    const faded = fadedIn(pcm.slice(), width)
    if (before === null) return faded
    const lead = this.#leadOf(faded)
    const { min, max } = this.#pause(before)
    const lacking = min - this.#quiet - lead
    if (lacking > 0) {
      const longer = new Float32Array(lacking + faded.length)
      longer.set(faded, lacking)
      return longer
    }
    const surplus = Math.min(lead, this.#quiet + lead - max)
    // The rest also begins in silence, but a quiet one need not be zero.
    return surplus > 0 ? fadedIn(faded.slice(surplus), width) : faded
  }

  /** The last block of a chunk. @param closes null: nothing comes behind it, and the model's own pause stays */
  end(pcm: Float32Array, closes: Chunk['closes'] | null): Float32Array {
    const tail = this.#tailOf(pcm)
    const whole = tail === pcm.length ? this.#quiet + tail : tail
    const surplus = closes === null ? 0 : Math.min(tail, Math.max(0, whole - this.#pause(closes).max))
    const ended = pcm.slice(0, pcm.length - surplus)
    const width = Math.min(ended.length, Math.round(fadeS * this.#rateHz))
    for (let at = 0; at < width; at++) ended[ended.length - 1 - at]! *= at / width
    return ended
  }

  /** Every block that is given out, in order. */
  note(pcm: Float32Array): void {
    for (let at = 0; at < pcm.length; at += this.#window) {
      this.#loudest = Math.max(this.#loudest, rms(pcm.subarray(at, at + this.#window)))
    }
    const tail = this.#tailOf(pcm)
    this.#quiet = tail === pcm.length ? this.#quiet + tail : tail
  }

  #pause(closes: Chunk['closes']): { min: number; max: number } {
    const { min, max } = pauses[closes]
    return { min: Math.round(min * this.#rateHz), max: Math.round(max * this.#rateHz) }
  }

  #isQuiet(window: Float32Array): boolean {
    return rms(window) <= Math.max(floorRms, this.#loudest * floorRatio)
  }

  #leadOf(pcm: Float32Array): number {
    let at = 0
    while (at < pcm.length && this.#isQuiet(pcm.subarray(at, at + this.#window))) at += this.#window
    return Math.min(at, pcm.length)
  }

  #tailOf(pcm: Float32Array): number {
    let at = pcm.length
    while (at > 0 && this.#isQuiet(pcm.subarray(Math.max(0, at - this.#window), at))) at -= this.#window
    return pcm.length - Math.max(0, at)
  }
}

function fadedIn(pcm: Float32Array, width: number): Float32Array {
  for (let at = 0; at < Math.min(width, pcm.length); at++) pcm[at]! *= at / width
  return pcm
}

const rms = (pcm: Float32Array): number =>
  Math.sqrt(pcm.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, pcm.length))
