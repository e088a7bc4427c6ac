/** Turns an error into its HTTP answer: the envelope, and the headers that tell clients what to do (docs/api.md 7). */
import type { MynaError } from '../domain/error.ts'
import { errorDetail } from './elevenlabs/protocol.ts'
import { codes } from './error-codes.ts'

/** A client should not sleep longer than this: openai-node would, openai-python gives up at 120 s. */
const sleepableMs = 60_000

/** The envelope's `error` object, for answers and for the error events of streams. */
export const errorBody = (error: MynaError, requestId: string) => ({
  message: error.message,
  type: codes[error.code].type,
  param: error.param,
  code: error.code,
  ...error.extras,
  ...(codes[error.code].status === 422 ? { details: detailsOf(error) } : {}),
  request_id: requestId,
})

/** FastAPI's list of faults, which clients of voice services read: every 422 has one. */
function detailsOf({ code, param, message, extras }: MynaError): unknown {
  const where = code === 'invalid_cursor' ? 'query' : 'body'
  return extras.details ?? [{ loc: [where, param ?? 'body'], msg: message, type: code }]
}

/** @param isElevenLabs whether one of its clients reads it */
export function errorResponse(error: MynaError, requestId: string, isElevenLabs = false): Response {
  const { status, noRetry } = codes[error.code]
  const headers = new Headers({ 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
  const challenge = challengeOf(error)
  if (challenge !== null) headers.set('www-authenticate', challenge)
  if (error.retryAfterMs !== undefined) {
    const waitMs = Math.max(1, Math.ceil(error.retryAfterMs))
    headers.set('retry-after', String(Math.max(1, Math.ceil(waitMs / 1000))))
    headers.set('retry-after-ms', String(waitMs))
  }
  if (noRetry === true || (error.retryAfterMs ?? 0) > sleepableMs) headers.set('x-should-retry', 'false')
  if (error.code === 'server_shutting_down' || error.code === 'request_timeout') headers.set('connection', 'close')
  if (error.code === 'method_not_allowed') headers.set('allow', String(error.extras.allow))
  return new Response(JSON.stringify({ error: errorBody(error, requestId), ...mirrored(error, isElevenLabs) }), {
    status,
    headers,
  })
}

/** Some fields are repeated at the top level for raw clients; SDK users see only what is inside `error`. */
export function mirrored(error: MynaError, isElevenLabs: boolean): Record<string, unknown> {
  if (codes[error.code].status === 422) return { detail: detailsOf(error) }
  const isRepeated = error.param === 'Idempotency-Key' && 'operation_id' in error.extras
  return { ...(isRepeated ? error.extras : {}), ...(isElevenLabs ? { detail: errorDetail(error) } : {}) }
}

function challengeOf(error: MynaError): string | null {
  if (error.code === 'missing_api_key' || error.code === 'invalid_authorization_header') return 'Bearer'
  if (error.code === 'insufficient_scope') {
    return `Bearer error="insufficient_scope", scope="${error.extras.required_scope}"`
  }
  return codes[error.code].status === 401 ? 'Bearer error="invalid_token"' : null
}
