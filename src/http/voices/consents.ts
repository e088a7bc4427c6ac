/** `/v1/audio/voice_consents`: recordings of people who agree to be cloned, in the words of OpenAI's API. */
import { MynaError } from '../../domain/error.ts'
import type { Consents } from '../../service/consents.ts'
import { type BodyLimits, readJson } from '../body.ts'
import { consentChangeFields, consentFields, consentQueryFields } from './consent-fields.ts'
import { endpoints } from '../endpoint.ts'
import { type Exchange, json, type Route } from '../exchange.ts'
import { parseFields, parseQuery } from '../fields/field.ts'
import { bodyDialect } from '../fields/refusals.ts'
import type { Gate } from '../gate.ts'
import {
  consentDetail,
  consentsDetail,
  createConsentDetail,
  deleteConsentDetail,
  updateConsentDetail,
} from '../openapi/consents.ts'
import { consentDeleted, consentRecord } from './consent-record.ts'
import type { ClipLimits } from './fields.ts'
import { drained, type FormLimits, isMultipart, readUpload } from './form.ts'

export interface ConsentsParts {
  gate: Gate
  consents: Consents
  bodyLimits: BodyLimits
  formLimits: FormLimits
  limits: ClipLimits
}

export function consentsRoutes(route: Route, parts: ConsentsParts) {
  const { gate, consents, bodyLimits } = parts
  const enter = (exchange: Exchange) => gate.enter(exchange, 'voices', 'requests')
  const list = async (exchange: Exchange) => {
    const caller = await enter(exchange)
    const { after, limit } = parseQuery(consentQueryFields, exchange.url.searchParams)
    const page = await consents.list(caller, after, limit)
    const data = page.data.map(consentRecord.of)
    const [first_id, last_id] = [page.data[0]?.id ?? null, page.data.at(-1)?.id ?? null]
    return json({ object: 'list', data, has_more: page.hasMore, first_id, last_id })
  }
  const one = async (exchange: Exchange) => {
    const caller = await enter(exchange)
    return json(consentRecord.of(await consents.get(caller, idOf(exchange))))
  }
  const change = async (exchange: Exchange) => {
    const caller = await enter(exchange)
    const body = await readJson(exchange.request, bodyLimits)
    const { name } = parseFields(consentChangeFields, body, bodyDialect)
    return json(consentRecord.of(await consents.rename(caller, idOf(exchange), name)))
  }
  const remove = async (exchange: Exchange) => {
    const caller = await enter(exchange)
    const id = idOf(exchange)
    await consents.remove(caller, id)
    return json(consentDeleted.of(id))
  }
  return endpoints(route, [
    ['GET /v1/audio/voice_consents', consentsDetail, list],
    ['POST /v1/audio/voice_consents', createConsentDetail, (exchange) => create(exchange, parts)],
    ['GET /v1/audio/voice_consents/{consent_id}', consentDetail, one],
    ['POST /v1/audio/voice_consents/{consent_id}', updateConsentDetail, change],
    ['DELETE /v1/audio/voice_consents/{consent_id}', deleteConsentDetail, remove],
  ])
}

async function create(exchange: Exchange, { gate, consents, formLimits, limits }: ConsentsParts): Promise<Response> {
  const { request } = exchange
  const caller = await gate.enter(exchange, 'voices', 'clones')
  if (!isMultipart(request)) {
    throw new MynaError('unsupported_media_type', 'This route takes multipart/form-data with one audio file.')
  }
  exchange.keepOpen()
  const read = async () => {
    const { fields, file } = await readUpload(request, formLimits, ['recording'])
    const { name, language } = parseFields(consentFields(limits), fields, bodyDialect)
    return { name, language, recording: file }
  }
  try {
    return json(consentRecord.of(await consents.create(caller, read, request.signal)))
  } catch (error) {
    // A client that is still sending would see a reset connection instead of the answer.
    await drained(request, formLimits)
    if (!request.signal.aborted) throw error
    throw new MynaError('request_timeout', 'The client disconnected before its recording was checked.', {
      cause: error,
    })
  }
}

const idOf = ({ params }: Exchange): string => params.consent_id ?? ''
