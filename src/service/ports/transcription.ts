/** Names what transcription needs from its engine and from the decoder of clips. */
import type { ListeningEnding } from '../../domain/listening.ts'
import type { TranscriptSegment } from '../../domain/transcript.ts'
import type { EngineStatus } from './engines.ts'

export interface TranscriptionOrder {
  model: string
  /** The account whose share of the engine it uses. */
  share: string
  /** `translate`: into English, whatever is spoken. */
  task: 'transcribe' | 'translate'
  /** ISO 639; null: to be detected. */
  language: string | null
  /** Text that came before, or words to expect. */
  prompt: string | null
  /** 0: the model's own ladder; otherwise the one temperature to sample with. */
  temperature: number
  /** Whether word times are wanted. */
  words: boolean
  /**
   * Whether a client reads while it is transcribed: then a segment is sent as soon as it is certain, with statistics so
   * far. Absent: a segment is sent when its window is done.
   */
  early?: boolean
}

/** The results for parts of the clip, in order. */
export interface TranscriptPart {
  segments: readonly TranscriptSegment[]
  /** ISO 639, as requested or detected; null: no speech yet to detect it from. */
  language: string | null
  /** How much of the clip has been processed, silence included. */
  heardMs: number
}

export interface TranscriptionEngine {
  /** Like that of a speech engine. */
  start(warmModel: string | null): Promise<void>
  /**
   * Begins to load the model of an order that is about to come, and returns at once. What fails is reported to that
   * order.
   */
  prepare(model: string): void
  /**
   * Parts as they are transcribed. The clip is pulled as the engine needs it, so hours of audio are never in memory.
   * Stops immediately when the signal aborts (the iteration then throws its reason).
   * @param pcm mono, 16 kHz, in blocks of any length
   * @throws MynaError `engine_unavailable`, `generation_failed`; `unsupported_value` on `model` or `language`, in the
   * model's words, before any result; or what the clip's own iteration throws
   */
  transcribe(
    order: TranscriptionOrder,
    pcm: AsyncIterable<Int16Array>,
    signal: AbortSignal,
  ): AsyncIterable<TranscriptPart>
  /** Like that of a speech engine. */
  dismiss(model: string): void
  engines(): Promise<readonly EngineStatus[]>
}

/** Samples per probability of speech, at 16 kHz. */
export const watchedSamples = 512

export interface SpeechWatcher {
  /**
   * The probability of speech for each 512 samples, as the audio arrives. Many streams may be watched at once; each
   * waits for its next samples for however long. Ends like a transcription.
   * @param pcm mono, 16 kHz, in blocks of any length
   * @returns 0 to 1 for each complete window, and for the remainder at the end
   * @throws MynaError `engine_unavailable`, `generation_failed`; the signal's reason
   */
  watchSpeech(pcm: AsyncIterable<Int16Array>, signal: AbortSignal): AsyncIterable<Float32Array>
}

/** A clip that is decoded as it is read. */
export interface ClipStream {
  /** As detected. */
  container: string
  codec: string
  /** As the file states; null: it does not. */
  durationMs: number | null
  /**
   * Mono at the requested rate, in blocks of about a second, each decoded when it is requested or shortly before.
   * Damaged parts become silence, as long as more is intact.
   * @throws MynaError `invalid_audio` if nothing can be decoded, `audio_too_long`; the signal's reason once it aborts
   */
  pcm: AsyncIterable<Int16Array>
  /** How much of it was replaced by silence because it is damaged or missing; 0 before the end. */
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

/** Who requested the transcription. Nothing is charged for it. */
export interface TranscriptionStart {
  /** How many of the account may run at once, on all boxes together; absent: any number. */
  maxPending?: number
  /** Id of the request. */
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
  /**
   * How much was processed so far; after a crash this is what counts. Ignored for one that has ended. @throws as above
   */
  noteHeard(id: string, heardMs: number): Promise<void>
  /**
   * Ends it and counts it with the usage of its account, in one transaction.
   * @returns false if it was not running; then nothing changed
   * @throws MynaError `storage_full`
   */
  endTranscription(id: string, ending: ListeningEnding): Promise<boolean>
  /** Ends what was running when the server crashed. Only `serve` calls it, like `settleCrashed`. @returns how many */
  endCrashedTranscriptions(beforeId?: string): Promise<number>
}

export interface TranscriptionMeter {
  /** @param result `completed`, `client_gone`, or the code of the error that ended it @param wallMs of the work */
  transcribed(result: string, audioMs: number, wallMs: number): void
}
