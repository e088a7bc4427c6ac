/**
 * Descriptions of routes. What follows from who may call, from the path, the query and the body (security, parameters,
 * codes, words) is derived here; a description says the rest.
 */
import type { DocumentDecoration } from 'elysia'
import type { OpenAPIV3_1 } from 'openapi-types'
import type { ErrorCode } from '../../domain/error.ts'
import { type Fields, parametersOf } from '../fields/field.ts'
import { answerRecords } from './records.ts'
import { headerRef, keyedCodes, refusals } from './refusals.ts'
import { schemaRef } from './shapes.ts'

export type Response = OpenAPIV3_1.ResponseObject
export type Media = OpenAPIV3_1.MediaTypeObject
type Parameter = OpenAPIV3_1.ParameterObject
type Headers = NonNullable<Response['headers']>

interface Access {
  security: NonNullable<OpenAPIV3_1.OperationObject['security']>
  codes: readonly ErrorCode[]
  words?: string
}

const bearer = [{ bearer: [] }]
const scoped: Access = { security: bearer, codes: [...keyedCodes, 'insufficient_scope'] }
const scope = (name: string): Access => ({ ...scoped, words: `Requires the scope \`${name}\`.` })

/** Who may call. */
const accesses = {
  tts: scope('tts'),
  voices: scope('voices'),
  usage: scope('usage'),
  /** Which scope, the description says. */
  scoped,
  key: { security: bearer, codes: keyedCodes, words: 'Any valid key.' },
  admin: {
    security: bearer,
    codes: [...keyedCodes, 'admin_required'],
    words: 'Requires an unrestricted key of an administrator.',
  },
  /** A request without a key passes; one with a wrong key is refused. */
  public: { security: [{}, ...bearer], codes: keyedCodes.filter((code) => code !== 'missing_api_key') },
  metrics: { security: bearer, codes: ['invalid_api_key', 'too_many_failed_attempts', 'internal_error'] },
  open: { security: [], codes: ['internal_error'] },
} satisfies Record<string, Access>

export interface Description {
  access: keyof typeof accesses
  about?: string
  path?: PathId
  query?: Fields
  body?: OpenAPIV3_1.RequestBodyObject
  /** Of its clients; absent: OpenAI's. */
  protocol?: 'elevenlabs'
  /** Takes an Idempotency-Key. */
  idempotent?: true
  answers: Readonly<Record<number, Response>>
  /** With which it is refused, besides those that follow from the rest. */
  codes?: readonly ErrorCode[]
}

/**
 * The description of a route. Elysia's type knows only OpenAPI 3.0, but copies anything into the document.
 * @param operationId null: none, because it must be unique and the description is used twice
 */
export function detail(tag: string, operationId: string | null, summary: string, its: Description) {
  const { security, codes, words }: Access = accesses[its.access]
  const description = [its.about, words].filter((text) => text !== undefined).join(' ')
  const parameters = [
    ...(its.idempotent ? [idempotencyKey] : []),
    ...(its.path === undefined ? [] : [its.path.parameter]),
    ...parametersOf(its.query ?? {}),
  ]
  return {
    tags: [tag],
    ...(operationId === null ? {} : { operationId }),
    summary,
    ...(description === '' ? {} : { description }),
    security: its.protocol === undefined ? security : [{ xiApiKey: [] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(its.body === undefined ? {} : { requestBody: its.body }),
    responses: {
      ...its.answers,
      ...refusals(
        [
          ...(its.codes ?? []),
          ...(its.idempotent ? keyCodes : []),
          ...(its.path?.codes ?? []),
          ...(its.query === undefined ? [] : (['validation_error'] as const)),
          ...codes,
        ],
        its.protocol === 'elevenlabs',
      ),
    },
  } as DocumentDecoration
}

export interface PathId {
  parameter: Parameter
  codes: readonly ErrorCode[]
}

/** @param codes with which an id is refused */
export const pathId = (name: string, about: string, example: string, ...codes: ErrorCode[]): PathId => ({
  parameter: { name, in: 'path', required: true, description: about, schema: { type: 'string' }, example },
  codes,
})

const keyCodes: readonly ErrorCode[] = ['invalid_idempotency_key', 'duplicate_request']
const idempotencyKey: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    '1 to 128 bytes of UTF-8, used as they are. A second request of the account with the same key is refused with ' +
    '409 if the first is pending, completed or charged. Without a key, requests never count as duplicates.',
  schema: { type: 'string', minLength: 1, maxLength: 128 },
}

export const requestId: Headers = { 'X-Request-Id': headerRef('RequestId') }
export const rates: Headers = {
  'x-ratelimit-limit-requests': headerRef('RateLimit'),
  'x-ratelimit-remaining-requests': headerRef('RateRemaining'),
  'x-ratelimit-reset-requests': headerRef('RateReset'),
}

type RecordName = keyof typeof answerRecords

export const ok = (name: RecordName, description: string, headers: Headers = { ...requestId, ...rates }): Response => ({
  description,
  headers,
  content: { 'application/json': contentOf(name) },
})

/** Like `ok`, where an operation was made. @param location what is at the address in the header */
export const begun = (name: RecordName, description: string, location: 'Location' | 'OperationLocation'): Response =>
  ok(name, description, { 'X-Request-Id': headerRef('OperationId'), Location: headerRef(location), ...rates })

/** The record of that name with its example, as the content of an answer. */
export const contentOf = (name: RecordName): Media => ({
  schema: schemaRef(name),
  example: answerRecords[name].example,
})

/** Binary content of each of these types. */
export const binaryOf = (types: readonly string[]): Record<string, Media> =>
  Object.fromEntries(types.map((type) => [type, { schema: { type: 'string', format: 'binary' } }]))

export const jsonBody = (content: Media): OpenAPIV3_1.RequestBodyObject => ({
  required: true,
  content: { 'application/json': content },
})
export const formBody = (schema: string): OpenAPIV3_1.RequestBodyObject => ({
  required: true,
  content: { 'multipart/form-data': { schema: schemaRef(schema) } },
})
