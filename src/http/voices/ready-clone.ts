/** Clones in one request: for protocols whose voices have no status and are spoken with as soon as they have an id. */
import { type ErrorCode, MynaError } from '../../domain/error.ts'
import type { Timer } from '../../domain/time.ts'
import type { NewClone } from '../../service/clone.ts'
import type { Library } from '../../service/library.ts'
import type { Body } from '../body.ts'
import type { Exchange } from '../exchange.ts'
import { cloneBeginner, type VoiceCloneParts } from './clone.ts'

export interface ReadyCloneParts extends VoiceCloneParts {
  library: Library
}

/** Clients give up after minutes; a voice takes seconds, unless many are waiting. */
const waitMs = 60_000

/** @returns what clones and waits for the voice; `check` may refuse the form's fields first */
export function readyCloner(parts: ReadyCloneParts) {
  const { gate, library, formLimits } = parts
  const begin = cloneBeginner(parts)
  return async (exchange: Exchange, check?: (sent: Body) => void): Promise<NewClone & { isReady: boolean }> => {
    const caller = await gate.enter(exchange, 'voices', 'clones')
    const made = await begin(exchange, caller, check)
    const outcome = await settledIn(made, formLimits.timer)
    if (outcome !== null && outcome !== 'completed') {
      throw failureOf((await library.find(made.voiceId))?.error ?? null)
    }
    exchange.headers.set('location', `/v1/voices/${made.voiceId}`)
    return { ...made, isReady: outcome !== null }
  }
}

/** @returns how the clone ended; null when it is still running after `waitMs` */
async function settledIn({ settled }: NewClone, timer: Timer) {
  const late = Promise.withResolvers<null>()
  const onTime = timer.after(waitMs, () => late.resolve(null))
  return Promise.race([settled, late.promise]).finally(onTime)
}

/** Failures with a code of their own; all others are `generation_failed`. */
const ownCodes: readonly ErrorCode[] = ['clip_refused', 'model_unavailable', 'engine_overloaded']

/** @param error null: the voice was deleted meanwhile */
function failureOf(error: { code: string; message: string } | null): MynaError {
  if (error === null || error.code === 'cancelled') {
    return new MynaError('operation_cancelled', 'The clone was cancelled. Nothing is charged.')
  }
  const code = ownCodes.find((known) => known === error.code) ?? 'generation_failed'
  return new MynaError(code, error.message)
}
