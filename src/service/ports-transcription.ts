/** What transcription needs of its engine and of what decodes clips: `ports.ts` for whoever listens. */
import type { ListeningEnding } from '../domain/listening.ts'
import type { TranscriptSegment } from '../domain/transcript.ts'
import type { EngineStatus } from './ports.ts'

export interface TranscriptionOrder {
  model: string
  /** Whose share of the engine it counts to: an account's id. */
  share: string
  /** `translate`: into English, whatever is spoken. */
  task: 'transcribe' | 'translate'
  /** ISO 639; null: to be detected. */
  language: string | null
  /** What was said before, or words to expect. */
  prompt: string | null
  /** 0: the model's own ladder; otherwise the one temperature to sample with. */
  temperature: number
  /** Whether times of single words are wanted. */
  words: boolean
  /**
   * Whether somebody reads as it is heard: then a segment comes as soon as it is certain, with figures of what was
   * written until then. Absent: once its window is through.
   */
  early?: boolean
}

/** What came of a part of the clip, in order. */
export interface TranscriptPart {
  segments: readonly TranscriptSegment[]
  /** ISO 639, as ordered or detected; null: nothing was heard yet that would tell. */
  language: string | null
  /** So much of the clip has been listened to, silence included. */
  heardMs: number
}

export interface TranscriptionEngine {
  /** As that of a speech engine. */
  start(warmModel: string | null): Promise<void>
  /**
   * Parts as they are heard. The clip is pulled as the engine needs it: hours of it never lie in memory. Ends the
   * work at once when the signal aborts (the iteration then throws its reason).
   * @param pcm mono, 16 kHz, in blocks of any length
   * @throws MynaError `engine_unavailable`, `generation_failed`; `unsupported_value` on `model` or `language`, in the
   * model's words, before anything was heard; or what the clip's own iteration throws
   */
  transcribe(
    order: TranscriptionOrder,
    pcm: AsyncIterable<Int16Array>,
    signal: AbortSignal,
  ): AsyncIterable<TranscriptPart>
  /** As that of a speech engine. */
  dismiss(model: string): void
  engines(): Promise<readonly EngineStatus[]>
}

/** Samples that one probability of speech stands for, at 16 kHz. */
export const watchedSamples = 512

export interface SpeechWatcher {
  /**
   * How likely it is that somebody speaks, for each 512 samples, as the sound comes. Many sounds may be watched at
   * once; each is silent until its next samples come, for however long. Ends like a transcription.
   * @param pcm mono, 16 kHz, in blocks of any length
   * @returns 0 to 1 for each window that is whole, and for what is left at the end
   * @throws MynaError `engine_unavailable`, `generation_failed`; the signal's reason
   */
  watchSpeech(pcm: AsyncIterable<Int16Array>, signal: AbortSignal): AsyncIterable<Float32Array>
}

/** A clip that is decoded as it is read. */
export interface ClipStream {
  /** As it was found to be. */
  container: string
  codec: string
  /** As its file says; null: it does not. */
  durationMs: number | null
  /**
   * Mono at the rate asked for, in blocks of a second or so; each is decoded when it is asked for, or shortly before.
   * What is damaged is silent, as long as more is sound.
   * @throws MynaError `invalid_audio` when nothing can be decoded, `audio_too_long`; the signal's reason once it aborts
   */
  pcm: AsyncIterable<Int16Array>
  /** For so much of it silence stands, because it is damaged or missing; 0 before the end. */
  skippedMs(): number
}

/** Opens a sound as mono samples of that rate, and no more seconds of it. @throws as `StreamDecoder.open` */
export type OpenSound = (options: SoundOptions, signal: AbortSignal) => Promise<ClipStream>

export interface SoundOptions {
  sampleRateHz: number
  maxSeconds: number
}

export interface StreamDecoder {
  /**
   * Opens audio of any supported container, found by its bytes. Ending the iteration early frees everything, and so
   * does the signal.
   * @param path of the uploaded file, which may be removed once this has resolved
   * @throws MynaError `invalid_audio` in words that name an unsupported container or codec
   */
  open(path: string, options: SoundOptions, signal: AbortSignal): Promise<ClipStream>
}

/** Who has something transcribed. Nothing is charged for it. */
export interface TranscriptionStart {
  /** As many of the account may be under way at once, on all boxes together; absent: any number. */
  maxPending?: number
  /** Of the request. */
  id: string
  accountId: string
  keyId: string
  model: string
}

export interface TranscriptionBooks {
  /**
   * Commits that the engine is about to be given the work: from here on no crash loses it.
   * @throws MynaError `storage_full`
   */
  beginTranscription(start: TranscriptionStart): Promise<void>
  /** So much was heard by now, which a crash leaves as the truth. Nothing of one that has ended. @throws as above */
  noteHeard(id: string, heardMs: number): Promise<void>
  /**
   * It is under way no more, and is counted with the usage of its account, in one transaction.
   * @returns false when it was not under way; then nothing changed
   * @throws MynaError `storage_full`
   */
  endTranscription(id: string, ending: ListeningEnding): Promise<boolean>
  /** Ends what a crash left under way. Only `serve` calls it, like `settleCrashed`. @returns how many */
  endCrashedTranscriptions(beforeId?: string): Promise<number>
}

export interface TranscriptionMeter {
  /** @param result `completed`, `client_gone`, or the code of the error that ended it @param wallMs of the work */
  transcribed(result: string, audioMs: number, wallMs: number): void
}
