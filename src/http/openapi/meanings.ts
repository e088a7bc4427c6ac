/** What each code means, with an example of its message: for the API's document. */
import type { ErrorCode } from '../../domain/error.ts'
import { operationId } from './examples.ts'

export interface Meaning {
  about: string
  /** What a message with this code looks like. */
  message: string
  param?: string
  /** Further fields of the `error` object. */
  extras?: Record<string, unknown>
}

export const requestId = 'req_01KAJ5ZV3M2N1P0Q9R8S7T6V5W'
const original = { operation_id: operationId, state: 'pending', outcome: null }

/** A table and not a list, so that the compiler misses a code that is forgotten. */
export const meanings: Readonly<Record<ErrorCode, Meaning>> = {
  account_disabled: { about: "the key's account is disabled", message: 'This account is disabled.' },
  admin_required: { about: 'only an administrator may do this', message: 'Only an administrator may do this.' },
  audio_too_long: {
    about: 'the audio is longer than is accepted',
    message: 'The audio is longer than 10860 seconds.',
    param: 'file',
    extras: { duration_seconds: 15033.5, max_seconds: 10860 },
  },
  audio_too_short: {
    about: 'there is less than a tenth of a second of audio',
    message: 'The audio lasts 0.05 s; at least 0.1 s is needed.',
    param: 'file',
  },
  concurrency_limit_exceeded: {
    about: 'too many of these requests of the account run at once',
    message: 'Too many speech requests of this account run at once.',
  },
  decimal_above_max_value: {
    about: 'a number is too large',
    message: "Invalid 'speed': too large. Expected a value between 0.25 and 4, but got 9 instead.",
    param: 'speed',
  },
  decimal_below_min_value: {
    about: 'a number is too small',
    message: "Invalid 'speed': too small. Expected a value between 0.25 and 4, but got 0.1 instead.",
    param: 'speed',
  },
  duplicate_request: {
    about: 'the idempotency key belongs to an earlier request with the same fields; nothing is replayed',
    message: 'This Idempotency-Key belongs to an earlier request; audio is not replayed.',
    param: 'Idempotency-Key',
    extras: original,
  },
  empty_string: {
    about: 'the text is blank',
    message: "Invalid 'input': empty string. Expected text to speak.",
    param: 'input',
  },
  engine_overloaded: {
    about: 'the queue is full, or the request waited too long in it',
    message: 'The engine is busy and its queue is full. Try again later.',
  },
  engine_unavailable: {
    about: 'the engine is starting, or could not be started',
    message: 'The speech engine is not available. Try again later.',
  },
  expired_api_key: { about: 'the key has expired', message: 'This API key has expired.' },
  foreign_origin: {
    about: 'a session of the console was used by a page of another origin',
    message: 'Only a page of this server may do that.',
  },
  generation_failed: {
    about: 'the engine failed before anything came of it; nothing is charged',
    message: 'The engine failed while it was speaking.',
  },
  idempotency_conflict: {
    about: 'the idempotency key belongs to an earlier request with other fields',
    message: 'This Idempotency-Key was used for a request with other fields.',
    param: 'Idempotency-Key',
    extras: original,
  },
  insufficient_balance: {
    about: 'the balance does not cover the price',
    message: 'The balance is too low for this request.',
    extras: { required_micros: 675, balance_micros: 120 },
  },
  insufficient_scope: {
    about: 'the key lacks the scope that this route asks for',
    message: "This API key lacks the scope 'tts'.",
    extras: { required_scope: 'tts' },
  },
  internal_error: { about: 'a fault of the server', message: 'Internal server error.' },
  invalid_api_key: {
    about: 'the key is unknown or revoked',
    message: 'Incorrect API key provided: sk-myna-****x7Qk.',
  },
  invalid_audio: {
    about: 'the file is no audio, not supported or damaged',
    message: 'ALAC in MP4 is not supported. Send wav, mp3, flac, ogg (Opus or Vorbis), m4a, aac or webm.',
    param: 'file',
  },
  invalid_authorization_header: {
    about: 'the Authorization header is not a bearer credential',
    message: "The Authorization header must be 'Bearer <key>'.",
  },
  invalid_form: {
    about: 'the form cannot be read',
    message: 'body: the form cannot be read: is its boundary right, and is it whole?',
  },
  invalid_idempotency_key: {
    about: 'the Idempotency-Key header is empty, too long, or no text',
    message: "Invalid 'Idempotency-Key': it must have 1 to 128 bytes, not 0.",
    param: 'Idempotency-Key',
  },
  invalid_json: { about: 'the body is not a JSON object', message: 'The body is not valid JSON.' },
  invalid_type: {
    about: 'a field has another type',
    message: "Invalid type for 'input': expected a string, but got an array instead.",
    param: 'input',
  },
  method_not_allowed: {
    about: 'the path exists, but not with this method',
    message: 'PUT is not allowed here. Allowed: POST, OPTIONS.',
  },
  missing_api_key: {
    about: 'no key was sent, or an empty one',
    message: 'No API key was given. Send it as: Authorization: Bearer <key>',
  },
  missing_required_parameter: {
    about: 'a required field is absent',
    message: "Missing required parameter: 'input'.",
    param: 'input',
  },
  model_not_found: {
    about: 'the model does not exist, or is not installed',
    message: 'The model `gpt-4` does not exist or you do not have access to it.',
    param: 'model',
  },
  model_unavailable: {
    about: 'the model could not be loaded; the message says why',
    message: 'The model kokoro-82m could not be loaded: model.onnx is missing.',
  },
  operation_cancelled: {
    about: 'the operation was cancelled before its first audio',
    message: 'The operation was cancelled before its first audio.',
  },
  operation_not_found: {
    about: 'unknown, expired, malformed or of another account: all alike',
    message: 'No such operation.',
    param: 'operation_id',
  },
  rate_limit_exceeded: {
    about: 'too many requests in the last minute',
    message: 'Too many requests. Try again later.',
  },
  request_timeout: { about: 'the request body stopped coming', message: 'The request body stopped coming.' },
  request_too_large: {
    about: 'the body is larger than the server takes',
    message: 'The request body is larger than 1048576 bytes.',
    extras: { max_bytes: 1_048_576 },
  },
  server_shutting_down: { about: 'the server is being stopped', message: 'The server is shutting down.' },
  database_damaged: {
    about: 'the database is damaged, so nothing is read from it or written to it',
    message: 'The database of the server is damaged; nothing was accepted or charged.',
  },
  storage_full: {
    about: 'nothing can be written, so no new work is taken',
    message: 'The server cannot write its records, so it takes no new work.',
  },
  string_above_max_length: {
    about: 'a text is too long, in characters or in the time that it takes to speak',
    message:
      "Invalid 'input': string too long. " +
      'Expected a string with maximum length 4096, but got a string with length 5000 instead.',
    param: 'input',
  },
  too_many_failed_attempts: {
    about: 'too many refused keys from this address; a valid key still passes',
    message: 'Too many failed authentication attempts. Try again later.',
  },
  transcription_unavailable: {
    about: 'no transcription model is installed; every other route is unaffected',
    message: 'No transcription model is installed. Get one with: myna models pull whisper-base',
  },
  unknown_url: { about: 'there is no such path', message: 'Invalid URL (POST /v1/x).' },
  unsupported_media_type: {
    about: 'multipart where JSON is due, or the reverse',
    message: 'This route takes a JSON body, not multipart/form-data.',
  },
  unsupported_value: {
    about: 'a field has a value that is not among the supported ones',
    message: "Invalid value: 'ogg2'. Supported values are: 'mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'.",
    param: 'response_format',
  },
  validation_error: {
    about: 'a part of the path or the query is not valid',
    message: "bucket_width: input should be '1m', '1h' or '1d'",
    param: 'bucket_width',
    extras: {
      details: [{ loc: ['query', 'bucket_width'], msg: "input should be '1m', '1h' or '1d'", type: 'enum' }],
    },
  },
  voice_model_mismatch: {
    about: 'the named model cannot speak with the named voice',
    message: "The model 'flite' cannot speak with the voice 'af_heart'.",
    param: 'model',
  },
  voice_not_found: {
    about: 'the voice does not exist, or is private to another account: both alike',
    message: "The voice 'nobody' does not exist or you do not have access to it.",
    param: 'voice',
  },
  clip_refused: {
    about: 'the voice model cannot use this clip',
    message: 'The clip cannot be cloned: more than one person speaks.',
    param: 'file',
  },
  clip_silent: {
    about: 'nobody speaks in the clip, or too quietly',
    message: 'The clip holds less than a second of speech.',
    param: 'file',
  },
  clip_too_long: {
    about: 'the clip is longer than a voice needs',
    message: 'The clip lasts 75.0 s; at most 60 s are accepted.',
    param: 'file',
  },
  clip_too_short: {
    about: 'the clip is too short to learn a voice from',
    message: 'The clip lasts 1.2 s; at least 3 s are needed.',
    param: 'file',
  },
  clip_undecodable: {
    about: 'the file is no audio that can be read',
    message: 'The clip could not be decoded: it is not audio.',
    param: 'file',
  },
  consent_required: {
    about: 'this server clones only with a declared consent',
    message: 'This server clones only with a declared consent.',
    param: 'consent',
  },
  invalid_cursor: {
    about: 'the cursor is no voice of this list',
    message: 'after: no such voice in this list',
    param: 'after',
  },
  missing_file: { about: 'the form holds no file', message: 'The form holds no audio file.', param: 'file' },
  preview_not_available: {
    about: 'the voice failed and has no preview',
    message: 'This voice has no preview.',
    param: 'voice_id',
  },
  range_not_satisfiable: { about: 'the range lies behind the end', message: 'The range lies behind the end.' },
  too_many_files: {
    about: 'the form holds more than one file',
    message: 'The form holds more than one file.',
    param: 'file',
  },
  voice_limit_reached: {
    about: 'the account owns as many voices as it may',
    message: 'This account owns 100 voices, which is its limit.',
  },
  voice_not_owned: {
    about: 'the voice belongs to somebody else',
    message: 'Only its owner may change this voice.',
    param: 'voice_id',
  },
  voice_not_ready: {
    about: 'the voice is still being made',
    message: 'This voice is still being made. Try again in a moment.',
    param: 'voice',
  },
  voice_unusable: {
    about: 'the voice could not be made',
    message: 'This voice failed and cannot speak.',
    param: 'voice',
  },
}
