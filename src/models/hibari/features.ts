/**
 * Computes what of a frame's spectrum distinguishes voices: its levels in 32 bands, and their cepstrum without the
 * level of the whole.
 */
import { melFilters } from '../../audio/mel.ts'
import { bins, frameSamples, sampleRateHz } from './parameters.ts'

export const bands = 32
/** The first, which is the level, is left out; those behind are more about the words than about the voice. */
export const cepstra = 23

const options = { sampleRateHz, fftLength: frameSamples, bands, minHz: 80, maxHz: 7600, norm: 'peak' } as const
const filters = melFilters(options).map(({ firstBin, weights }) => {
  const sum = weights.reduce((total, weight) => total + weight, 0)
  return { firstBin, weights: weights.map((weight) => weight / sum) }
})

/** Middles of the bands. */
export const bandsHz: readonly number[] = filters.map(({ firstBin, weights }) => {
  const bin = weights.reduce((total, weight, at) => total + weight * (firstBin + at), 0)
  return (bin * sampleRateHz) / frameSamples
})

/** Of full scale, far below any room. */
const floor = 1e-11

/**
 * @param powers of the bins of one frame @param levelsDb is written: of each band @returns the level of all, in dB
 */
export function measure(powers: Float64Array, levelsDb: Float64Array): number {
  for (const [band, { firstBin, weights }] of filters.entries()) {
    let sum = floor
    for (let at = 0; at < weights.length; at++) sum += weights[at]! * powers[firstBin + at]!
    levelsDb[band] = 10 * Math.log10(sum)
  }
  let whole = floor
  for (let bin = 0; bin < bins; bin++) whole += powers[bin]!
  return 10 * Math.log10(whole)
}

/** Orthonormal DCT-II without its first row, [cepstrum * bands + band]. */
const cosines = Float64Array.from({ length: cepstra * bands }, (_, at) => {
  const order = Math.floor(at / bands) + 1
  return Math.sqrt(2 / bands) * Math.cos((Math.PI * order * (2 * (at % bands) + 1)) / (2 * bands))
})

/** @param cepstrum is written */
export function toCepstrum(levelsDb: Float64Array, cepstrum: Float64Array): void {
  for (let order = 0; order < cepstra; order++) {
    let sum = 0
    for (let band = 0; band < bands; band++) sum += cosines[order * bands + band]! * levelsDb[band]!
    cepstrum[order] = sum
  }
}

/** The way back, as far as the cepstrum knows it. @param levelsDb is written */
export function fromCepstrum(cepstrum: Float64Array, levelsDb: Float64Array): void {
  levelsDb.fill(0)
  for (let order = 0; order < cepstra; order++) {
    for (let band = 0; band < bands; band++) levelsDb[band]! += cosines[order * bands + band]! * cepstrum[order]!
  }
}

/** Frames with speech: within 30 dB of the level that 98 % of them do not reach. */
export const activeDb = 30
export function loudOf(levelsDb: readonly number[]): number {
  const sorted = levelsDb.toSorted((a, b) => a - b)
  return sorted[Math.floor(0.98 * (sorted.length - 1))] ?? 0
}
