/**
 * What server and engine say to each other, over Bun IPC (`serialization: 'advanced'`, so that PCM stays binary).
 *
 * Flow control: Bun IPC pushes nothing back (a child that sends to a slow server grew to 519 MB), so the server grants
 * each stream a number of frames and the engine never runs ahead of them. The other way about, the engine asks for so
 * many samples of a clip, and the server never runs ahead of that. A typed array that is sent must own its whole
 * buffer: a view drags the buffer behind it along.
 */
import type { SpokenWord } from '../domain/speech.ts'
import type { SpeechOrder, SpeechSpan } from '../service/ports.ts'
import type { TranscriptionOrder, TranscriptPart } from '../service/ports-transcription.ts'

/** What the steps of a model brought, and took. */
export interface Steps {
  steps: number
  /** Sound that they made. */
  soundMs: number
  /** That they took of the machine's time: while n steps are computed, each has an nth of it. */
  machineMs: number
}

/** Frames that a stream may have under way before its reader takes one. */
export const creditFrames = 16

/** Longest frame: short enough for an early first sound and an even interleaving of streams. */
export const frameMsMax = 200

/** Of a clip that is transcribed: mono. */
export const clipRateHz = 16_000

/** Longest block of a clip in one message. */
export const clipBlockSamples = clipRateHz

/** What the self-test graph must answer to a probe: exact, since every number in it is a small sum of powers of two. */
export const selfTestOutputs: readonly number[] = [321.5, 642.25, 962.5, 1283.75]

export type ToEngine =
  | { type: 'speak'; stream: number; order: SpeechOrder; credits: number }
  | { type: 'credit'; stream: number; frames: number }
  /** Answered by `want`, `heard` and, at last, `end`, `failed` or `refused`. */
  | { type: 'transcribe'; stream: number; order: TranscriptionOrder }
  /** Answered by `want`, `voiced` and, at last, `end` or `failed`: the sound comes by `audio`, like a clip. */
  | { type: 'watch'; stream: number }
  /** The next samples of the clip, never more than are wanted; after the last there is no more to want. */
  | { type: 'audio'; stream: number; pcm: Int16Array; isLast: boolean }
  | { type: 'cancel'; stream: number }
  /** Loads a model that is about to be wanted. Not answered: what is wrong with it is told when it is spoken with. */
  | { type: 'warm'; model: string }
  /** Unloads a model as soon as nobody uses it: its files have gone or changed. Not answered. */
  | { type: 'dismiss'; model: string }
  /** Mono, 16 kHz; answered by `detected` or `query_failed`. */
  | { type: 'detect'; query: number; pcm: Int16Array }
  /** Mono; answered by `cloned`, `clone_refused` or `query_failed`. */
  | { type: 'clone'; query: number; model: string; pcm: Int16Array; sampleRateHz: number }
  /** Nobody waits for this query any more. */
  | { type: 'drop'; query: number }
  /** Runs the self-test graph through ONNX Runtime; answered by `probed` or `probe_failed`. */
  | { type: 'probe'; probe: number }
  | { type: 'status'; query: number }
  /** Orderly end: unload, then exit 0. SIGINT and SIGTERM are ignored, for Ctrl-C reaches the whole group. */
  | { type: 'stop' }

export type FromEngine =
  | { type: 'ready'; pid: number; device: string; deviceReason: string | null }
  /** Before a model is loaded, and once that is over, well or not: in between the child may be deaf and mute. */
  | { type: 'loading'; model: string; isOver: boolean }
  /** Whether a model that was not in memory could be had. Not told where models in use were in its way: that passes. */
  | { type: 'tried'; model: string; reason: string | null }
  | {
      type: 'frame'
      stream: number
      pcm: Int16Array
      coveredChars: number
      engineMs: number
      /** That begin in this frame. */
      words?: readonly SpokenWord[]
    }
  /** What the steps of a model brought since the last word of it, and took of the machine's time. */
  | ({ type: 'pace'; model: string } & Steps)
  /** So many samples of the clip more than were asked for before. */
  | { type: 'want'; stream: number; samples: number }
  | { type: 'heard'; stream: number; part: TranscriptPart }
  /** Of each window of the detector that has come since the last one. */
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
      /** Of the graphics card, as its driver says; null: there is none, or it does not say. */
      deviceMemory: { usedBytes: number; totalBytes: number } | null
      models: ResidentModel[]
    }
  | { type: 'detected'; query: number; spans: SpeechSpan[] }
  | { type: 'cloned'; query: number; state: Uint8Array }
  /** The model says what is wrong with the clip, to its owner. */
  | { type: 'clone_refused'; query: number; message: string }
  | { type: 'query_failed'; query: number; message: string; load: LoadFailure | null }
  /** Everything was unloaded because nobody used it: the server may end this engine and start another on demand. */
  | { type: 'idle' }

/** What a client may know of a model that it did not get, or lost; null where that was not the reason. */
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
