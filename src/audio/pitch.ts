/**
 * The pitch of a voice, by YIN: A. de Cheveigné and H. Kawahara, "YIN, a fundamental frequency estimator for speech and
 * music", J. Acoust. Soc. Am. 111 (2002). Steps 2 to 5 of the paper: difference function, cumulative mean, absolute
 * threshold, parabolic interpolation. Samples at 8 kHz are enough: the highest voice has a period of 16.
 */
import { Resampler } from './resample.ts'

const rateHz = 8000
const minHz = 60
const maxHz = 500
const windowS = 0.03
const stepS = 0.01

/** A frame below it is voiced; the paper's own examples use 0.1, which leaves out much of what is a little hoarse. */
const threshold = 0.15
/** Frames this far below the loudest one are room noise and breath. */
const quietDb = 35

const shortest = Math.floor(rateHz / maxHz)
const longest = Math.ceil(rateHz / minHz)
const width = Math.round(windowS * rateHz)
const step = Math.round(stepS * rateHz)

export interface Pitch {
  medianHz: number
  /** Standard deviation in semitones, of what is within an octave of the median: halved and doubled periods are not. */
  deviationSemitones: number
  voicedS: number
}

/**
 * @param samples mono @param pause awaited every 100 frames, about each 10 ms of work; may throw
 * @returns null when nothing has a pitch
 */
export async function measurePitch(
  samples: Float32Array,
  sampleRateHz: number,
  pause: () => Promise<void>,
): Promise<Pitch | null> {
  const resampler = new Resampler(sampleRateHz, rateHz)
  const head = resampler.push(samples)
  const tail = resampler.flush()
  const signal = new Float32Array(head.length + tail.length)
  signal.set(head)
  signal.set(tail, head.length)
  const frames: { hz: number; energy: number }[] = []
  for (let at = 0; at + width + longest < signal.length; at += step) {
    if (at % (100 * step) === 0) await pause()
    const energy = energyAt(signal, at)
    const hz = energy === 0 ? null : pitchAt(signal, at)
    if (hz !== null) frames.push({ hz, energy })
  }
  return summary(frames)
}

function summary(frames: readonly { hz: number; energy: number }[]): Pitch | null {
  const loudest = frames.reduce((most, { energy }) => Math.max(most, energy), 0)
  const least = loudest / 10 ** (quietDb / 10)
  const voiced = frames.filter(({ energy }) => energy >= least).map(({ hz }) => 12 * Math.log2(hz))
  if (voiced.length === 0) return null
  const median = voiced.toSorted((a, b) => a - b)[voiced.length >> 1]!
  const near = voiced.filter((semitones) => Math.abs(semitones - median) < 12)
  const mean = near.reduce((sum, semitones) => sum + semitones, 0) / near.length
  const variance = near.reduce((sum, semitones) => sum + (semitones - mean) ** 2, 0) / near.length
  return { medianHz: 2 ** (median / 12), deviationSemitones: Math.sqrt(variance), voicedS: voiced.length * stepS }
}

function energyAt(signal: Float32Array, at: number): number {
  let energy = 0
  for (let i = at; i < at + width; i++) energy += signal[i]! * signal[i]!
  return energy
}

/** @returns null when the frame is not periodic enough */
function pitchAt(signal: Float32Array, at: number): number | null {
  const normal = normalDifference(signal, at)
  for (let lag = shortest; lag < longest; lag++) {
    if (normal[lag]! >= threshold) continue
    while (lag + 1 < longest && normal[lag + 1]! < normal[lag]!) lag++
    // The last lag is not a minimum, only the end of the search.
    return lag + 1 === longest ? null : rateHz / (lag + vertex(normal[lag - 1]!, normal[lag]!, normal[lag + 1]!))
  }
  return null
}

/** Equation 8 of the paper: the difference function over its mean up to each lag. */
function normalDifference(signal: Float32Array, at: number): Float64Array {
  const normal = new Float64Array(longest + 1)
  normal[0] = 1
  let sum = 0
  for (let lag = 1; lag <= longest; lag++) {
    let difference = 0
    for (let i = at; i < at + width; i++) {
      const change = signal[i]! - signal[i + lag]!
      difference += change * change
    }
    sum += difference
    normal[lag] = sum === 0 ? 1 : (difference * lag) / sum
  }
  return normal
}

/** Where the parabola through three neighbours is lowest, from the middle one. */
function vertex(left: number, middle: number, right: number): number {
  const curve = left - 2 * middle + right
  return curve <= 0 ? 0 : (left - right) / (2 * curve)
}
