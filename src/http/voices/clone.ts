/** `POST /v1/voices` and its aliases: takes a clip and starts making a voice from it (docs/api.md 4.5). */
import type { Caller } from '../../domain/account.ts'
import { MynaError } from '../../domain/error.ts'
import { parseIdempotencyKey } from '../../domain/idempotency.ts'
import type { CloneRequest, Clones, NewClone } from '../../service/clone.ts'
import type { Body } from '../body.ts'
import { cloneDetail, remakeDetail } from '../openapi/voices.ts'
import { endpoints } from '../endpoint.ts'
import { parseFields } from '../fields/field.ts'
import { bodyDialect } from '../fields/refusals.ts'
import { type Action, type Exchange, json, type Route } from '../exchange.ts'
import { clipFields, drained, type FormLimits, isMultipart, readUpload, type Upload } from './form.ts'
import type { Gate } from '../gate.ts'
import { type ClipLimits, cloneFields, maxNameChars } from './fields.ts'
import { operationRecord } from '../operations/record.ts'
import { newVoiceRecord, voiceIdOf } from './record.ts'

export interface VoiceCloneParts {
  gate: Gate
  clones: Clones
  formLimits: FormLimits
  /** As configured. */
  limits: ClipLimits
}

export function voiceCloneRoutes(route: Route, parts: VoiceCloneParts) {
  const action = cloneAction(parts)
  return endpoints(route, [
    ['POST /v1/voices', cloneDetail, action],
    ['POST /v1/voices/clone', null, action],
    ['POST /v1/voices/add', null, action],
    ['POST /v1/voices/{voice_id}/remake', remakeDetail, remakeAction(parts)],
  ])
}

/** The operation, whose end says whether it became one; the voice stays ready all the time. */
function remakeAction({ gate, clones }: VoiceCloneParts): Action {
  return async (exchange) => {
    const caller = await gate.enter(exchange, 'voices', 'clones')
    const operation = await clones.remake(caller, voiceIdOf(exchange))
    exchange.requestId = operation.id
    exchange.headers.set('location', `/v1/operations/${operation.id}`)
    return json(operationRecord.of(operation), 202)
  }
}

function cloneAction(parts: VoiceCloneParts): Action {
  const begin = cloneBeginner(parts)
  return async (exchange) => {
    const caller = await parts.gate.enter(exchange, 'voices', 'clones')
    const made = await begin(exchange, caller)
    exchange.headers.set('location', `/v1/voices/${made.voiceId}`)
    return json(newVoiceRecord.of(made), 201)
  }
}

/** @returns what admits the clone that a form asks for; `check` may refuse its fields first */
export function cloneBeginner({
  clones,
  formLimits,
  limits,
}: Pick<VoiceCloneParts, 'clones' | 'formLimits' | 'limits'>) {
  const fields = cloneFields(limits)
  return async (exchange: Exchange, caller: Caller, check: (sent: Body) => void = () => {}): Promise<NewClone> => {
    const { request } = exchange
    if (!isMultipart(request)) {
      throw new MynaError('unsupported_media_type', 'This route takes multipart/form-data with one audio file.')
    }
    const idempotencyKey = parseIdempotencyKey(request.headers.get('idempotency-key'))
    exchange.keepOpen()
    const read = async () => parseCloneRequest(await readUpload(request, formLimits, clipFields, check), fields)
    try {
      const made = await clones.begin(caller, idempotencyKey, read, request.signal)
      exchange.requestId = made.operation.id
      return made
    } catch (error) {
      // A client that is still sending would see a reset connection instead of the answer.
      await drained(request, formLimits)
      if (!request.signal.aborted) throw error
      throw new MynaError('request_timeout', 'The client disconnected before its clip was checked.', { cause: error })
    }
  }
}

function parseCloneRequest({ fields: sent, file }: Upload, fields: ReturnType<typeof cloneFields>): CloneRequest {
  // An empty field of a form is one that was not filled in.
  const given = parseFields(fields, { ...sent, name: sent.name || null }, bodyDialect)
  return {
    name: given.name ?? nameOfFile(file.name),
    description: given.description,
    labels: given.labels,
    language: given.language,
    aliases: given.aliases,
    isPublic: given.public,
    consent: given.consent,
    file,
  }
}

function nameOfFile(fileName: string): string {
  const name = [...fileName.replace(/\.[^.]*$/, '').trim()].slice(0, maxNameChars).join('').trim()
  return name === '' ? 'Untitled voice' : name
}
