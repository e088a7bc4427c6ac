/**
 * Finds where turns begin and end, from the probability of speech, window by window. As in Silero's own rules,
 * continuing takes less than beginning.
 */
import { watchedSamples } from '../service/ports/transcription.ts'
import type { TurnSettings } from './config.ts'
import { samplesPerMs } from './input.ts'

/** This many windows in a row begin a turn: a click does not. */
const windowsToBegin = 3
const leaveBelow = 0.15
/** Pauses between words of one sentence are shorter than this. */
const hurriedSilenceMs = 200

export class TurnDetector {
  settings: TurnSettings
  /** A turn has become long: a short pause is enough to end it. */
  isHurried = false
  #at: number
  #run = 0
  #voiceEnd: number | null = null

  /** @param at where in the session's sound the first window begins */
  constructor(settings: TurnSettings, at: number) {
    this.settings = settings
    this.#at = at
  }

  /** End of the last window. */
  get at(): number {
    return this.#at
  }

  get isSpeaking(): boolean {
    return this.#voiceEnd !== null
  }

  /** @returns `began` with where the voice was first heard, or `ended`; null: nothing new */
  push(probability: number): { began: number } | 'ended' | null {
    this.#at += watchedSamples
    const { threshold, silenceMs } = this.settings
    if (this.#voiceEnd === null) {
      this.#run = probability >= threshold ? this.#run + 1 : 0
      if (this.#run < windowsToBegin) return null
      this.#run = 0
      this.#voiceEnd = this.#at
      return { began: this.#at - windowsToBegin * watchedSamples }
    }
    if (probability >= threshold - leaveBelow) this.#voiceEnd = this.#at
    const enoughMs = this.isHurried ? Math.min(silenceMs, hurriedSilenceMs) : silenceMs
    if (this.#at - this.#voiceEnd < enoughMs * samplesPerMs) return null
    this.#voiceEnd = null
    return 'ended'
  }

  /** Drops the current turn. */
  forget(): void {
    this.#voiceEnd = null
    this.#run = 0
  }
}
