/**
 * The messages between server and engine, over Bun IPC (`serialization: 'advanced'`, so that PCM stays binary).
 *
 * Flow control: Bun IPC has no back-pressure (a child that sends to a slow server grew to 519 MB), so the server grants
 * each stream a number of frames and the engine never exceeds it. In the other direction, the engine requests samples
 * of a clip, and the server never exceeds that. A typed array that is sent must own its whole buffer: a view drags the
 * buffer behind it along.
 */
import type { SpokenWord } from '../domain/speech.ts'
import type { SpeechOrder, SpeechSpan } from '../service/ports.ts'
import type { TranscriptionOrder, TranscriptPart } from '../service/ports/transcription.ts'

/** What the steps of a model produced, and took. */
export interface Steps {
  steps: number
  /** Sound that they made. */
  soundMs: number
  /** Their machine time: while n steps are computed, each has an nth of it. */
  machineMs: number
  /** The part of it until each of them brought its first sound. */
  firstMs: number
}

/** Frames that a stream may have in flight before its reader takes one. */
export const creditFrames = 16

/** Frames that are granted in one message: half of them, so that the engine never waits for a reader who keeps up. */
export const grantFrames = 8

/** Longest frame: short enough for an early first sound and an even interleaving of streams. */
export const frameMsMax = 200

/** Rate of a clip that is transcribed: mono. */
export const clipRateHz = 16_000

/** Longest block of a clip in one message. */
export const clipBlockSamples = clipRateHz

/**
 * What the self-test graph must answer to a probe: exact, because every number in it is a small sum of powers of two.
 */
export const selfTestOutputs: readonly number[] = [321.5, 642.25, 962.5, 1283.75]

export type ToEngine =
  /** `skipSamples`: the part of the sound that an engine sent before it died; it is left out. */
  | { type: 'speak'; stream: number; order: SpeechOrder; credits: number; skipSamples?: number }
  | { type: 'credit'; stream: number; frames: number }
  /** Answered by `want`, `heard` and, at last, `end`, `failed` or `refused`. */
  | { type: 'transcribe'; stream: number; order: TranscriptionOrder }
  /** Answered by `want`, `voiced` and, at last, `end` or `failed`: the sound comes by `audio`, like a clip. */
  | { type: 'watch'; stream: number }
  /** The next samples of the clip, never more than were requested; after the last there is no more to request. */
  | { type: 'audio'; stream: number; pcm: Int16Array; isLast: boolean }
  | { type: 'cancel'; stream: number }
  /** Loads a model that is about to be used. Not answered: its problems are reported when it is used. */
  | { type: 'warm'; model: string }
  /** Unloads a model as soon as it is unused: its files were removed or changed. Not answered. */
  | { type: 'dismiss'; model: string }
  /** Mono, 16 kHz; answered by `detected` or `query_failed`. */
  | { type: 'detect'; query: number; pcm: Int16Array }
  /** Mono; answered by `cloned`, `clone_refused` or `query_failed`. */
  | { type: 'clone'; query: number; model: string; pcm: Int16Array; sampleRateHz: number }
  /** No caller waits for this query any more. */
  | { type: 'drop'; query: number }
  /** Runs the self-test graph through ONNX Runtime; answered by `probed` or `probe_failed`. */
  | { type: 'probe'; probe: number }
  | { type: 'status'; query: number }
  /** Orderly end: unload, then exit 0. SIGINT and SIGTERM are ignored, for Ctrl-C reaches the whole group. */
  | { type: 'stop' }

export type FromEngine =
  | { type: 'ready'; pid: number; device: string; deviceReason: string | null }
  /** Sent before a model is loaded, and once that is over, well or not: in between the child may not answer. */
  | { type: 'loading'; model: string; isOver: boolean }
  /**
   * Whether a model that was not in memory could be loaded. Not sent if models in use were in its way, because that
   * passes.
   */
  | { type: 'tried'; model: string; reason: string | null }
  /** The answer to each `warm`: the model is in memory, or could not be loaded. */
  | { type: 'warmed'; model: string }
  | {
      type: 'frame'
      stream: number
      pcm: Int16Array
      coveredChars: number
      engineMs: number
      /** Words that begin in this frame. */
      words?: readonly SpokenWord[]
      /** Machine time of the chunk until its first sound: with the first frame of a stream. */
      firstMs?: number
    }
  /** What the steps of a model produced since the last report, and the machine time they took. */
  | ({ type: 'pace'; model: string } & Steps)
  /** Requests this many more samples of the clip. */
  | { type: 'want'; stream: number; samples: number }
  | { type: 'heard'; stream: number; part: TranscriptPart }
  /** One value per window of the detector that has arrived since the last one. */
  | { type: 'voiced'; stream: number; probabilities: Float32Array }
  | { type: 'end'; stream: number }
  | { type: 'failed'; stream: number; message: string; load: LoadFailure | null }
  /** The model cannot do what was ordered, in its words for the client. */
  | { type: 'refused'; stream: number; message: string; param: 'model' | 'language' }
  /** Graphs are being run: one run may take longer than the server waits for a sign of life. */
  | { type: 'alive' }
  | { type: 'probed'; probe: number; onnxRuntime: string; outputs: number[] }
  | { type: 'probe_failed'; probe: number; message: string }
  | {
      type: 'status'
      query: number
      residentBytes: number
      /** Memory of the graphics card, as its driver reports; null: there is none, or it is unknown. */
      deviceMemory: { usedBytes: number; totalBytes: number } | null
      models: ResidentModel[]
    }
  | { type: 'detected'; query: number; spans: SpeechSpan[] }
  | { type: 'cloned'; query: number; state: Uint8Array }
  /** The model says what is wrong with the clip, to its owner. */
  | { type: 'clone_refused'; query: number; message: string }
  | { type: 'query_failed'; query: number; message: string; load: LoadFailure | null }
  /** Everything was unloaded because it was unused: the server may end this engine and start another on demand. */
  | { type: 'idle' }

/** What travels from the engine at once, in order: each parcel wakes the server, which costs it 0.1 to 0.3 ms. */
export type Parcel = readonly FromEngine[]

/** What a client may know about a model that it did not get, or lost; null if that was not the reason. */
export interface LoadFailure {
  model: string
  /**
   * `no_room`: the models in use need the memory. `out_of_memory`: the device had none left for what was to be
   * computed. `unusable`: nothing that passes by itself.
   */
  reason: 'no_room' | 'out_of_memory' | 'unusable'
}

export interface ResidentModel {
  id: string
  device: string
  memoryBytes: number
  activeStreams: number
  idleMsLeft: number | null
}
