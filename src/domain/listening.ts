/**
 * Decides how a transcription ends, in the words of operations, although it is not one and costs nothing: one function
 * for an ending that the server saw, one for what a crash left behind.
 */
import type { Outcome } from './operation.ts'

/** It is never `not_accepted`, for nothing is written before the engine is given the work, nor can it be cancelled. */
export type ListeningOutcome = Exclude<Outcome, 'not_accepted' | 'cancelled'>

export interface ListeningEnding {
  outcome: ListeningOutcome
  /** null: it was completed. */
  errorCode: string | null
  /** How much of the clip was processed. */
  heardMs: number
}

/** @param result `completed`, `client_gone`, or the code of the error that ended it */
export function endListening(result: string, heardMs: number): ListeningEnding {
  if (result === 'completed') return { outcome: 'completed', errorCode: null, heardMs }
  if (result === 'client_gone') return { outcome: 'stream_failed', errorCode: 'client_disconnected', heardMs }
  return { outcome: heardMs > 0 ? 'stream_failed' : 'failed', errorCode: result, heardMs }
}

/** @param heardMs as it was last noted */
export const endCrashedListening = (heardMs: number): ListeningEnding => endListening('server_stopped', heardMs)
