/**
 * The interface of a model architecture, which each folder of `models/` implements, so that nothing outside the
 * registry can tell one from another.
 */
import type { Card } from '../domain/card.ts'
import type { TranscriptSegment } from '../domain/transcript.ts'

/** One text to speak. */
export interface SpeechInput {
  voiceId: string
  text: string
  /** The result of `clone`, for a cloned voice; null: the voice is one of the card's. */
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
  /** In seconds from the start of its chunk; it may extend into later ones. */
  startS: number
  endS: number
}

export interface SpokenChunk {
  /** Mono, in [-1, 1], at the model's rate. */
  pcm: Float32Array
  /** Code points of the input that are spoken once this chunk has been played. */
  coveredChars: number
  /** What is spoken from here on, in order, as timed by the model; absent: unknown. */
  spans?: readonly SpokenSpan[]
  /**
   * The next chunk is a part of what is being computed already, whether it is pulled or not: resolves once all of that
   * is computed or given up, and never rejects. Absent: the next pull computes.
   */
  rest?: Promise<void>
  /** The last that is computed for the text: a pull after it computes nothing. Absent: that is not known. */
  isLast?: true
  /** What the next pull computes is the last. Absent: that is not known. */
  isLastNext?: true
}

export interface SpeechModel {
  readonly sampleRateHz: number
  /** Absent: it computes wherever the graphs of this process run. */
  readonly onCpu?: true
  /** Absent: it is unloaded when it has been idle for a while. */
  readonly staysLoaded?: true
  /**
   * One chunk per step. At most one chunk is computed ahead of what is pulled; the signal ends the work at once.
   * @throws InputRefused if it cannot speak like that, in words for the client; other errors in words for the log,
   * without the text
   */
  speak(input: SpeechInput, signal: AbortSignal): AsyncIterable<SpokenChunk>
  /**
   * What this model needs to speak with the voice of a clip; absent: it cannot clone. A format of its own, with a
   * version.
   * @param clip mono, in [-1, 1]
   * @throws ClipRefused if this clip cannot become a voice, in words for the user
   */
  clone?(clip: Clip, signal: AbortSignal): Promise<Uint8Array>
  /** Does what is slow the first time, if no text is waiting that would do so itself; absent: nothing is. */
  warm?(): Promise<void>
  unload(): Promise<void>
}

export interface Clip {
  pcm: Float32Array
  sampleRateHz: number
}

export class ClipRefused extends Error {}

export interface LoadOptions {
  card: Card
  /** Folder of the model's files; null: it is inside the program. */
  filesDir: string | null
  /** Text of the user's dictionary. */
  pronunciations: string | null
  /** Threads that it may use. */
  workers: number
}

/** Loads a model of one architecture. @throws Error that says what is wrong with it */
export type LoadSpeechModel = (options: LoadOptions) => Promise<SpeechModel>

/** How to transcribe a clip. */
export interface TranscriptionInput {
  task: 'transcribe' | 'translate'
  /** ISO 639; null: to be detected. */
  language: string | null
  prompt: string | null
  /** 0: the model's own ladder of temperatures; otherwise the one to sample with. */
  temperature: number
  /** Whether word times are wanted. */
  words: boolean
}

export interface TranscriptionModel {
  /** Of the windows that it takes. */
  readonly sampleRateHz: number
  /** Absent: it computes wherever the graphs of this process run. */
  readonly onCpu?: true
  /** Longest window; speech is cut at pauses so that none is longer. */
  readonly maxWindowMs: number
  /** @throws InputRefused when it cannot do what is asked, such as another language or a translation */
  begin(input: TranscriptionInput): Transcribing
  unload(): Promise<void>
}

/**
 * This model cannot speak or transcribe like that: reported to the client, with the supported values if they are few.
 */
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

/** One clip being transcribed: the text of earlier windows may help with later ones. */
export interface Transcribing {
  /** ISO 639, as given or detected; null: not known yet. */
  readonly language: string | null
  /**
   * Windows in the order of the clip; the signal ends the work between two steps.
   * @param pcm mono, in [-1, 1], at the model's rate
   * @param tell gets segments as soon as they are certain: all, or none if a model does not support it; they are
   * returned too
   * @returns segments whose times count from the window's start
   */
  hear(
    pcm: Float32Array,
    signal: AbortSignal,
    tell?: (segments: readonly TranscriptSegment[]) => void,
  ): Promise<TranscriptSegment[]>
  /** Absent: it takes windows one after another. */
  readonly batch?: {
    /** Windows at most, 2 or more. */
    max: number
    /**
     * Consecutive windows, at less cost than one by one, each without the text of those before.
     * @param windows @returns for each of them as `hear`
     */
    hear(windows: readonly Float32Array[], signal: AbortSignal): Promise<TranscriptSegment[][]>
  }
}

/** Loads a model of one architecture. @throws Error that says what is wrong with it */
export type LoadTranscriptionModel = (options: LoadOptions) => Promise<TranscriptionModel>
