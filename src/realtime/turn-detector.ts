/**
 * Where turns begin and end, from how likely it is that somebody speaks, window by window. As Silero's own rules have
 * it, it takes less to go on than to begin.
 */
import { watchedSamples } from '../service/ports-transcription.ts'
import type { TurnSettings } from './config.ts'
import { samplesPerMs } from './input.ts'

/** So many windows in a row begin a turn: a click is none. */
const windowsToBegin = 3
const leaveBelow = 0.15
/** Between words of one sentence nobody is silent for so long. */
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

  /** Where the last window ended. */
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

  /** The turn under way is dropped. */
  forget(): void {
    this.#voiceEnd = null
    this.#run = 0
  }
}
