/** Decides how one model of Pocket TTS speaks: its card may override Kyutai's defaults. */
import type { Card } from '../../domain/card.ts'

export interface Manner {
  /** Variance of the noise: how lively, and how risky. */
  temperature: number
  /** Steps of the flow: more steps, finer frames. */
  flowSteps: number
  /** Frames at the start in which the model cannot have finished. */
  eosGuardFrames: number
  /** Frames behind the one at which the model says that it has finished; null: as the bundle or the text says. */
  framesAfterEos: number | null
  /** Exactly this many frames, whatever the model says; null: as it says. For measuring models that cannot speak. */
  frames: (() => number) | null
}

/**
 * The temperature is the one that Kyutai's listeners preferred for the models of April 2026 and later.
 * @throws Error that names the card and the option
 */
export const mannerOf = (card: Card, frames: Manner['frames']): Manner => ({
  temperature: option(card, 'temperature', 0, 4) ?? 0.3,
  flowSteps: wholeOption(card, 'lsd_steps', 1, 64) ?? 1,
  eosGuardFrames: wholeOption(card, 'eos_guard_frames', 0, 100) ?? 6,
  framesAfterEos: wholeOption(card, 'frames_after_eos', 1, 100),
  frames,
})

function option({ id, options }: Card, name: string, min: number, max: number): number | null {
  const value = options[name]
  if (value === undefined) return null
  if (typeof value === 'number' && value >= min && value <= max) return value
  throw new Error(`${id}: the option ${name} is not a number from ${min} to ${max}`)
}

function wholeOption(card: Card, name: string, min: number, max: number): number | null {
  const value = option(card, name, min, max)
  if (value === null || Number.isInteger(value)) return value
  throw new Error(`${card.id}: the option ${name} is not a whole number`)
}
