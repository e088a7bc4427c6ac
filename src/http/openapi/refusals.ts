/**
 * How the API's document tells refusals: the envelope, what each code means, and for a list of codes the answers that
 * they make. Statuses and retry rules are read from the one map in `errors.ts`, so the document cannot differ from it.
 */
import type { OpenAPIV3_1 } from 'openapi-types'
import { type ErrorCode, errorCodes, MynaError } from '../../domain/error.ts'
import { outcomes } from '../../domain/operation.ts'
import { operationId } from './examples.ts'
import { meanings, requestId } from './meanings.ts'
import { answers, errorBody, mirrored } from '../errors.ts'

export type Schema = OpenAPIV3_1.SchemaObject | OpenAPIV3_1.ReferenceObject
type Response = OpenAPIV3_1.ResponseObject

export const schemaRef = (name: string): OpenAPIV3_1.ReferenceObject => ({ $ref: `#/components/schemas/${name}` })
export const headerRef = (name: string): OpenAPIV3_1.ReferenceObject => ({ $ref: `#/components/headers/${name}` })

/** What every keyed route may answer before it looks at anything else. */
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

/** @returns one answer for each status that these codes lead to */
export function refusals(...codes: readonly ErrorCode[]): Record<string, Response> {
  const byStatus = Map.groupBy([...new Set(codes)], (code) => answers[code].status)
  return Object.fromEntries([...byStatus].map(([status, same]) => [String(status), refusal(same)]))
}

function refusal(codes: readonly ErrorCode[]): Response {
  const schema = codes.some((code) => answers[code].status === 422) ? 'ValidationError' : 'Error'
  return {
    description: codes
      .map((code) => `\`${code}\`: ${meanings[code].about}`)
      .join('; ')
      .concat('.'),
    headers: headersOf(codes),
    content: {
      'application/json': {
        schema: schemaRef(schema),
        examples: Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code) }])),
      },
    },
  }
}

function headersOf(codes: readonly ErrorCode[]): Record<string, OpenAPIV3_1.ReferenceObject> {
  const statuses = codes.map((code) => answers[code].status)
  const wait = codes.some(
    (code) =>
      answers[code].status === 429 ||
      (answers[code].status === 503 && !answers[code].noRetry) ||
      code === 'voice_not_ready',
  )
  return {
    'X-Request-Id': headerRef('RequestId'),
    ...(wait ? { 'Retry-After': headerRef('RetryAfter'), 'retry-after-ms': headerRef('RetryAfterMs') } : {}),
    ...(codes.some((code) => answers[code].noRetry) ? { 'x-should-retry': headerRef('ShouldRetry') } : {}),
    ...(statuses.includes(401) || codes.includes('insufficient_scope')
      ? { 'WWW-Authenticate': headerRef('Challenge') }
      : {}),
  }
}

/** As `errorResponse` would make it. */
function exampleOf(code: ErrorCode): Record<string, unknown> {
  const { message, param, extras } = meanings[code]
  const details = { ...(param === undefined ? {} : { param }), ...(extras === undefined ? {} : { extras }) }
  const error = new MynaError(code, message, details)
  return { error: errorBody(error, requestId), ...mirrored(error) }
}

const details: Schema = {
  type: 'array',
  description: 'The faults one by one.',
  items: {
    type: 'object',
    required: ['loc', 'msg', 'type'],
    properties: {
      loc: {
        type: 'array',
        items: { type: 'string' },
        description: 'Where: `path`, `query` or `body`, then the field.',
      },
      msg: { type: 'string' },
      type: { type: 'string', description: 'The kind of fault, such as `enum` or `string_pattern_mismatch`.' },
    },
  },
}

const operationFields: Record<string, Schema> = {
  operation_id: { type: 'string', description: 'The operation that this is about.' },
  state: { type: 'string', enum: ['pending', 'terminal'] },
  outcome: { type: ['string', 'null'], enum: [...outcomes, null] },
}

export const errorSchemas: Record<string, Schema> = {
  ErrorObject: {
    type: 'object',
    required: ['message', 'type', 'param', 'code', 'request_id'],
    description: 'Further fields depend on the code; clients ignore those that they do not know.',
    properties: {
      message: { type: 'string', description: 'For a person to read; it may change.' },
      type: { type: 'string', enum: [...new Set(Object.values(answers).map(({ type }) => type))].sort() },
      param: { type: ['string', 'null'], description: 'The field, header or path part at fault.' },
      code: {
        type: 'string',
        enum: [...errorCodes],
        description: 'For a program to read. Later versions may add codes.',
      },
      request_id: { type: 'string', description: 'As in the `X-Request-Id` header.' },
      ...operationFields,
      required_micros: { type: 'integer', description: 'With `insufficient_balance`: the price.' },
      balance_micros: { type: 'integer', description: 'With `insufficient_balance`: what there is.' },
      required_scope: { type: 'string', description: 'With `insufficient_scope`.' },
      max_bytes: { type: 'integer', description: 'With `request_too_large`.' },
      limit: { type: 'integer', description: 'With `voice_limit_reached`: how many voices there may be.' },
      owned: { type: 'integer', description: 'With `voice_limit_reached`: how many there are.' },
      duration_seconds: { type: 'number', description: 'With refused clips: how long it is.' },
      min_seconds: { type: 'integer', description: 'With refused clips: the shortest.' },
      max_seconds: { type: 'integer', description: 'With refused clips: the longest.' },
      allow: { type: 'string', description: 'With `method_not_allowed`: as in the `Allow` header.' },
      details,
    },
  },
  Error: {
    type: 'object',
    required: ['error'],
    description: 'Every answer from 400 on, on audio routes too.',
    properties: {
      error: schemaRef('ErrorObject'),
      ...operationFields,
    },
  },
  ValidationError: {
    type: 'object',
    required: ['error', 'detail'],
    description: 'The envelope of a 422: the faults stand at the top level, too.',
    properties: { error: schemaRef('ErrorObject'), detail: details },
  },
}

export const headers: Record<string, OpenAPIV3_1.HeaderObject> = {
  RequestId: {
    description: 'The operation (`op_...`) once there is one for this request; otherwise a tracing id (`req_...`).',
    schema: { type: 'string', pattern: '^(op|req)_[0-9A-HJKMNP-TV-Z]{26}$' },
    example: requestId,
  },
  OperationId: {
    description: 'The id of the operation that this request made. Keep it as soon as the headers arrive.',
    schema: { type: 'string', pattern: '^op_[0-9A-HJKMNP-TV-Z]{26}$' },
    example: operationId,
  },
  RetryAfter: {
    description: 'Seconds after which another try makes sense.',
    schema: { type: 'integer', minimum: 1 },
    example: 2,
  },
  RetryAfterMs: {
    description: 'The same in milliseconds; SDKs prefer it.',
    schema: { type: 'integer', minimum: 1 },
    example: 1500,
  },
  ShouldRetry: {
    description:
      '`false` where SDKs, which repeat 408, 409, 429 and 5xx by themselves, had better not. Absent otherwise.',
    schema: { type: 'string', enum: ['false'] },
  },
  Challenge: {
    description: 'How to authenticate, as RFC 6750 has it.',
    schema: { type: 'string' },
    example: 'Bearer error="invalid_token"',
  },
  RateLimit: {
    description: 'Requests that this route allows in its span (`x-ratelimit-limit-requests`).',
    schema: { type: 'integer' },
    example: 300,
  },
  RateRemaining: { description: 'How many of them are left.', schema: { type: 'integer' }, example: 299 },
  RateReset: {
    description: 'When all of them are free again, as a duration.',
    schema: { type: 'string', pattern: '^\\d+(ms|s)$' },
    example: '6s',
  },
  Location: { description: 'Path of what was made.', schema: { type: 'string' } },
  ETag: { schema: { type: 'string' }, example: '"9f86d081884c7d659a2feaa0c55ad015"' },
  LastModified: { schema: { type: 'string' }, example: 'Fri, 21 Nov 2025 08:00:04 GMT' },
  AcceptRanges: { schema: { type: 'string', enum: ['bytes'] } },
  ContentRange: { schema: { type: 'string' }, example: 'bytes 0-1/240044' },
  Disposition: { schema: { type: 'string' }, example: 'inline; filename="speech.mp3"' },
  SampleRate: { description: 'With `pcm` and `wav`: hertz.', schema: { type: 'integer' }, example: 24000 },
  Channels: { description: 'With `pcm` and `wav`.', schema: { type: 'integer' }, example: 1 },
}
