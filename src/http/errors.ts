/**
 * The map from error codes to HTTP (status, type, whether SDKs should retry) and the error envelope (docs/api.md 7).
 */
import type { ErrorCode, MynaError } from '../domain/error.ts'

type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'billing_error'
  | 'rate_limit_error'
  | 'server_error'

interface Answer {
  status: number
  type: ErrorType
  /** SDKs retry 408, 409, 429 and 5xx by themselves; this stops them where a retry is useless or dangerous. */
  noRetry?: true
}

const invalid = (status: number): Answer => ({ status, type: 'invalid_request_error' })
const unauthenticated: Answer = { status: 401, type: 'authentication_error' }
const conflict: Answer = { status: 409, type: 'invalid_request_error', noRetry: true }
const limited: Answer = { status: 429, type: 'rate_limit_error' }
const server = (status: number): Answer => ({ status, type: 'server_error' })

export const answers: Readonly<Record<ErrorCode, Answer>> = {
  account_disabled: unauthenticated,
  admin_required: { status: 403, type: 'permission_error' },
  audio_too_long: invalid(400),
  audio_too_short: invalid(400),
  clip_refused: invalid(422),
  clip_silent: invalid(422),
  clip_too_long: invalid(422),
  clip_too_short: invalid(422),
  clip_undecodable: invalid(422),
  concurrency_limit_exceeded: limited,
  consent_required: invalid(422),
  database_damaged: { status: 503, type: 'server_error', noRetry: true },
  decimal_above_max_value: invalid(400),
  decimal_below_min_value: invalid(400),
  duplicate_request: conflict,
  empty_string: invalid(400),
  engine_overloaded: server(503),
  engine_unavailable: server(503),
  expired_api_key: unauthenticated,
  foreign_origin: { status: 403, type: 'permission_error' },
  generation_failed: server(500),
  idempotency_conflict: conflict,
  insufficient_balance: { status: 402, type: 'billing_error' },
  insufficient_scope: { status: 403, type: 'permission_error' },
  internal_error: server(500),
  invalid_api_key: unauthenticated,
  invalid_audio: invalid(400),
  invalid_authorization_header: unauthenticated,
  invalid_cursor: invalid(422),
  invalid_form: invalid(400),
  invalid_idempotency_key: invalid(400),
  invalid_json: invalid(400),
  invalid_type: invalid(400),
  method_not_allowed: invalid(405),
  missing_api_key: unauthenticated,
  missing_file: invalid(422),
  missing_required_parameter: invalid(400),
  model_not_found: invalid(404),
  model_unavailable: { status: 503, type: 'server_error', noRetry: true },
  operation_cancelled: { status: 400, type: 'invalid_request_error', noRetry: true },
  operation_not_found: invalid(404),
  preview_not_available: invalid(404),
  range_not_satisfiable: invalid(416),
  rate_limit_exceeded: limited,
  request_timeout: invalid(408),
  request_too_large: invalid(413),
  server_shutting_down: server(503),
  storage_full: { status: 507, type: 'server_error', noRetry: true },
  string_above_max_length: invalid(400),
  too_many_failed_attempts: { ...limited, noRetry: true },
  too_many_files: invalid(422),
  transcription_unavailable: { status: 503, type: 'server_error', noRetry: true },
  unknown_url: invalid(404),
  unsupported_media_type: invalid(415),
  unsupported_value: invalid(400),
  validation_error: invalid(422),
  voice_limit_reached: { status: 403, type: 'permission_error' },
  voice_model_mismatch: invalid(400),
  voice_not_found: invalid(404),
  voice_not_owned: { status: 403, type: 'permission_error' },
  // Retried on purpose: SDKs then make clone-then-speak work by themselves.
  voice_not_ready: invalid(409),
  voice_unusable: invalid(400),
}

/** A client should not sleep longer than this: openai-node would, openai-python gives up at 120 s. */
const sleepableMs = 60_000

/** The envelope's `error` object, for answers and for the error events of streams. */
export const errorBody = (error: MynaError, requestId: string) => ({
  message: error.message,
  type: answers[error.code].type,
  param: error.param,
  code: error.code,
  ...error.extras,
  ...(answers[error.code].status === 422 ? { details: detailsOf(error) } : {}),
  request_id: requestId,
})

/** FastAPI's list of faults, which clients of voice services read: every 422 has one. */
function detailsOf({ code, param, message, extras }: MynaError): unknown {
  const where = code === 'invalid_cursor' ? 'query' : 'body'
  return extras.details ?? [{ loc: [where, param ?? 'body'], msg: message, type: code }]
}

export function errorResponse(error: MynaError, requestId: string): Response {
  const { status, noRetry } = answers[error.code]
  const headers = new Headers({ 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
  const challenge = challengeOf(error)
  if (challenge !== null) headers.set('www-authenticate', challenge)
  if (error.retryAfterMs !== undefined) {
    const waitMs = Math.max(1, Math.ceil(error.retryAfterMs))
    headers.set('retry-after', String(Math.max(1, Math.ceil(waitMs / 1000))))
    headers.set('retry-after-ms', String(waitMs))
  }
  if (noRetry === true || (error.retryAfterMs ?? 0) > sleepableMs) headers.set('x-should-retry', 'false')
  if (error.code === 'server_shutting_down') headers.set('connection', 'close')
  if (error.code === 'method_not_allowed') headers.set('allow', String(error.extras.allow))
  return new Response(JSON.stringify({ error: errorBody(error, requestId), ...mirrored(error) }), { status, headers })
}

/** Some fields are repeated at the top level for raw clients; SDK users see only what is inside `error`. */
export function mirrored(error: MynaError): Record<string, unknown> {
  if (error.param === 'Idempotency-Key' && 'operation_id' in error.extras) return error.extras
  return answers[error.code].status === 422 ? { detail: detailsOf(error) } : {}
}

function challengeOf(error: MynaError): string | null {
  if (error.code === 'missing_api_key' || error.code === 'invalid_authorization_header') return 'Bearer'
  if (error.code === 'insufficient_scope') {
    return `Bearer error="insufficient_scope", scope="${error.extras.required_scope}"`
  }
  return answers[error.code].status === 401 ? 'Bearer error="invalid_token"' : null
}
