/**
 * Turns a clip into the encoder's output for it. The level stays as it is: the model takes the voice with its
 * loudness.
 *
 * The clip is made to end in a short pause, as Kyutai's pocket-tts 4.0 does: the model was trained on clips that end
 * between two words, and after one that ends in speech it continues that speech, with a burst or a wrong first word.
 */
import { concatFloats } from '../../audio/pcm.ts'
import { Resampler } from '../../audio/resample.ts'
import { type Clip, ClipRefused } from '../architecture.ts'
import type { Session, Tensor } from '../../onnx/session.ts'
import type { Bundle } from './bundle.ts'

/**
 * The encoder runs over windows: its attention takes memory with the square of the length, 0.2 GB for 6 s and more than
 * 3 GB for 30 s. It only looks back, over twice 250 positions of 5 ms and some convolutions, so that its output after
 * the first `lookBackS` of a window is what it would be for the whole clip.
 */
const windowS = 6
const lookBackS = 3

/** More makes the voice no truer, and every second takes 12.5 of the model's 1000 positions. */
const maxS = 30
const levelS = 0.02
/** A piece of `levelS` this much quieter than the loudest one is silence. */
const floorDb = 35
const fadeS = 0.02
const pauseS = 0.08

/**
 * @param rateHz of the result @param frame samples that its length is a multiple of
 * @throws ClipRefused when there is nothing to hear
 */
export function voiceClip(clip: Clip, rateHz: number, frame: number): Float32Array {
  const resampler = new Resampler(clip.sampleRateHz, rateHz)
  const head = clip.pcm.subarray(0, Math.round(maxS * clip.sampleRateHz))
  const pcm = concatFloats([resampler.push(head), resampler.flush()])
  const end = speechEnd(pcm, Math.round(levelS * rateHz))
  if (end === 0)
    throw new ClipRefused('This recording is silent. Record a few sentences, spoken close to the microphone.')
  const fade = Math.min(end, Math.round(fadeS * rateHz))
  for (let at = 0; at < fade; at++) pcm[end - 1 - at]! *= at / fade
  const length = Math.min(end + Math.round(pauseS * rateHz), Math.round(maxS * rateHz))
  const whole = new Float32Array(Math.ceil(length / frame) * frame)
  whole.set(pcm.subarray(0, Math.min(end, length)))
  return whole
}

/**
 * @param pcm whole frames @returns float32 [1, frames, numbers]
 * @throws the signal's reason once it aborts
 */
export async function hearClip(
  encoder: Session,
  pcm: Float32Array,
  { sampleRateHz, samplesPerFrame, conditioningDim }: Bundle,
  signal: AbortSignal,
): Promise<Tensor> {
  const [window, lookBack] = [windowS, lookBackS].map((s) => Math.floor((s * sampleRateHz) / samplesPerFrame))
  const frames = pcm.length / samplesPerFrame
  const heard: Float32Array[] = []
  for (let from = 0; from < frames; from = Math.min(frames, Math.max(0, from - lookBack!) + window!)) {
    const start = Math.max(0, from - lookBack!)
    const data = pcm.slice(start * samplesPerFrame, (start + window!) * samplesPerFrame)
    const { latents } = await encoder.run({ audio: { type: 'float32', dims: [1, 1, data.length], data } }, signal)
    const { type, dims } = latents!
    if (type !== 'float32' || dims.join() !== [1, data.length / samplesPerFrame, conditioningDim].join()) {
      throw new Error(`mimi_encoder.onnx gave ${type} [${dims.join(', ')}] for ${data.length} samples`)
    }
    heard.push((latents!.data as Float32Array).subarray((from - start) * conditioningDim))
  }
  return { type: 'float32', dims: [1, frames, conditioningDim], data: concatFloats(heard) }
}

/** Samples up to the end of the last piece that is not silence; 0: all are. */
function speechEnd(pcm: Float32Array, piece: number): number {
  const energies: number[] = []
  for (let from = 0; from < pcm.length; from += piece) {
    const part = pcm.subarray(from, from + piece)
    energies.push(part.reduce((sum, sample) => sum + sample * sample, 0) / part.length)
  }
  const loudest = energies.reduce((max, energy) => Math.max(max, energy), 0)
  if (!(loudest > 0)) return 0
  const last = energies.findLastIndex((energy) => energy > loudest * 10 ** (-floorDb / 10))
  return Math.min(pcm.length, (last + 1) * piece)
}
