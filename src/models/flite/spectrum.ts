/**
 * The timbre of a voice: its long-term spectrum in third octaves, and a filter that turns one into another. It
 * distinguishes voices almost as much as pitch does, and includes a recording's room and microphone.
 */
import { Fft, hann } from '../../audio/fft.ts'

/** Centres of the bands: 125 Hz to 6.3 kHz. */
export const bandsHz: readonly number[] = Array.from({ length: 18 }, (_, band) => 125 * 2 ** (band / 3))
const halfBand = 2 ** (1 / 6)

const frame = 512
/** Frames this far below the loudest one are pauses. */
const quietDb = 35
/** A band this far below the strongest one is empty: the clip was band-limited there, by a telephone for instance. */
const emptyDb = 60

/** @param samples mono, at a rate that covers the bands @returns null if there is no audio */
export function bandLevels(samples: Float32Array, sampleRateHz: number): number[] | null {
  const powers = framePowers(samples, sampleRateHz)
  const loudness = powers.map((bands) => bands.reduce((sum, power) => sum + power, 0))
  const loudest = loudness.reduce((most, power) => Math.max(most, power), 0)
  if (loudest === 0) return null
  const heard = powers.filter((_, i) => loudness[i]! >= loudest / 10 ** (quietDb / 10))
  const means = bandsHz.map((_, band) => heard.reduce((sum, bands) => sum + bands[band]!, 0) / heard.length)
  const least = Math.max(...means) / 10 ** (emptyDb / 10)
  return means.map((power) => 10 * Math.log10(Math.max(power, least)))
}

/** For each frame the mean power of the bins of each band. */
function framePowers(samples: Float32Array, sampleRateHz: number): number[][] {
  const fft = new Fft(frame)
  const window = hann(frame)
  const re = new Float64Array(frame)
  const im = new Float64Array(frame)
  const bins = bandsHz.map((hz) => {
    const first = Math.round((hz / halfBand / sampleRateHz) * frame)
    return { first, last: Math.max(first, Math.round(((hz * halfBand) / sampleRateHz) * frame) - 1) }
  })
  const powers: number[][] = []
  for (let at = 0; at + frame <= samples.length; at += frame / 2) {
    for (let i = 0; i < frame; i++) re[i] = samples[at + i]! * window[i]!
    im.fill(0)
    fft.transform(re, im)
    powers.push(
      bins.map(({ first, last }) => {
        let power = 0
        for (let k = first; k <= last; k++) power += re[k]! ** 2 + im[k]! ** 2
        return power / (last - first + 1)
      }),
    )
  }
  return powers
}

const taps = 256

/**
 * A linear-phase filter by frequency sampling (Rabiner and Gold, "Theory and application of digital signal processing",
 * 1975): gains between the bands are interpolated over the logarithm of frequency, those outside are the outermost
 * band's.
 * @param gainsDb one per band @param sampleRateHz of what it filters
 */
export function equalizer(gainsDb: readonly number[], sampleRateHz: number): Float64Array {
  const re = Float64Array.from({ length: taps }, (_, k) => {
    const hz = (Math.min(k, taps - k) * sampleRateHz) / taps
    return 10 ** (gainAt(gainsDb, hz) / 20)
  })
  new Fft(taps).transform(re, new Float64Array(taps))
  const window = hann(taps)
  return Float64Array.from(window, (weight, i) => (weight * re[(i + taps / 2) % taps]!) / taps)
}

function gainAt(gainsDb: readonly number[], hz: number): number {
  const at = Math.max(0, Math.min(bandsHz.length - 1, 3 * Math.log2(Math.max(hz, 1) / bandsHz[0]!)))
  const below = Math.floor(at)
  const lower = gainsDb[below]!
  return lower + (at - below) * ((gainsDb[below + 1] ?? lower) - lower)
}

/** The same length, without delay. */
export function filtered(samples: Float32Array, filter: Float64Array): Float32Array<ArrayBuffer> {
  const half = filter.length / 2
  const padded = new Float32Array(samples.length + filter.length)
  padded.set(samples, half)
  const output = new Float32Array(samples.length)
  for (let i = 0; i < output.length; i++) {
    let sum = 0
    for (let k = 0; k < filter.length; k++) sum += filter[k]! * padded[i + k]!
    output[i] = sum
  }
  return output
}
