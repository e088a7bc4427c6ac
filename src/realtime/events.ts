/** The server's events of a transcription session, as OpenAI's realtime API has them; sending adds `event_id`. */
import type { MynaError } from '../domain/error.ts'

export interface ServerEvent {
  readonly type: string
  readonly [field: string]: unknown
}

/** Clients parse it with a schema: the key `transcript` must be there, and null. */
export const userItem = (id: string, transcript: string | null = null) => ({
  id,
  object: 'realtime.item',
  type: 'message',
  status: 'completed',
  role: 'user',
  content: [{ type: 'input_audio', transcript }],
})

const transcription = (kind: 'delta' | 'completed' | 'failed', itemId: string, rest: object): ServerEvent => ({
  type: `conversation.item.input_audio_transcription.${kind}`,
  item_id: itemId,
  content_index: 0,
  ...rest,
})

export const deltaEvent = (itemId: string, delta: string): ServerEvent => transcription('delta', itemId, { delta })

export const completedEvent = (
  itemId: string,
  transcript: string,
  language: string | null,
  seconds: number,
): ServerEvent =>
  transcription('completed', itemId, {
    transcript,
    ...(language === null ? {} : { languages: [{ code: language }] }),
    usage: { type: 'duration', seconds },
  })

/** Failures caused by the client's request. */
const clientFaults: ReadonlySet<string> = new Set([
  'model_not_found',
  'unsupported_value',
  'audio_too_short',
  'concurrency_limit_exceeded',
  'transcription_unavailable',
])

/** The one way to report a failure that ends the session in no client. No `param`: a null would be refused. */
export const failedEvent = (itemId: string, { code, message }: MynaError): ServerEvent =>
  transcription('failed', itemId, {
    error: { type: clientFaults.has(code) ? 'invalid_request_error' : 'server_error', code, message },
  })

export interface Fault {
  code: string
  message: string
  param?: string
  isOurs?: boolean
}

/** @param eventId of the client's event; null: it had none */
export const errorEvent = ({ code, message, param, isOurs = false }: Fault, eventId: string | null): ServerEvent => ({
  type: 'error',
  error: {
    type: isOurs ? 'server_error' : 'invalid_request_error',
    code,
    message,
    param: param ?? null,
    event_id: eventId,
  },
})
