/**
 * The input of Whisper: the logarithm of the power in 80 or 128 mel bands, a hundred times per second (openai/whisper,
 * `whisper/audio.py`). The reference appends 30 seconds of silence, mirrors the audio before its first sample, and
 * limits values to at most 80 dB below the loudest place of the whole audio.
 */
import { MelMeter } from '../../audio/mel.ts'

export const sampleRateHz = 16_000
export const frameMs = 10
/** Frames that the encoder takes at once: 30 seconds. */
export const windowFrames = 3000

const hopSamples = (sampleRateHz * frameMs) / 1000
const spanSamples = 400
/** Frames behind the sound that still see a part of it. */
const echoFrames = 3

export interface LogMel {
  bands: number
  frames: number
  /** Band by band; in each, frame by frame. */
  values: Float32Array
}

/** Measures with filters that are made once. */
export class LogMelMeter {
  readonly #meter: MelMeter

  /** @param bands 80, or 128 for the models called large-v3 */
  constructor(readonly bands: number) {
    this.#meter = new MelMeter({ sampleRateHz, fftLength: spanSamples, bands, minHz: 0, maxHz: 8000, norm: 'slaney' })
  }

  /** @param pcm mono, in [-1, 1], 16 kHz, of any length: what is shorter than a frame has no frames */
  measure(pcm: Float32Array): LogMel {
    const { bands } = this
    const mirrored = withMirror(pcm)
    const frames = Math.floor(pcm.length / hopSamples)
    const values = new Float32Array(bands * frames)
    const powers = new Float64Array(bands)
    let loudest = Number.NEGATIVE_INFINITY
    for (let frame = 0; frame < frames + echoFrames; frame++) {
      this.#meter.measure(mirrored, frame * hopSamples, powers)
      for (let band = 0; band < bands; band++) {
        const level = Math.log10(Math.max(powers[band]!, 1e-10))
        loudest = Math.max(loudest, level)
        if (frame < frames) values[band * frames + frame] = level
      }
    }
    for (let i = 0; i < values.length; i++) values[i] = (Math.max(values[i]!, loudest - 8) + 4) / 4
    return { bands, frames, values }
  }
}

/**
 * The encoder's input of one window.
 * @param count frames from `start` on; what they leave of the 30 seconds is 0, as in the reference
 */
export function windowOf({ bands, frames, values }: LogMel, start: number, count: number): Float32Array {
  const window = new Float32Array(bands * windowFrames)
  for (let band = 0; band < bands; band++) {
    window.set(values.subarray(band * frames + start, band * frames + start + count), band * windowFrames)
  }
  return window
}

/** The middle of the first frame is on the first sample: half of it is the audio backwards. */
function withMirror(pcm: Float32Array): Float32Array {
  const half = spanSamples / 2
  const mirrored = new Float32Array(half + pcm.length)
  for (let i = 0; i < half; i++) mirrored[i] = pcm[half - i] ?? 0
  mirrored.set(pcm, half)
  return mirrored
}
