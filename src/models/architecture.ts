/**
 * What a model architecture is to the engine: the interface that each folder of `models/` implements, so that nothing
 * outside the registry knows one from another.
 */
import type { Card } from '../domain/card.ts'
import type { TranscriptSegment } from '../domain/transcript.ts'

/** One text to speak. */
export interface SpeechInput {
  voiceId: string
  text: string
  /** What `clone` made, for a cloned voice; null: the voice is one of the card's. */
  voiceState: Uint8Array | null
  /** 0.25 to 4; 1 is the voice's own pace. */
  speed: number
  /** BCP-47; null: the voice's own. */
  language: string | null
  instructions: string | null
  seed: number | null
}

/** When a stretch of the input is spoken. */
export interface SpokenSpan {
  /** Code points of the input that are covered once it has been spoken; it begins where the one before ended. */
  end: number
  /** In seconds from the beginning of its chunk; it may reach into those that follow. */
  startS: number
  endS: number
}

export interface SpokenChunk {
  /** Mono, in [-1, 1], at the model's rate. */
  pcm: Float32Array
  /** Code points of the input that are spoken once this chunk has been played. */
  coveredChars: number
  /** What is spoken from here on, in order, as the model itself has timed it; absent: it does not say. */
  spans?: readonly SpokenSpan[]
}

export interface SpeechModel {
  readonly sampleRateHz: number
  /** Absent: it computes wherever the graphs of this process run. */
  readonly onCpu?: true
  /** Absent: it is unloaded once nobody has used it for a while. */
  readonly staysLoaded?: true
  /**
   * One chunk per step. At most one chunk is computed ahead of what is pulled; the signal ends the work at once.
   * @throws InputRefused when it cannot speak like that, in words for the client; other errors in words for the log,
   * without the text that was to be spoken
   */
  speak(input: SpeechInput, signal: AbortSignal): AsyncIterable<SpokenChunk>
  /**
   * What this model needs to speak with the voice of a clip; absent: it cannot clone. Its own format, with a version.
   * @param clip mono, in [-1, 1]
   * @throws ClipRefused when this clip cannot be a voice, in words for whoever recorded it
   */
  clone?(clip: Clip, signal: AbortSignal): Promise<Uint8Array>
  unload(): Promise<void>
}

export interface Clip {
  pcm: Float32Array
  sampleRateHz: number
}

export class ClipRefused extends Error {}

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

/** How a clip is to be listened to. */
export interface TranscriptionInput {
  task: 'transcribe' | 'translate'
  /** ISO 639; null: to be detected. */
  language: string | null
  prompt: string | null
  /** 0: the model's own ladder of temperatures; otherwise the one to sample with. */
  temperature: number
  /** Whether times of single words are wanted. */
  words: boolean
}

export interface TranscriptionModel {
  /** Of the windows that it hears. */
  readonly sampleRateHz: number
  /** Absent: it computes wherever the graphs of this process run. */
  readonly onCpu?: true
  /** Longest window; speech is cut at pauses so that none is longer. */
  readonly maxWindowMs: number
  /** @throws InputRefused when it cannot do what is asked, such as another language or a translation */
  begin(input: TranscriptionInput): Transcribing
  unload(): Promise<void>
}

/** This model cannot listen or speak so: told to whoever asked, with the values that it supports where they are few. */
export class InputRefused extends Error {
  constructor(
    message: string,
    /** The field of the request that another model, or another value, would satisfy. */
    readonly param: 'model' | 'language',
  ) {
    super(message)
    this.name = 'InputRefused'
  }
}

/** One clip being transcribed: what was heard in earlier windows may help with later ones. */
export interface Transcribing {
  /** ISO 639, as given or detected; null: not known yet. */
  readonly language: string | null
  /**
   * Windows in the order of the clip; the signal ends the work between two steps.
   * @param pcm mono, in [-1, 1], at the model's rate
   * @param tell is given segments as soon as they are certain: all or, where a model does not, none; returned, too
   * @returns segments whose times count from the window's start
   */
  hear(
    pcm: Float32Array,
    signal: AbortSignal,
    tell?: (segments: readonly TranscriptSegment[]) => void,
  ): Promise<TranscriptSegment[]>
  /** Absent: it hears windows one after another. */
  readonly batch?: {
    /** Windows at most, 2 or more. */
    max: number
    /**
     * Windows that follow each other, at less cost than one by one, and each without what was heard in those before.
     * @param windows @returns for each of them as `hear`
     */
    hear(windows: readonly Float32Array[], signal: AbortSignal): Promise<TranscriptSegment[][]>
  }
}

/** Loads a model of one architecture. @throws Error that says what is wrong with it */
export type LoadTranscriptionModel = (options: LoadOptions) => Promise<TranscriptionModel>
