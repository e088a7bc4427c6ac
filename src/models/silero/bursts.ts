/**
 * Finds bursts of speech as the probabilities arrive, window by window: by the rules and default thresholds of Silero's
 * `get_speech_timestamps` (snakers4/silero-vad, utils_vad.py), with hysteresis.
 *
 * One rule is ours: what is neither clearly speech nor clearly silence does not keep a burst open that has fallen
 * silent. Silero's own keeps it open for as long as that lasts, and the reader of a stream cannot wait forever.
 */
export interface Span {
  startMs: number
  endMs: number
}

/** A burst begins at this probability, and continues until it is below the lower one for `minSilenceMs`. */
const enter = 0.5
const leave = 0.35
const minSilenceMs = 100
/** Anything shorter is not speech. */
const minSpeechMs = 250

export const isSpeech = ({ startMs, endMs }: Span): boolean => endMs - startMs > minSpeechMs

export class BurstFinder {
  #atMs = 0
  #startMs: number | null = null
  #quietSinceMs: number | null = null

  /** @param windowMs length of audio per probability */
  constructor(readonly windowMs: number) {}

  /** The current burst, up to where speech was last found. */
  get open(): Span | null {
    return this.#startMs === null ? null : { startMs: this.#startMs, endMs: this.#quietSinceMs ?? this.#atMs }
  }

  /** @returns the burst of which the silence after it has now lasted long enough */
  push(probability: number): Span | null {
    const startedMs = this.#atMs
    this.#atMs += this.windowMs
    if (probability >= enter) {
      this.#startMs ??= startedMs
      this.#quietSinceMs = null
    }
    if (this.#startMs === null || probability >= enter) return null
    if (probability < leave) this.#quietSinceMs ??= startedMs
    if (this.#quietSinceMs === null || startedMs - this.#quietSinceMs < minSilenceMs) return null
    const burst = { startMs: this.#startMs, endMs: this.#quietSinceMs }
    this.#startMs = this.#quietSinceMs = null
    return burst
  }
}
