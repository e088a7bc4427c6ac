/**
 * An operation: the record of one accepted speech request or clone. It goes from pending to terminal once and never
 * back. This file decides what an ending means (outcome, charge, whether the idempotency key is free again): one
 * function for a stream that the server saw end, one for what a crash left behind.
 */
export type OperationType = 'speech' | 'clone'
export const outcomes = ['completed', 'stream_failed', 'cancelled', 'failed', 'not_accepted'] as const
export type Outcome = (typeof outcomes)[number]

export interface OperationError {
  code: string
  message: string
}

export interface Operation {
  id: string
  accountId: string
  keyId: string
  type: OperationType
  model: string
  voiceId: string | null
  /** Code points of the input; 0 for a clone. */
  inputChars: number
  priceMicros: number
  /** `null` while pending; the operation is terminal as soon as it has an outcome. */
  outcome: Outcome | null
  /** While pending: the hold, which is the price. Afterwards: the final charge. */
  chargedMicros: number
  /** Delivered PCM bytes; only for completed speech. */
  completionBytes: number | null
  error: OperationError | null
  /** Whether the client sent an idempotency key: such records are kept 24 hours, others one. */
  keySupplied: boolean
  createdAtMs: number
  /** The engine was given the work, or the client had just left. Committed before it is. */
  startedAtMs: number | null
  /** The first audio left for the client. Committed before it does. */
  firstAudioAtMs: number | null
  settledAtMs: number | null
}

/** How a speech request ended, as facts: several may hold at once. */
export interface SpeechEnding {
  /** Some audio was accepted by the response stream. */
  audioSent: boolean
  cancelRequested: boolean
  /** An error of ours: engine, encoder, shutdown. */
  failure: OperationError | null
  /** The client disconnected or stopped reading. */
  clientGone: boolean
  priceMicros: number
  /** Code points of the input, and how many of them the accepted frames cover. */
  inputChars: number
  coveredChars: number
  /** PCM bytes (s16le) accepted by the response stream. */
  pcmBytes: number
}

export interface Settlement {
  outcome: Outcome
  chargedMicros: number
  completionBytes: number | null
  error: OperationError | null
  /** What usage counts. */
  usedChars: number
  audioMs: number
}

type Verdict = Pick<Settlement, 'outcome' | 'chargedMicros' | 'error'>

/**
 * Precedence when several things happened: cancel requested, then our own error, then client gone. Our own fault costs
 * nothing; a client that leaves or cancels pays for the characters whose audio was accepted; without audio, nothing.
 * @param sampleRateHz of the PCM that `pcmBytes` counts
 */
export function settleSpeech(ending: SpeechEnding, sampleRateHz: number): Settlement {
  const verdict = judge(ending)
  const completed = verdict.outcome === 'completed'
  const used = completed || verdict.chargedMicros > 0
  return {
    ...verdict,
    completionBytes: completed ? ending.pcmBytes : null,
    usedChars: completed ? ending.inputChars : used ? ending.coveredChars : 0,
    audioMs: used ? Math.round((ending.pcmBytes / 2 / sampleRateHz) * 1000) : 0,
  }
}

function judge(ending: SpeechEnding): Verdict {
  if (ending.cancelRequested) {
    return { outcome: 'cancelled', chargedMicros: partialCharge(ending), error: null }
  }
  if (ending.failure !== null) {
    const outcome = ending.audioSent ? 'stream_failed' : 'failed'
    return { outcome, chargedMicros: 0, error: ending.failure }
  }
  if (ending.clientGone) {
    const error = {
      code: 'client_disconnected',
      message: 'The client disconnected before the last byte was handed over.',
    }
    return { outcome: 'stream_failed', chargedMicros: partialCharge(ending), error }
  }
  return { outcome: 'completed', chargedMicros: ending.priceMicros, error: null }
}

function partialCharge(ending: SpeechEnding): number {
  if (!ending.audioSent || ending.inputChars === 0) return 0
  const coveredChars = Math.min(ending.coveredChars, ending.inputChars)
  // Divided last: a share that is rounded first can come out a micro too high (375 x 7 / 25 is 105, 375 x 0.28 is not).
  return Math.ceil((ending.priceMicros * coveredChars) / ending.inputChars)
}

/**
 * A clone that made its voice costs its price; one that did not costs nothing. @param error null: the voice is ready
 */
export function settleClone(
  outcome: 'completed' | 'failed' | 'not_accepted' | 'cancelled',
  priceMicros: number,
  error: OperationError | null,
): Settlement {
  const chargedMicros = outcome === 'completed' ? priceMicros : 0
  return { outcome, chargedMicros, completionBytes: null, error, usedChars: 0, audioMs: 0 }
}

/**
 * Settles what a crash left pending, from the two time stamps that were committed before their effects. Costs nothing.
 */
export function settleCrashed(operation: Pick<Operation, 'startedAtMs' | 'firstAudioAtMs'>): Settlement {
  const outcome =
    operation.firstAudioAtMs !== null ? 'stream_failed' : operation.startedAtMs !== null ? 'failed' : 'not_accepted'
  const message =
    outcome === 'not_accepted' ? 'The server stopped before the work began.' : 'The server stopped during the work.'
  return {
    outcome,
    chargedMicros: 0,
    completionBytes: null,
    error: { code: 'server_stopped', message },
    usedChars: 0,
    audioMs: 0,
  }
}

/** A key is free again exactly when its operation is terminal, did not complete and cost nothing. */
export const releasesKey = (settlement: Pick<Settlement, 'outcome' | 'chargedMicros'>): boolean =>
  settlement.outcome !== 'completed' && settlement.chargedMicros === 0

const hourMs = 3_600_000

/** When the record may be removed: 24 h after creation with a supplied key, 1 h after settlement without. */
export function expiresAtMs(operation: Pick<Operation, 'keySupplied' | 'createdAtMs' | 'settledAtMs'>): number | null {
  if (operation.settledAtMs === null) return null
  return operation.keySupplied ? operation.createdAtMs + 24 * hourMs : operation.settledAtMs + hourMs
}
