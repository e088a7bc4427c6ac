/** `POST` and `DELETE /v1/audio/voices`: clones in the words of OpenAI's API, whose voices have no status. */
import { MynaError } from '../../domain/error.ts'
import type { Body } from '../body.ts'
import { endpoints } from '../endpoint.ts'
import { type Exchange, json, type Route } from '../exchange.ts'
import { createAudioVoiceDetail, deleteAudioVoiceDetail } from '../openapi/voices.ts'
import { type ReadyCloneParts, readyCloner } from './ready-clone.ts'
import { audioVoiceDeleted, audioVoiceRecord, voiceIdOf } from './record.ts'

export function audioVoicesRoutes(route: Route, parts: ReadyCloneParts) {
  const { gate, library } = parts
  const clone = readyCloner(parts)
  const create = async (exchange: Exchange) => json(audioVoiceRecord.of(await clone(exchange, requireSample)))
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
