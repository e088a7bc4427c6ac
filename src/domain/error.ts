/**
 * The closed list of everything that can be refused or fail, in words of the domain. Code below `http/` knows no HTTP
 * status: one table there assigns it, so that a status is never chosen by an error's text.
 */
export const errorCodes = [
  'account_disabled',
  'admin_required',
  'audio_too_long',
  'audio_too_short',
  'clip_refused',
  'clip_silent',
  'clip_too_long',
  'clip_too_short',
  'clip_undecodable',
  'concurrency_limit_exceeded',
  'consent_not_found',
  'consent_required',
  'database_damaged',
  'database_unavailable',
  'decimal_above_max_value',
  'decimal_below_min_value',
  'duplicate_request',
  'empty_string',
  'engine_overloaded',
  'engine_unavailable',
  'expired_api_key',
  'foreign_origin',
  'generation_failed',
  'idempotency_conflict',
  'insufficient_balance',
  'insufficient_scope',
  'internal_error',
  'invalid_api_key',
  'invalid_audio',
  'invalid_authorization_header',
  'invalid_cursor',
  'invalid_form',
  'invalid_host',
  'invalid_idempotency_key',
  'invalid_json',
  'invalid_type',
  'method_not_allowed',
  'missing_api_key',
  'missing_file',
  'missing_required_parameter',
  'model_not_found',
  'model_unavailable',
  'operation_cancelled',
  'operation_not_found',
  'preview_not_available',
  'pull_failed',
  'range_not_satisfiable',
  'rate_limit_exceeded',
  'request_timeout',
  'request_too_large',
  'server_shutting_down',
  'storage_full',
  'string_above_max_length',
  'too_many_failed_attempts',
  'too_many_files',
  'transcription_unavailable',
  'unknown_url',
  'unsupported_media_type',
  'unsupported_value',
  'upgrade_required',
  'validation_error',
  'voice_limit_reached',
  'voice_model_mismatch',
  'voice_not_found',
  'voice_not_owned',
  'voice_not_ready',
  'voice_unusable',
] as const

export type ErrorCode = (typeof errorCodes)[number]

export interface ErrorDetails {
  /** The request field that is at fault, as the client named it. */
  param?: string
  /** Further fields of the envelope's `error` object (snake_case, as they go out). */
  extras?: Record<string, unknown>
  /** How long a client should wait before it tries again, where trying again makes sense. */
  retryAfterMs?: number
  /** The operation that exists in spite of the refusal: its id becomes the answer's `X-Request-Id`. */
  operationId?: string
  cause?: unknown
}

/** An expected refusal or failure. Its message is shown to the client, so it never holds text, paths or keys. */
export class MynaError extends Error {
  readonly code: ErrorCode
  readonly param: string | null
  readonly extras: Record<string, unknown>
  readonly retryAfterMs: number | undefined
  readonly operationId: string | undefined

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause })
    this.name = 'MynaError'
    this.code = code
    this.param = details.param ?? null
    this.extras = details.extras ?? {}
    this.retryAfterMs = details.retryAfterMs
    this.operationId = details.operationId
  }
}
