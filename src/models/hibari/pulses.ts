/**
 * The voice before it has a colour: a pulse in each period, which is every harmonic below 11 kHz at the same height.
 * The sum of cos(h t) for h = 1 to H is sin((H + 1/2) t) / (2 sin(t/2)) - 1/2 (Dirichlet's kernel).
 */
import { hopSamples, leastVoicedHz, sampleRateHz } from './parameters.ts'

const mostHz = 11_000
/** So close to a multiple of a period the quotient is its limit, H + 1/2. */
const nearZero = 2e-3

export class Pulses {
  /** Mono, at 24 kHz; samples of frames that are not made yet are 0. */
  readonly samples: Float32Array
  readonly #f0: Float32Array
  #made = 0
  /** How far the present period has come, 0 to 1. */
  #cycle = 0

  /** @param f0 in Hz, one a frame */
  constructor(f0: Float32Array) {
    this.#f0 = f0
    this.samples = new Float32Array(f0.length * hopSamples)
  }

  /** Makes the samples of the first `frames` frames. */
  make(frames: number): void {
    const f0 = this.#f0
    const last = f0.length - 1
    for (; this.#made < Math.min(frames, f0.length); this.#made++) {
      const frame = this.#made
      this.#frame(frame, f0[Math.max(0, frame - 1)]!, f0[frame]!, f0[Math.min(last, frame + 1)]!)
    }
  }

  /** The pitch of a frame is that of its middle; between two middles it goes straight from one to the other. */
  #frame(frame: number, before: number, here: number, after: number): void {
    for (let at = 0; at < hopSamples; at++) {
      const place = (at + 0.5) / hopSamples - 0.5
      const pitch = place < 0 ? here + (before - here) * -place : here + (after - here) * place
      const hz = Math.max(pitch, leastVoicedHz)
      this.#cycle += hz / sampleRateHz
      this.#cycle -= Math.floor(this.#cycle)
      if (pitch <= leastVoicedHz) continue
      const t = 2 * Math.PI * this.#cycle
      const harmonics = Math.floor(mostHz / hz) + 0.5
      const divisor = 2 * Math.sin(t / 2)
      const sum = Math.abs(divisor) <= nearZero ? harmonics : Math.sin(harmonics * t) / divisor
      this.samples[frame * hopSamples + at] = sum - 0.5
    }
  }
}
