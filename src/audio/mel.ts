/**
 * Sound as ears divide it: the power spectrum of a frame, summed by triangular filters that are even on the mel scale.
 * The scale is that of M. Slaney's Auditory Toolbox (1998, technical report 1998-010), which librosa and Whisper use:
 * linear below 1 kHz, logarithmic above.
 */
import { Fft, hann } from './fft.ts'

const linearHzPerMel = 200 / 3
const breakHz = 1000
const breakMel = breakHz / linearHzPerMel
/** 27 steps take the frequency to 6.4 times as much. */
const logStep = Math.log(6.4) / 27

export const hzToMel = (hz: number): number =>
  hz < breakHz ? hz / linearHzPerMel : breakMel + Math.log(hz / breakHz) / logStep

export const melToHz = (mel: number): number =>
  mel < breakMel ? mel * linearHzPerMel : breakHz * Math.exp((mel - breakMel) * logStep)

export interface MelOptions {
  sampleRateHz: number
  /** Samples of the transform. */
  fftLength: number
  bands: number
  minHz: number
  maxHz: number
  /** `slaney`: each triangle has the area 1 (per Hz), as recognisers want; `peak`: each has the height 1. */
  norm: 'slaney' | 'peak'
}

/** One triangle: its weights for the bins of the spectrum from `firstBin` on; empty if it falls between two bins. */
export interface MelFilter {
  firstBin: number
  weights: Float64Array
}

/** Each band's triangle rises from the middle of the band below it and falls to that of the band above. */
export function melFilters(options: MelOptions): MelFilter[] {
  const { sampleRateHz, fftLength, bands, minHz, maxHz, norm } = options
  const [lowest, highest] = [hzToMel(minHz), hzToMel(maxHz)]
  const edgeHz = Array.from({ length: bands + 2 }, (_, i) => melToHz(lowest + ((highest - lowest) * i) / (bands + 1)))
  const hzPerBin = sampleRateHz / fftLength
  const lastBin = Math.floor(fftLength / 2)
  return Array.from({ length: bands }, (_, band) => {
    const [startHz, middleHz, endHz] = [edgeHz[band]!, edgeHz[band + 1]!, edgeHz[band + 2]!]
    const firstBin = Math.floor(startHz / hzPerBin) + 1
    const endBin = Math.min(lastBin + 1, Math.ceil(endHz / hzPerBin))
    const height = norm === 'peak' ? 1 : 2 / (endHz - startHz)
    const weights = Float64Array.from({ length: Math.max(0, endBin - firstBin) }, (_, i) => {
      const hz = (firstBin + i) * hzPerBin
      return height * Math.min((hz - startHz) / (middleHz - startHz), (endHz - hz) / (endHz - middleHz))
    })
    return { firstBin, weights }
  })
}

/** Measures one frame after another with the same filters. Keeps its working space: not for two callers at once. */
export class MelMeter {
  readonly #fft: Fft
  readonly #window: Float64Array
  readonly #filters: readonly MelFilter[]
  readonly #re: Float64Array
  readonly #im: Float64Array

  /**
   * @param frameLength samples under the window, the rest of the transform being zeros; all of it unless given
   * @param window of that length
   */
  constructor(options: MelOptions, frameLength = options.fftLength, window = hann(frameLength)) {
    if (frameLength > options.fftLength) throw new RangeError('a frame is longer than its transform')
    this.#fft = new Fft(options.fftLength)
    this.#window = window
    this.#filters = melFilters(options)
    this.#re = new Float64Array(options.fftLength)
    this.#im = new Float64Array(options.fftLength)
  }

  /**
   * The power in each band of the frame that begins at `start`. Positions outside the samples are silence.
   * @param bands filled, one number per filter
   */
  measure(samples: ArrayLike<number>, start: number, bands: Float64Array): void {
    this.#re.fill(0)
    this.#im.fill(0)
    const first = Math.max(0, -start)
    const end = Math.min(this.#window.length, samples.length - start)
    for (let i = first; i < end; i++) this.#re[i] = this.#window[i]! * samples[start + i]!
    this.#fft.transform(this.#re, this.#im)
    for (let band = 0; band < this.#filters.length; band++) {
      const { firstBin, weights } = this.#filters[band]!
      let power = 0
      for (let i = 0; i < weights.length; i++) {
        const bin = firstBin + i
        power += weights[i]! * (this.#re[bin]! ** 2 + this.#im[bin]! ** 2)
      }
      bands[band] = power
    }
  }
}
