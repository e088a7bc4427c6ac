/**
 * What a model architecture is to the engine: the interface that each folder of `models/` implements, so that nothing
 * outside the registry knows one from another.
 */
import type { Card } from '../domain/card.ts'

/** One text to speak. */
export interface SpeechInput {
  voiceId: string
  text: string
  /** 0.25 to 4; 1 is the voice's own pace. */
  speed: number
  /** BCP-47; null: the voice's own. */
  language: string | null
  instructions: string | null
  seed: number | null
}

export interface SpokenChunk {
  /** Mono, in [-1, 1], at the model's rate. */
  pcm: Float32Array
  /** Code points of the input that are spoken once this chunk has been played. */
  coveredChars: number
}

export interface SpeechModel {
  readonly sampleRateHz: number
  /**
   * One chunk per step. At most one chunk is computed ahead of what is pulled; the signal ends the work at once.
   * @throws Error in words for the log, without the text that was to be spoken
   */
  speak(input: SpeechInput, signal: AbortSignal): AsyncIterable<SpokenChunk>
  unload(): Promise<void>
}

export interface LoadOptions {
  card: Card
  /** Where the model's files lie; null: it is inside the program. */
  filesDir: string | null
  /** Text of the user's dictionary. */
  pronunciations: string | null
  /** Threads that it may use. */
  workers: number
}

/** Loads a model of one architecture. @throws Error that says what is wrong with it */
export type LoadSpeechModel = (options: LoadOptions) => Promise<SpeechModel>
