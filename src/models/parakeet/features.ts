/**
 * The input of Parakeet: the logarithm of the power in mel bands, a hundred times per second, each band normalized to
 * mean 0 and deviation 1 over the whole window (NVIDIA NeMo since 2.5, `FilterbankFeatures`). The graph `nemo128.onnx`
 * beside the published models is that of NeMo 2.4, which mirrored the audio at both ends and counted a frame more;
 * onnx-asr does not use it either. Computed here: one file less to fetch and to pass every sample to, and its
 * arithmetic can be tested without it.
 */
import { hannSymmetric } from '../../audio/fft.ts'
import { MelMeter } from '../../audio/mel.ts'

export const sampleRateHz = 16_000
export const hopMs = 10

const hopSamples = (sampleRateHz * hopMs) / 1000
const spanSamples = 400
const fftLength = 512
const preEmphasis = 0.97
/** Added to every power, so that silence has a logarithm. */
const floor = 2 ** -24
/** Added to every deviation, so that a band that never changes becomes zeros. */
const minDeviation = 1e-5

export interface Features {
  bands: number
  /** Frames of audio. One more follows in `values`, all zeros, as in the reference. */
  frames: number
  /** Band by band; in each, frame by frame. */
  values: Float32Array
}

/** Below this a deviation is meaningless. */
export const minFrames = 2

/** Measures with filters that are made once. */
export class FeatureMeter {
  readonly #meter: MelMeter

  constructor(readonly bands: number) {
    const options = { sampleRateHz, fftLength, bands, minHz: 0, maxHz: sampleRateHz / 2, norm: 'slaney' } as const
    this.#meter = new MelMeter(options, spanSamples, hannSymmetric(spanSamples))
  }

  /** @param pcm mono, in [-1, 1], 16 kHz @throws RangeError when it is shorter than `minFrames` */
  measure(pcm: Float32Array): Features {
    const { bands } = this
    const frames = Math.floor(pcm.length / hopSamples)
    if (frames < minFrames) throw new RangeError(`${pcm.length} samples have no features`)
    const levels = Array.from({ length: bands }, () => new Float64Array(frames))
    const sharpened = withPreEmphasis(pcm)
    const powers = new Float64Array(bands)
    for (let frame = 0; frame < frames; frame++) {
      // Each span has its middle where its frame begins.
      this.#meter.measure(sharpened, frame * hopSamples - spanSamples / 2, powers)
      for (let band = 0; band < bands; band++) levels[band]![frame] = Math.log(powers[band]! + floor)
    }
    const values = new Float32Array(bands * (frames + 1))
    for (const [band, level] of levels.entries()) values.set(normalised(level), band * (frames + 1))
    return { bands, frames, values }
  }
}

function withPreEmphasis(pcm: Float32Array): Float64Array {
  const sharpened = new Float64Array(pcm.length)
  for (let i = 0; i < pcm.length; i++) sharpened[i] = pcm[i]! - preEmphasis * (pcm[i - 1] ?? 0)
  return sharpened
}

/** Mean 0, deviation 1, the deviation being that of a sample (n - 1). */
function normalised(levels: Float64Array): Float64Array {
  const mean = levels.reduce((sum, level) => sum + level, 0) / levels.length
  const squares = levels.reduce((sum, level) => sum + (level - mean) ** 2, 0)
  const deviation = Math.sqrt(squares / (levels.length - 1)) + minDeviation
  return levels.map((level) => (level - mean) / deviation)
}
