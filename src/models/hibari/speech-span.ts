/**
 * Finds where in a chunk the speech is. The graph puts a third of a second of silence before it and nearly half a
 * second after it, which no listener should wait for. The parameters say how loud each frame will be, so the silence
 * is found before any of it is computed.
 */
import { bins, leastVoicedHz, type Parameters } from './parameters.ts'
import type { FrameSpan } from './vocoder.ts'

/** How much of the silence before and after the speech stays: the breath of an h, the end of a t. */
const keptLeadFrames = 4
const keptTailFrames = 7
/** A frame is silent when its level is so far below that of the loudest one. */
const silenceDb = -46

/**
 * @param speed how fast it is spoken: what stays of the silences is shorter in fast speech
 * @returns at least one frame
 */
export function speechSpan(parameters: Parameters, speed: number): FrameSpan {
  const { frames } = parameters
  const powers = framePowers(parameters)
  const least = powers.reduce((most, power) => Math.max(most, power), 0) * 10 ** (silenceDb / 10)
  const first = powers.findIndex((power) => power > least)
  if (first < 0) return { from: 0, to: frames }
  const last = powers.findLastIndex((power) => power > least)
  return {
    from: Math.max(0, first - Math.round(keptLeadFrames / speed)),
    to: Math.min(frames, last + 1 + Math.round(keptTailFrames / speed)),
  }
}

/**
 * Up to a factor, the power of each frame's sound. Harmonics stand f0 apart, each as a peak over bins of 20 Hz that
 * holds 1.5 bins of power: so the pulses have 30 Hz / f0 of power in a bin on average.
 */
function framePowers({ frames, harmonicLog, restLog, f0 }: Parameters): Float64Array {
  const powers = new Float64Array(frames)
  for (let bin = 0; bin < bins; bin++) {
    const row = bin * frames
    for (let frame = 0; frame < frames; frame++) {
      const pitch = f0[frame]!
      powers[frame]! += Math.exp(2 * restLog[row + frame]!)
      if (pitch > leastVoicedHz) powers[frame]! += (30 / pitch) * Math.exp(2 * harmonicLog[row + frame]!)
    }
  }
  return powers
}
