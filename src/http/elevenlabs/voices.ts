/** Voices in ElevenLabs' words: lists, clones that are ready when the answer comes, changes and deletion. */
import type { Caller } from '../../domain/account.ts'
import { MynaError } from '../../domain/error.ts'
import { canSee, type KnownVoice } from '../../domain/voice.ts'
import type { VoicePage } from '../../service/library.ts'
import type { Endpoint } from '../endpoint.ts'
import { type Exchange, json } from '../exchange.ts'
import { invalidInput } from '../invalid.ts'
import { withForm } from '../multipart.ts'
import { editVoiceDetail, searchVoicesDetail } from '../openapi/elevenlabs.ts'
import { parseVoiceChange } from '../voices/fields.ts'
import { clipFields } from '../voices/form.ts'
import { type ReadyCloneParts, readyCloner } from '../voices/ready-clone.ts'
import { voiceIdOf, voiceRecord } from '../voices/record.ts'
import type { VoicesParts } from '../voices/voices.ts'
import { addedVoice, done } from './records.ts'
import { parseSearch, type VoiceSearch, wholeLibrary } from './voice-search.ts'

type Parts = VoicesParts & ReadyCloneParts

/** Under paths that are ours as well. */
export function sharedVoiceEndpoints(parts: Parts): readonly Endpoint[] {
  const { gate, library } = parts
  const clone = readyCloner(parts)
  const all = async (exchange: Exchange) => {
    const caller = await gate.enter(exchange, 'voices', 'requests')
    return json(pageRecord(await library.list(caller, wholeLibrary), caller, exchange.origin))
  }
  const remove = async (exchange: Exchange) => {
    const caller = await gate.enter(exchange, 'voices', 'requests')
    await library.remove(caller, voiceIdOf(exchange))
    return json(done.of(null))
  }
  const add = async (exchange: Exchange) => json(addedVoice.of(await clone(exchange)))
  return [
    ['GET /v1/voices', null, all],
    ['DELETE /v1/voices/{voice_id}', null, remove],
    ['POST /v1/voices/add', null, add],
  ]
}

export function voiceEndpoints(parts: Parts): readonly Endpoint[] {
  const { gate, library } = parts
  const search = async (exchange: Exchange) => {
    const caller = await gate.enter(exchange, 'voices', 'requests')
    const page = await found(parseSearch(exchange.url.searchParams), caller, parts)
    return json(pageRecord(page, caller, exchange.origin))
  }
  const edit = async (exchange: Exchange) => {
    const caller = await gate.enter(exchange, 'voices', 'requests')
    const change = await readChange(exchange.request, parts)
    await library.change(caller, voiceIdOf(exchange), change)
    return json(done.of(null))
  }
  return [
    ['GET /v2/voices', searchVoicesDetail, search],
    ['POST /v1/voices/{voice_id}/edit', editVoiceDetail, edit],
  ]
}

async function found({ ask, ids }: VoiceSearch, caller: Caller, { library }: Parts): Promise<VoicePage> {
  if (ask === null) return { voices: [], hasMore: false, total: 0 }
  if (ids.length === 0) return library.list(caller, ask).catch(inTheirWords)
  const named = await Promise.all([...new Set(ids)].map((id) => library.find(id)))
  const isShown = (voice: KnownVoice) => voice.status === ask.status && canSee(voice, caller)
  const voices = named.filter((voice): voice is KnownVoice => voice !== null && isShown(voice))
  return { voices, hasMore: false, total: voices.length }
}

/** Ours is called `after`. */
function inTheirWords(error: unknown): never {
  if (!(error instanceof MynaError) || error.code !== 'invalid_cursor') throw error
  const param = 'next_page_token'
  throw new MynaError('invalid_cursor', `${param}: no such voice in this list`, { param })
}

function pageRecord({ voices, hasMore, total }: VoicePage, caller: Caller, origin: string) {
  return {
    voices: voices.map((voice) => voiceRecord(voice, caller, origin)),
    has_more: hasMore,
    total_count: total,
    next_page_token: hasMore ? (voices.at(-1)?.id ?? null) : null,
  }
}

/** A voice keeps the one clip that it was made from: silently ignoring a new one would mislead. */
function readChange(request: Request, { formLimits }: Parts) {
  return withForm(request, { ...formLimits, fileFields: new Set(clipFields) }, ({ fields, fileCount }) => {
    if (fileCount === 0) return parseVoiceChange(fields)
    throw invalidInput(
      ['body', 'files'],
      'a voice keeps the clip that it was cloned from; clone a new one',
      'value_error',
    )
  })
}
