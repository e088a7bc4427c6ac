/**
 * One chunk being rendered, block by block: the speech in it at the level of the other voices, its ends faded, so that
 * joins do not click.
 */
import { hopSamples, type Parameters, sampleRateHz } from './parameters.ts'
import type { Shape } from './shape.ts'
import type { Joints } from './joints.ts'
import { speechSpan } from './speech-span.ts'
import { Vocoder } from './vocoder.ts'

export interface RenderedBlock {
  /** Mono, in [-1, 1], at 24 kHz. */
  pcm: Float32Array<ArrayBuffer>
  /** Of the chunk's speech, up to the end of this block; 1: it is the last one. */
  share: number
  durationMs: number
  /** This many frames of the chunk were left out before its first block. */
  skippedFrames: number
}

/** hibari is quiet: peaks of 0.2 to 0.45, where the other voices have some 0.5 to 0.9. */
const gain = 2
/** Peaks above this are bent, so that those of shaped voices, up to 1.3, keep below 1. Cut off, they would crackle. */
const bentFrom = 0.8
const fadeSamples = 120

export class Rendered {
  readonly #blocks: Iterator<Float64Array>
  readonly #frames: number
  readonly #skipped: number
  readonly #joints: Joints
  #done = 0

  /**
   * @param joints where neighbours are that are not rendered; null: silence @param speed 0.5 to 2
   * @param shape of another voice; null: the graph's own
   */
  constructor(parameters: Parameters, joints: Joints, speed: number, shape: Shape | null) {
    const speech = speechSpan(parameters, speed)
    const first = joints.from ?? speech.from
    const span = { from: first, to: Math.max(first + 1, joints.to ?? speech.to) }
    this.#joints = joints
    this.#frames = span.to - span.from
    this.#skipped = span.from
    this.#blocks = new Vocoder(parameters, span, shape).blocks()
  }

  /** Frames that `next` has not given yet. */
  get leftFrames(): number {
    return this.#frames - this.#done
  }

  /**
   * Until the block whose share is 1 has come.
   * @param most frames of 12.5 ms @throws Error when the sound is not finite
   */
  next(most: number): RenderedBlock {
    const frames = Math.min(most, this.#frames - this.#done)
    const pcm = new Float32Array(frames * hopSamples)
    for (let frame = 0; frame < frames; frame++) pcm.set(this.#blocks.next().value as Float64Array, frame * hopSamples)
    for (let at = 0; at < pcm.length; at++) pcm[at] = bent(gain * pcm[at]!)
    if (!pcm.every(Number.isFinite)) throw new Error('the vocoder gave a sound that is not finite')
    const { from, to } = this.#joints
    if (this.#done === 0) fade(pcm, (at) => at, from !== null)
    this.#done += frames
    if (this.#done === this.#frames) fade(pcm, (at) => pcm.length - 1 - at, to !== null)
    return {
      pcm,
      share: this.#done / this.#frames,
      durationMs: (1000 * pcm.length) / sampleRateHz,
      skippedFrames: this.#skipped,
    }
  }
}

/** As it is up to `bentFrom`, and from there on below 1, without a corner. */
function bent(sample: number): number {
  const over = Math.abs(sample) - bentFrom
  if (!(over > 0)) return sample
  const room = 1 - bentFrom
  return Math.sign(sample) * (bentFrom + room * Math.tanh(over / room))
}

/**
 * From nothing, at one of the ends: as a raised cosine or, where another chunk joins, over a frame and so that both
 * together have the power of one.
 */
function fade(pcm: Float32Array, place: (at: number) => number, isJoint: boolean): void {
  const width = Math.min(isJoint ? hopSamples : fadeSamples, pcm.length)
  for (let at = 0; at < width; at++) {
    pcm[place(at)]! *= isJoint
      ? Math.sin((Math.PI * (at + 0.5)) / (2 * width))
      : (1 - Math.cos((Math.PI * at) / width)) / 2
  }
}
