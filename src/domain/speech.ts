/**
 * Describes what a speech request may ask for: the formats, and the request after its body was checked (docs/api.md
 * 2.1).
 */
export const audioFormats = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const
export type AudioFormat = (typeof audioFormats)[number]

export const sampleRatesHz = [8000, 16000, 22050, 24000, 44100, 48000] as const
export const defaultSampleRateHz = 24000

/** When a word of the input is spoken. */
export interface SpokenWord {
  /** Its place in the input, in code points; the last one not part of it. */
  from: number
  to: number
  /** From the beginning of the speech. */
  startMs: number
  endMs: number
  /** It is not known from the model, but guessed from the length of the words. */
  isEstimated: boolean
}

export interface SpeechRequest {
  /** As the client named it; null: absent, or `auto`. */
  model: string | null
  /** As the client named it; null: absent. */
  voice: string | null
  /** 1 to MAX_INPUT_CHARS code points, without lone surrogates. */
  input: string
  format: AudioFormat
  /** 0.25 to 4. */
  speed: number
  streamFormat: 'audio' | 'sse'
  /** Whether word times are requested. */
  wordTimes?: boolean
  instructions: string | null
  language: string | null
  seed: number | null
  /** Other than 24,000 only for pcm and wav. */
  sampleRateHz: number
}
