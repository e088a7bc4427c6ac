// What a model architecture is to the engine: the one interface a folder under models/ implements.
import type { Card } from '../domain/card.ts'

/** One text to speak; speed and language are those the order carries, not yet resolved against the card */
export interface SpeechInput {
  voiceId: string
  text: string
  speed: number
  language: string | null
  instructions: string | null
  seed: number | null
}

/** pcm: mono float in [-1, 1] at the model's rate; coveredChars: code points of the input covered once it is played */
export interface SpokenChunk {
  pcm: Float32Array
  coveredChars: number
}

export interface SpeechModel {
  readonly sampleRateHz: number
  /** One chunk per step; nothing is computed ahead of what is pulled (beyond at most one chunk); the signal ends the work at once */
  speak(input: SpeechInput, signal: AbortSignal): AsyncIterable<SpokenChunk>
  unload(): Promise<void>
}

/** pronunciations: text of the user's dictionary */
export interface LoadOptions {
  card: Card
  filesDir: string | null
  pronunciations: string | null
  workers: number
}

/** Loads a model of this architecture */
export type LoadSpeechModel = (options: LoadOptions) => Promise<SpeechModel>
