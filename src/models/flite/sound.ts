/**
 * From Flite's sound to ours: its silences go (the pipeline sets pauses by the kind of boundary), the ends are faded so
 * that joins do not click, the level is the same for each voice, peaks are bent instead of cut, and the rate is the
 * card's.
 */
import { fromS16 } from '../../audio/pcm.ts'
import { Resampler } from '../../audio/resample.ts'
import type { Spoken } from './program.ts'

/** Of the silence before and after the speech, so much stays at normal speed: the breath of an h, the end of a t. */
const keptLeadS = 0.02
const keptTailS = 0.04
const fadeS = 0.008

/** Above the knee a peak is bent towards full scale. */
const knee = 0.8

/**
 * @param speed at which it was spoken: what stays of the silences is shorter in fast speech
 * @param sampleRateHz of what is returned
 * @returns mono floats, below 1 in absolute value; empty when there was no speech
 */
export function finish(spoken: Spoken, speed: number, gainDb: number, sampleRateHz: number): Float32Array<ArrayBuffer> {
  const from = Math.round(Math.max(0, spoken.leadS - keptLeadS / speed) * spoken.sampleRateHz)
  const to = spoken.pcm.length - Math.round(Math.max(0, spoken.tailS - keptTailS / speed) * spoken.sampleRateHz)
  if (to <= from) return new Float32Array(0)
  const resampler = new Resampler(spoken.sampleRateHz, sampleRateHz)
  const speech = fromS16(spoken.pcm.subarray(from, to))
  const head = resampler.push(speech)
  const rest = resampler.flush()
  const samples = new Float32Array(head.length + rest.length)
  samples.set(head)
  samples.set(rest, head.length)
  amplify(samples, 10 ** (gainDb / 20))
  fade(samples, Math.round(fadeS * sampleRateHz))
  return samples
}

function amplify(samples: Float32Array, gain: number): void {
  for (let i = 0; i < samples.length; i++) {
    const sample = samples[i]! * gain
    const over = Math.abs(sample) - knee
    samples[i] = over <= 0 ? sample : Math.sign(sample) * (knee + (1 - knee) * Math.tanh(over / (1 - knee)))
  }
}

/** Raised cosine at both ends: the first and the last sample are 0. */
function fade(samples: Float32Array, length: number): void {
  const width = Math.min(length, samples.length >> 1)
  for (let i = 0; i < width; i++) {
    const weight = (1 - Math.cos((Math.PI * i) / width)) / 2
    samples[i]! *= weight
    samples[samples.length - 1 - i]! *= weight
  }
}
