/** `POST /v1/voices` and its aliases: takes a clip and starts making a voice from it (docs/api.md 4.5). */
import { Elysia } from 'elysia'
import { MynaError } from '../domain/error.ts'
import { parseIdempotencyKey } from '../domain/idempotency.ts'
import { countChars } from '../domain/charge.ts'
import type { CloneRequest, Clones, NewClone } from '../service/clone.ts'
import { cloneDetail } from './openapi/voices.ts'
import { type Action, json, type Route } from './exchange.ts'
import { drained, type FormLimits, isMultipart, readUpload, type Upload } from './voice-form.ts'
import type { Gate } from './gate.ts'
import { invalidInput } from './invalid.ts'
import { aliasesOf, descriptionOf, flagOf, labelsOf, languageOf, nameOf, textOf } from './voice-fields.ts'
import { seconds } from './voice-record.ts'

export interface VoiceCloneParts {
  gate: Gate
  clones: Clones
  formLimits: FormLimits
}

const maxNameChars = 100
const maxConsentChars = 4000

export function voiceCloneRoutes(route: Route, parts: VoiceCloneParts) {
  const action = cloneAction(parts)
  const hidden = { parse: 'none', detail: { hide: true } } as const
  return new Elysia()
    .post('/v1/voices', route('/v1/voices', action), { parse: 'none', detail: cloneDetail })
    .post('/v1/audio/voices', route('/v1/audio/voices', action), hidden)
    .post('/v1/voices/clone', route('/v1/voices/clone', action), hidden)
    .post('/v1/voices/add', route('/v1/voices/add', action), hidden)
}

const cloneAction =
  ({ gate, clones, formLimits }: VoiceCloneParts): Action =>
  async (exchange) => {
    const { request } = exchange
    const caller = await gate.enter(exchange, 'voices', 'clones')
    if (!isMultipart(request)) {
      throw new MynaError('unsupported_media_type', 'This route takes multipart/form-data with one audio file.')
    }
    const idempotencyKey = parseIdempotencyKey(request.headers.get('idempotency-key'))
    exchange.keepOpen()
    const read = async () => parseCloneRequest(await readUpload(request, formLimits))
    let made: NewClone
    try {
      made = await clones.begin(caller, idempotencyKey, read, request.signal)
    } catch (error) {
      // A client that is still sending would see a reset connection instead of the answer.
      await drained(request, formLimits)
      if (!request.signal.aborted) throw error
      throw new MynaError('request_timeout', 'The client left before its clip was checked.', { cause: error })
    }
    exchange.requestId = made.operation.id
    exchange.headers.set('location', `/v1/voices/${made.voiceId}`)
    return json(newVoiceRecord(made), 201)
  }

const newVoiceRecord = ({ voiceId, name, operation }: NewClone) => ({
  voice_id: voiceId,
  id: voiceId,
  object: 'audio.voice',
  name,
  status: 'processing',
  operation_id: operation.id,
  created_at: seconds(operation.createdAtMs),
  requires_verification: false,
})

function parseCloneRequest({ fields, file }: Upload): CloneRequest {
  return {
    name: nameOf(fields.name || null) ?? nameOfFile(file.name),
    description: descriptionOf(fields.description),
    labels: labelsOf(fields.labels),
    language: languageOf(fields.language),
    aliases: aliasesOf(fields.aliases),
    isPublic: flagOf('public', fields.public),
    consent: consentOf(fields.consent),
    file,
  }
}

function nameOfFile(fileName: string): string {
  const name = [...fileName.replace(/\.[^.]*$/, '').trim()].slice(0, maxNameChars).join('').trim()
  return name === '' ? 'Untitled voice' : name
}

/** The declaration word for word; a "no" is not consent. */
function consentOf(given: unknown): string | null {
  if (given === undefined || given === null) return null
  const consent = textOf('consent', given, /[^\P{Cc}\n\t\r]/u).trim()
  if (countChars(consent) > maxConsentChars) {
    throw invalidInput(['body', 'consent'], `string should have at most ${maxConsentChars} characters`, 'too_long')
  }
  return ['', 'false', '0', 'no'].includes(consent.toLowerCase()) ? null : consent
}
