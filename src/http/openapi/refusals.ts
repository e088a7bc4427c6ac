/**
 * Refusals in the API's document: the envelope, and the answers that a list of codes leads to. Statuses, meanings and
 * retry rules come from the table in `error-codes.ts`, so the document cannot differ from it.
 */
import type { OpenAPIV3_1 } from 'openapi-types'
import { type ErrorCode, errorCodes, MynaError } from '../../domain/error.ts'
import { outcomes } from '../../domain/operation.ts'
import { codes, exampleOperationId } from '../error-codes.ts'
import { errorBody, mirrored } from '../errors.ts'
import type { Schema } from '../fields/field.ts'
import * as is from './shapes.ts'

type Response = OpenAPIV3_1.ResponseObject

const requestId = 'req_01KAJ5ZV3M2N1P0Q9R8S7T6V5W'
export const headerRef = (name: string): OpenAPIV3_1.ReferenceObject => ({ $ref: `#/components/headers/${name}` })

/** What every keyed route may answer before anything else. */
export const keyedCodes = [
  'missing_api_key',
  'invalid_authorization_header',
  'invalid_api_key',
  'expired_api_key',
  'account_disabled',
  'rate_limit_exceeded',
  'too_many_failed_attempts',
  'internal_error',
] as const satisfies readonly ErrorCode[]

/** What any work of an engine can be refused with or fail with. */
export const engineCodes: readonly ErrorCode[] = [
  'model_not_found',
  'request_timeout',
  'request_too_large',
  'unsupported_media_type',
  'concurrency_limit_exceeded',
  'generation_failed',
  'engine_overloaded',
  'engine_unavailable',
  'model_unavailable',
  'server_shutting_down',
  'storage_full',
  'database_damaged',
  'database_unavailable',
]

/** What an uploaded clip can be refused with. */
export const clipCodes: readonly ErrorCode[] = [
  'validation_error',
  'missing_file',
  'too_many_files',
  'clip_undecodable',
  'clip_too_short',
  'clip_too_long',
  'clip_silent',
]

/** @param isElevenLabs whether its clients read them @returns one answer per status of these codes */
export function refusals(list: readonly ErrorCode[], isElevenLabs: boolean): Record<string, Response> {
  const byStatus = Map.groupBy([...new Set(list)], (code) => codes[code].status)
  return Object.fromEntries([...byStatus].map(([status, same]) => [String(status), refusal(same, isElevenLabs)]))
}

function refusal(list: readonly ErrorCode[], isElevenLabs: boolean): Response {
  const isList = list.some((code) => codes[code].status === 422)
  const schema = isList ? 'ValidationError' : isElevenLabs ? 'ElevenLabsError' : 'Error'
  return {
    description: list
      .map((code) => `\`${code}\`: ${codes[code].about}`)
      .join('; ')
      .concat('.'),
    headers: headersOf(list),
    content: {
      'application/json': {
        schema: is.schemaRef(schema),
        examples: Object.fromEntries(list.map((code) => [code, { value: exampleOf(code, isElevenLabs) }])),
      },
    },
  }
}

function headersOf(list: readonly ErrorCode[]): Record<string, OpenAPIV3_1.ReferenceObject> {
  const statuses = list.map((code) => codes[code].status)
  const wait = list.some(
    (code) =>
      codes[code].status === 429 || (codes[code].status === 503 && !codes[code].noRetry) || code === 'voice_not_ready',
  )
  return {
    'X-Request-Id': headerRef('RequestId'),
    ...(wait ? { 'Retry-After': headerRef('RetryAfter'), 'retry-after-ms': headerRef('RetryAfterMs') } : {}),
    ...(list.some((code) => codes[code].noRetry) ? { 'x-should-retry': headerRef('ShouldRetry') } : {}),
    ...(statuses.includes(401) || list.includes('insufficient_scope')
      ? { 'WWW-Authenticate': headerRef('Challenge') }
      : {}),
  }
}

/** The body that `errorResponse` would send. */
function exampleOf(code: ErrorCode, isElevenLabs: boolean): Record<string, unknown> {
  const { message, param, extras } = codes[code]
  const details = { ...(param === undefined ? {} : { param }), ...(extras === undefined ? {} : { extras }) }
  const error = new MynaError(code, message, details)
  return { error: errorBody(error, requestId), ...mirrored(error, isElevenLabs) }
}

const faultList = is.list(
  is.record('', {
    loc: is.list(is.text(), 'Where: `path`, `query` or `body`, then the field.'),
    msg: is.text(),
    type: is.text('', 'The kind of fault, such as `enum` or `string_pattern_mismatch`.'),
  }),
  'The faults one by one.',
)

const allOptional = (fields: Record<string, is.Shape>): Record<string, is.Shape> =>
  Object.fromEntries(Object.entries(fields).map(([name, shape]) => [name, is.optional(shape)]))

const operationFields = allOptional({
  operation_id: is.text('', 'The operation that this is about.'),
  state: is.oneOf(['pending', 'terminal']),
  outcome: is.oneOrNull(outcomes, null),
})

const extras = allOptional({
  ...operationFields,
  required_micros: is.whole(0, 'With `insufficient_balance`: the price.'),
  balance_micros: is.whole(0, 'With `insufficient_balance`: the balance.'),
  required_scope: is.text('', 'With `insufficient_scope`.'),
  max_bytes: is.whole(0, 'With `request_too_large`.'),
  limit: is.whole(0, 'With `voice_limit_reached`: how many voices the account may own.'),
  owned: is.whole(0, 'With `voice_limit_reached`: how many it owns.'),
  duration_seconds: is.number(0, 'With refused clips: their length.'),
  min_seconds: is.whole(0, 'With refused clips: the shortest.'),
  max_seconds: is.whole(0, 'With refused clips: the longest.'),
  allow: is.text('', 'With `method_not_allowed`: as in the `Allow` header.'),
  details: faultList,
})

const errorObject = is.record('More fields depend on the code; clients ignore those that they do not know.', {
  message: is.text('', 'For people; it may change.'),
  type: is.oneOf([...new Set(Object.values(codes).map(({ type }) => type))].sort()),
  param: is.textOrNull(null, 'The field, header or part of the path at fault.'),
  code: is.oneOf(errorCodes, '', 'For programs. Later versions may add codes.'),
  request_id: is.text('', 'As in the `X-Request-Id` header.'),
  ...extras,
})
const errorRef = is.named('ErrorObject', errorObject)

export const errorSchemas: Record<string, Schema> = {
  ErrorObject: errorObject.schema,
  Error: is.record('Every answer from status 400 on, on audio routes too.', { error: errorRef, ...operationFields })
    .schema,
  ElevenLabsError: is.record('The envelope, and what clients of ElevenLabs read instead.', {
    error: errorRef,
    detail: is.record('', { status: is.text('', 'The code, as ElevenLabs calls it.'), message: is.text() }),
    ...operationFields,
  }).schema,
  ValidationError: is.record('The envelope of a 422: the faults are also at the top level.', {
    error: errorRef,
    detail: faultList,
  }).schema,
}

const header = (
  schema: NonNullable<OpenAPIV3_1.HeaderObject['schema']>,
  example?: unknown,
  description?: string,
): OpenAPIV3_1.HeaderObject => ({
  ...(description === undefined ? {} : { description }),
  schema,
  ...(example === undefined ? {} : { example }),
})
const id = (prefix: string) => ({ type: 'string', pattern: `^${prefix}_[0-9A-HJKMNP-TV-Z]{26}$` }) as const
const string = { type: 'string' } as const
const integer = { type: 'integer' } as const
const from1 = { type: 'integer', minimum: 1 } as const

export const headers: Record<string, OpenAPIV3_1.HeaderObject> = {
  RequestId: header(id('(op|req)'), requestId, 'The operation (`op_...`) once there is one; otherwise `req_...`.'),
  OperationId: header(
    id('op'),
    exampleOperationId,
    'The id of the operation that this request made. Keep it as soon as the headers arrive.',
  ),
  RetryAfter: header(from1, 2, 'Seconds to wait before another try.'),
  RetryAfterMs: header(from1, 1500, 'The same in milliseconds; SDKs prefer it.'),
  ShouldRetry: header(
    { type: 'string', enum: ['false'] },
    undefined,
    '`false` if SDKs, which retry 408, 409, 429 and 5xx by themselves, should not. Absent otherwise.',
  ),
  Challenge: header(string, 'Bearer error="invalid_token"', 'How to authenticate (RFC 6750).'),
  RateLimit: header(integer, 300, 'Requests allowed per time span (`x-ratelimit-limit-requests`).'),
  RateRemaining: header(integer, 299, 'How many of them are left.'),
  RateReset: header(
    { type: 'string', pattern: '^\\d+(ms|s)$' },
    '6s',
    'When all of them are free again, as a duration.',
  ),
  Location: header(string, undefined, 'Path of the new voice.'),
  OperationLocation: header(string, undefined, 'Path of the operation.'),
  ETag: header(string, '"9f86d081884c7d659a2feaa0c55ad015"'),
  LastModified: header(string, 'Fri, 21 Nov 2025 08:00:04 GMT'),
  AcceptRanges: header({ type: 'string', enum: ['bytes'] }),
  ContentRange: header(string, 'bytes 0-1/240044'),
  Disposition: header(string, 'inline; filename="speech.mp3"'),
  Warning: header(
    string,
    "The voice 'rms' was removed and stands for 'martin' until the next release. Use 'martin'.",
    'With a name that will end.',
  ),
  SampleRate: header(integer, 24000, 'With `pcm` and `wav`: hertz.'),
  Channels: header(integer, 1, 'With `pcm` and `wav`.'),
}
