/**
 * The table of error codes: for each the HTTP status and type, what it means, and an example of its message. The
 * answers, the API's document and docs/api.md 7 are made from it. The codes themselves are the domain's
 * (`domain/error.ts`).
 */
import type { ErrorCode } from '../domain/error.ts'

export interface CodeRow {
  status: number
  type: string
  /** SDKs retry 408, 409, 429 and 5xx by themselves; this stops them where a retry is useless or dangerous. */
  noRetry?: true
  /** When it happens. */
  about: string
  /** An example. */
  message: string
  param?: string
  /** More fields of the `error` object. */
  extras?: Record<string, unknown>
}

type Details = Pick<CodeRow, 'param' | 'extras' | 'noRetry'>
const kind =
  (type: string) =>
  (status: number, about: string, message: string, details: Details = {}): CodeRow => ({
    status,
    type,
    about,
    message,
    ...details,
  })
const invalid = kind('invalid_request_error')
const identity = kind('authentication_error')
const permission = kind('permission_error')
const billing = kind('billing_error')
const limited = kind('rate_limit_error')
const server = kind('server_error')

const noRetry = true
const [file, input] = [{ param: 'file' }, { param: 'input' }]
const keyHeader = { param: 'Idempotency-Key' }
export const exampleOperationId = 'op_01KAJ5ZV4Q9X8W7V6T5S4R3Q2P'
const original = { operation_id: exampleOperationId, state: 'pending', outcome: null }
const badWidth = 'input should be one of: 1m, 1h, 1d'

/** A record rather than a list, so that the compiler reports a missing code. */
export const codes: Readonly<Record<ErrorCode, CodeRow>> = {
  account_disabled: identity(401, "the key's account is disabled", 'This account is disabled.'),
  admin_required: permission(403, 'only an administrator may do this', 'Only an administrator may do this.'),
  audio_too_long: invalid(400, 'the audio is too long', 'The audio is longer than 10860 seconds.', {
    param: 'file',
    extras: { duration_seconds: 15033.5, max_seconds: 10860 },
  }),
  audio_too_short: invalid(400, 'less than 0.1 s of audio', 'The audio lasts 0.05 s; at least 0.1 s is needed.', file),
  clip_refused: invalid(
    422,
    'the voice model cannot use this clip',
    'The clip cannot be cloned: more than one person speaks.',
    file,
  ),
  clip_silent: invalid(422, 'no speech in the clip', 'The clip contains less than a second of speech.', file),
  clip_too_long: invalid(422, 'the clip is too long', 'The clip lasts 75.0 s; at most 60 s are accepted.', file),
  clip_too_short: invalid(422, 'the clip is too short', 'The clip lasts 1.2 s; at least 3 s are needed.', file),
  clip_undecodable: invalid(422, 'the file is not audio', 'The clip could not be decoded: it is not audio.', file),
  concurrency_limit_exceeded: limited(
    429,
    'too many of these requests of the account are running',
    'Too many speech requests of this account are running.',
  ),
  consent_not_found: invalid(
    404,
    'the consent does not exist, or is of another account: both look the same',
    "The consent 'cons_1234' does not exist or you do not have access to it.",
    { param: 'consent' },
  ),
  consent_required: invalid(
    422,
    'this server requires a declared consent',
    'This server clones only with a declared consent.',
    { param: 'consent' },
  ),
  database_damaged: server(
    503,
    'the database is damaged, so nothing is read from it or written to it',
    'The database of the server is damaged; nothing was accepted or charged.',
    { noRetry },
  ),
  database_unavailable: server(
    503,
    'the database that several boxes share does not answer',
    'The database does not answer. Try again in a moment.',
  ),
  decimal_above_max_value: invalid(
    400,
    'a number is too large',
    "Invalid 'speed': too large. Expected a value between 0.25 and 4, but got 9 instead.",
    { param: 'speed' },
  ),
  decimal_below_min_value: invalid(
    400,
    'a number is too small',
    "Invalid 'speed': too small. Expected a value between 0.25 and 4, but got 0.1 instead.",
    { param: 'speed' },
  ),
  duplicate_request: invalid(
    409,
    'the idempotency key belongs to an earlier request with the same fields; nothing is replayed',
    'This Idempotency-Key belongs to an earlier request; audio is not replayed.',
    { ...keyHeader, extras: original, noRetry },
  ),
  empty_string: invalid(400, 'the text is blank', "Invalid 'input': empty string. Expected a text.", input),
  engine_overloaded: server(
    503,
    'the queue is full, or the request waited too long in it',
    'The engine is busy and its queue is full. Try again later.',
  ),
  engine_unavailable: server(
    503,
    'the engine is starting, or could not be started',
    'The speech engine is not available. Try again later.',
  ),
  expired_api_key: identity(401, 'the key has expired', 'This API key has expired.'),
  foreign_origin: permission(
    403,
    'a page of another origin, or a name that is not the server’s, without a key',
    'Only a page of this server may do that.',
  ),
  generation_failed: server(
    500,
    'the engine failed before any output; nothing is charged',
    'The engine failed while it was speaking.',
  ),
  idempotency_conflict: invalid(
    409,
    'the idempotency key belongs to an earlier request with other fields',
    'This Idempotency-Key was used for a request with other fields.',
    { ...keyHeader, extras: original, noRetry },
  ),
  insufficient_balance: billing(402, 'the balance is too low', 'The balance is too low for this request.', {
    extras: { required_micros: 675, balance_micros: 120 },
  }),
  insufficient_scope: permission(403, 'the key lacks the scope of this route', "This API key lacks the scope 'tts'.", {
    extras: { required_scope: 'tts' },
  }),
  internal_error: server(500, 'a bug in the server', 'Internal server error.'),
  invalid_api_key: identity(401, 'the key is unknown or revoked', 'Incorrect API key provided: sk-myna-****x7Qk.'),
  invalid_audio: invalid(
    400,
    'the file is not audio, not supported or damaged',
    'ALAC in MP4 is not supported. Send wav, mp3, flac, ogg (Opus or Vorbis), m4a, aac or webm.',
    file,
  ),
  invalid_authorization_header: identity(
    401,
    'the Authorization header is not a bearer credential',
    "The Authorization header must be 'Bearer <key>'.",
  ),
  invalid_cursor: invalid(422, 'the cursor is not a voice of this list', 'after: no such voice in this list', {
    param: 'after',
  }),
  invalid_form: invalid(
    400,
    'the form cannot be parsed',
    'body: the form cannot be parsed: is its boundary right, and is it complete?',
  ),
  invalid_host: invalid(
    400,
    'the request names no host, several, or none that can be read',
    'The request must have one Host header with a name or an address.',
  ),
  invalid_idempotency_key: invalid(
    400,
    'the Idempotency-Key header is empty, too long or not text',
    "Invalid 'Idempotency-Key': it must have 1 to 128 bytes, not 0.",
    keyHeader,
  ),
  invalid_json: invalid(400, 'the body is not a JSON object', 'The body is not valid JSON.'),
  invalid_type: invalid(
    400,
    'a field has the wrong type',
    "Invalid type for 'input': expected a string, but got an array instead.",
    input,
  ),
  method_not_allowed: invalid(
    405,
    'the path exists, but not with this method',
    'PUT is not allowed here. Allowed: POST, OPTIONS.',
  ),
  missing_api_key: identity(
    401,
    'no key was sent, or an empty one',
    'No API key was given. Send it as: Authorization: Bearer <key>',
  ),
  missing_file: invalid(422, 'the form has no file', 'The form has no audio file.', file),
  missing_required_parameter: invalid(
    400,
    'a required field is missing',
    "Missing required parameter: 'input'.",
    input,
  ),
  model_not_found: invalid(
    404,
    'the model does not exist or is not installed',
    'The model `gpt-4` does not exist or you do not have access to it.',
    { param: 'model' },
  ),
  model_unavailable: server(
    503,
    'the model could not be loaded; the message says why',
    'The model kokoro-82m could not be loaded: model.onnx is missing.',
    { noRetry },
  ),
  operation_cancelled: invalid(
    400,
    'the operation was cancelled before its first audio',
    'The operation was cancelled before its first audio.',
    { noRetry },
  ),
  operation_not_found: invalid(
    404,
    'the operation is unknown, expired, malformed or of another account: all look the same',
    'No such operation.',
    { param: 'operation_id' },
  ),
  preview_not_available: invalid(404, 'the voice failed and has no preview', 'This voice has no preview.', {
    param: 'voice_id',
  }),
  pull_failed: server(
    502,
    'the model could not be downloaded; the message says why, and what to do',
    'https://huggingface.co does not answer. The partial download is kept: try again later.',
    { param: 'model_id', noRetry },
  ),
  range_not_satisfiable: invalid(416, 'the range is past the end', 'The range is past the end.'),
  rate_limit_exceeded: limited(429, 'too many requests within a minute', 'Too many requests. Try again later.'),
  request_timeout: invalid(
    408,
    'less than 128 KiB of the request body arrived in a minute; the connection is closed',
    'The request body stopped arriving.',
  ),
  request_too_large: invalid(413, 'the body is too large', 'The request body is larger than 1048576 bytes.', {
    extras: { max_bytes: 1_048_576 },
  }),
  server_shutting_down: server(503, 'the server is shutting down', 'The server is shutting down.'),
  storage_full: server(
    507,
    'nothing can be written, so new work is refused',
    'The server cannot write its records, so it accepts no new work.',
    { noRetry },
  ),
  string_above_max_length: invalid(
    400,
    'a text is too long, in characters or in the time it takes to speak',
    "Invalid 'input': string too long. " +
      'Expected a string with maximum length 4096, but got a string with length 5000 instead.',
    input,
  ),
  too_many_failed_attempts: limited(
    429,
    'too many refused keys from this address; a valid key still passes',
    'Too many failed authentication attempts. Try again later.',
    { noRetry },
  ),
  too_many_files: invalid(422, 'the form has more than one file', 'The form has more than one file.', file),
  transcription_unavailable: server(
    503,
    'no transcription model is installed; every other route is unaffected',
    'No transcription model is installed. Get one with: myna models pull whisper-base',
    { noRetry },
  ),
  unknown_url: invalid(404, 'the path does not exist', 'Invalid URL (POST /v1/x).'),
  unsupported_media_type: invalid(
    415,
    'multipart where JSON is expected, or the reverse',
    'This route takes a JSON body, not multipart/form-data.',
  ),
  unsupported_value: invalid(
    400,
    'a field has a value that is not supported',
    "Invalid value: 'ogg2'. Supported values are: 'mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'.",
    { param: 'response_format' },
  ),
  upgrade_required: invalid(
    426,
    'the address is for WebSockets',
    'This address is for WebSockets: wss://.../v1/realtime',
  ),
  validation_error: invalid(422, 'the path, the query or a field is invalid', `bucket_width: ${badWidth}`, {
    param: 'bucket_width',
    extras: { details: [{ loc: ['query', 'bucket_width'], msg: badWidth, type: 'enum' }] },
  }),
  voice_limit_reached: permission(
    403,
    'the account owns as many voices, or consents, as it may',
    'This account owns 100 voices, which is its limit.',
  ),
  voice_model_mismatch: invalid(
    400,
    'the named model cannot speak with the named voice',
    "The model 'hibari' cannot speak with the voice 'af_heart'.",
    { param: 'model' },
  ),
  voice_not_found: invalid(
    404,
    'the voice does not exist, or is private to another account: both look the same',
    "The voice 'nobody' does not exist or you do not have access to it.",
    { param: 'voice' },
  ),
  voice_not_owned: permission(403, 'the voice belongs to another account', 'Only its owner may change this voice.', {
    param: 'voice_id',
  }),
  // Retried on purpose: SDKs then make clone-then-speak work by themselves.
  voice_not_ready: invalid(
    409,
    'the voice is still being made',
    'This voice is still being made. Try again in a moment.',
    { param: 'voice' },
  ),
  voice_unusable: invalid(400, 'the voice could not be made', 'This voice failed and cannot speak.', {
    param: 'voice',
  }),
}
