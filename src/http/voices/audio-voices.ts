/** `POST` and `DELETE /v1/audio/voices`: clones in the words of OpenAI's API, whose voices have no status. */
import { type ErrorCode, MynaError } from '../../domain/error.ts'
import type { Timer } from '../../domain/time.ts'
import type { NewClone } from '../../service/clone.ts'
import type { Library } from '../../service/library.ts'
import type { Body } from '../body.ts'
import { endpoints } from '../endpoint.ts'
import { type Exchange, json, type Route } from '../exchange.ts'
import { createAudioVoiceDetail, deleteAudioVoiceDetail } from '../openapi/voices.ts'
import { cloneBeginner, type VoiceCloneParts } from './clone.ts'
import { audioVoiceDeleted, audioVoiceRecord, voiceIdOf } from './record.ts'

export interface AudioVoicesParts extends VoiceCloneParts {
  library: Library
}

/** Clients give up after minutes; a voice takes seconds, unless many are waiting. */
const waitMs = 60_000

export function audioVoicesRoutes(route: Route, parts: AudioVoicesParts) {
  const { gate, library, formLimits } = parts
  const begin = cloneBeginner(parts)
  const create = async (exchange: Exchange) => {
    const caller = await gate.enter(exchange, 'voices', 'clones')
    const made = await begin(exchange, caller, requireSample)
    const outcome = await settledIn(made, formLimits.timer)
    if (outcome !== null && outcome !== 'completed') {
      throw failureOf((await library.find(made.voiceId))?.error ?? null)
    }
    exchange.headers.set('location', `/v1/voices/${made.voiceId}`)
    return json(audioVoiceRecord.of({ ...made, isReady: outcome !== null }))
  }
  const remove = async (exchange: Exchange) => {
    const caller = await gate.enter(exchange, 'voices', 'requests')
    const id = voiceIdOf(exchange)
    await library.remove(caller, id)
    return json(audioVoiceDeleted.of(id))
  }
  return endpoints(route, [
    ['POST /v1/audio/voices', createAudioVoiceDetail, create],
    ['DELETE /v1/audio/voices/{voice_id}', deleteAudioVoiceDetail, remove],
  ])
}

function requireSample({ type }: Body): void {
  if (type === undefined || type === 'audio_sample') return
  const message = "Voices are made from a recording: 'type' is 'audio_sample'."
  throw new MynaError('unsupported_value', message, { param: 'type' })
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
