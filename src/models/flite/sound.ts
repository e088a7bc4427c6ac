/**
 * From Flite's audio to ours: its silences are removed (the pipeline sets pauses by the kind of boundary), the ends are
 * faded so that joins do not click, the level is the same for each voice, a muffled one is brightened, a clone gets its
 * size and timbre, peaks are bent instead of clipped, and the rate is the card's.
 */
import { concatFloats, fromS16 } from '../../audio/pcm.ts'
import { Resampler } from '../../audio/resample.ts'
import type { Spoken } from './program.ts'
import { equalizer, filtered } from './spectrum.ts'
import type { FliteVoice } from './voices.ts'

/** How much of the silence before and after the speech stays at normal speed: the breath of an h, the end of a t. */
const keptLeadS = 0.02
const keptTailS = 0.04
const fadeS = 0.008

const trebleHz = 1000

/** Above the knee a peak is bent towards full scale. */
const knee = 0.8

/**
 * @param speed at which it was spoken: the remaining silences are shorter in fast speech
 * @param sampleRateHz of the result
 * @returns mono floats, below 1 in absolute value; empty if there was no speech
 */
export function finish(
  spoken: Spoken,
  speed: number,
  voice: FliteVoice,
  sampleRateHz: number,
): Float32Array<ArrayBuffer> {
  const from = Math.round(Math.max(0, spoken.leadS - keptLeadS / speed) * spoken.sampleRateHz)
  const to = spoken.pcm.length - Math.round(Math.max(0, spoken.tailS - keptTailS / speed) * spoken.sampleRateHz)
  if (to <= from) return new Float32Array(0)
  // Plays it faster by this factor, for which `program.ts` had it spoken slower: this raises the formants and changes
  // nothing else.
  const playedHz = Math.round(spoken.sampleRateHz * voice.formants)
  const resampler = new Resampler(playedHz, sampleRateHz)
  const raw = fromS16(spoken.pcm.subarray(from, to))
  const speech = voice.equalizerDb === null ? raw : filtered(raw, equalizer(voice.equalizerDb, playedHz))
  brighten(speech, voice.treble, spoken.sampleRateHz)
  const samples = concatFloats([resampler.push(speech), resampler.flush()])
  amplify(samples, 10 ** (voice.gainDb / 20))
  fade(samples, Math.round(fadeS * sampleRateHz))
  return samples
}

/** Adds `share` of what is above the corner (6 dB per octave): a muffled voice becomes clear. */
function brighten(samples: Float32Array, share: number, sampleRateHz: number): void {
  const step = 1 - Math.exp((-2 * Math.PI * trebleHz) / sampleRateHz)
  let low = 0
  for (let i = 0; i < samples.length; i++) {
    const sample = samples[i]!
    low += step * (sample - low)
    samples[i] = sample + share * (sample - low)
  }
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
