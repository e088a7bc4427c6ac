/** The catalog of voices: list, get, update, delete (docs/api.md 4.3 and 4.4). */
import { type Caller, requireAnyScope } from '../../domain/account.ts'
import { MynaError } from '../../domain/error.ts'
import type { Library, VoicePage } from '../../service/library.ts'
import { type Body, type BodyLimits, readJson } from '../body.ts'
import { openToAll } from '../cors.ts'
import {
  audioVoicesDetail,
  deleteVoiceDetail,
  updateVoiceDetail,
  voiceDetail,
  voicesDetail,
} from '../openapi/voices.ts'
import { endpoints } from '../endpoint.ts'
import { type Exchange, json, type Route } from '../exchange.ts'
import { type FormLimits, isMultipart, readFields } from './form.ts'
import type { Gate } from '../gate.ts'
import { invalidInput } from '../invalid.ts'
import { parseVoiceChange } from './fields.ts'
import { parseVoiceAsk } from './query.ts'
import { voiceIdOf, voiceRecord } from './record.ts'

export interface VoicesParts {
  gate: Gate
  library: Library
  bodyLimits: BodyLimits
  formLimits: FormLimits
}

export function voicesRoutes(route: Route, parts: VoicesParts) {
  const { gate, library } = parts
  const one = async (exchange: Exchange) => {
    const caller = await gate.enter(exchange, 'voices', 'requests')
    return json(voiceRecord(await library.get(caller, voiceIdOf(exchange)), caller, exchange.origin))
  }
  const change = async (exchange: Exchange) => {
    const caller = await gate.enter(exchange, 'voices', 'requests')
    const body = await readChange(exchange.request, parts)
    const id = voiceIdOf(exchange)
    const voice = await library.change(caller, id, parseVoiceChange(body))
    return json(voiceRecord(voice, caller, exchange.origin))
  }
  const remove = async (exchange: Exchange) => {
    const caller = await gate.enter(exchange, 'voices', 'requests')
    await library.remove(caller, voiceIdOf(exchange))
    return new Response(null, { status: 204 })
  }
  return endpoints(route, [
    ['GET /v1/voices', voicesDetail, (exchange) => listAll(exchange, parts)],
    ['GET /v1/audio/voices', audioVoicesDetail, (exchange) => listPublic(exchange, parts)],
    ['GET /v1/voices/{voice_id}', voiceDetail, one],
    ['PATCH /v1/voices/{voice_id}', updateVoiceDetail, change],
    ['DELETE /v1/voices/{voice_id}', deleteVoiceDetail, remove],
  ])
}

async function listAll(exchange: Exchange, { gate, library }: VoicesParts): Promise<Response> {
  const caller = await gate.enter(exchange, 'voices', 'requests')
  return json(await listOf(exchange, caller, library))
}

async function listPublic(exchange: Exchange, { gate, library }: VoicesParts): Promise<Response> {
  openToAll(exchange.headers)
  exchange.headers.set('cache-control', 'no-store')
  const caller = await gate.enterPublic(exchange)
  if (caller !== null) requireAnyScope(caller.key, ['voices', 'tts'])
  return json(await listOf(exchange, caller, library))
}

async function listOf({ url, origin }: Exchange, caller: Caller | null, library: Library) {
  const page = await library.list(caller, parseVoiceAsk(url.searchParams))
  return listRecord(page, caller, origin, url.searchParams.get('compat') !== '0')
}

/** @param twice whether to repeat the voices under `voices`, where some clients look for them */
function listRecord({ voices, hasMore, total }: VoicePage, caller: Caller | null, origin: string, twice: boolean) {
  const data = voices.map((voice) => voiceRecord(voice, caller, origin))
  return {
    object: 'list',
    data,
    has_more: hasMore,
    first_id: voices[0]?.id ?? null,
    last_id: voices.at(-1)?.id ?? null,
    total_count: total,
    ...(twice ? { voices: data } : {}),
  }
}

/** JSON or a form. Unlike on other routes, malformed JSON is a 422 here, as voice clients expect. */
async function readChange(request: Request, { bodyLimits, formLimits }: VoicesParts): Promise<Body> {
  if (isMultipart(request)) return readFields(request, formLimits)
  try {
    return await readJson(request, bodyLimits)
  } catch (error) {
    if (!(error instanceof MynaError) || error.code !== 'invalid_json') throw error
    throw invalidInput(['body', 'body'], error.message, 'json_invalid')
  }
}
