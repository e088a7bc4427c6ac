/** The errors for orders that an engine did not carry out (server side), and what a client may know of them. */
import { MynaError } from '../domain/error.ts'
import type { LoadFailure } from './protocol.ts'

const retryAfterMs = 5000

export const unavailable = (cause: unknown): MynaError =>
  new MynaError('engine_unavailable', 'The engine is not available at the moment.', { retryAfterMs, cause })

/** The engine's own words about a failure become the cause, for the caller's log. */
export const refusalOf = (
  { message, load }: { message: string; load: LoadFailure | null },
  doing: string,
): MynaError => (load === null ? failure(doing, message) : notLoaded(load, message))

function notLoaded({ model, reason }: LoadFailure, cause: string): MynaError {
  if (reason === 'unusable') {
    // The engine's own words: the residency has already taken this machine's paths out of them.
    return new MynaError('model_unavailable', `The model ${cause.replace(/\.$/, '')}.`, { cause })
  }
  const message =
    reason === 'no_room'
      ? `There is no memory for the model ${model} while others are in use. Try again later.`
      : `The device ran out of memory with the model ${model}, which was unloaded. Try again later.`
  return new MynaError('engine_overloaded', message, { retryAfterMs, cause })
}

/** What a client may know. @param cause the engine's own words; absent: there were none */
export const failure = (doing: string, cause?: string): MynaError =>
  new MynaError('generation_failed', `The engine failed while it was ${doing}.`, { cause })

/** As `failure`, with what the server saw of it. @param why absent: only that it failed */
export const stalled = (doing: string, why?: string): MynaError =>
  why === undefined
    ? failure(doing)
    : new MynaError('generation_failed', `The engine failed while it was ${doing}: ${why}.`)
