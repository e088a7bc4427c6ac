/** Building blocks for the descriptions of routes: who may call, which headers are sent, what an answer contains. */
import type { DocumentDecoration } from 'elysia'
import type { OpenAPIV3_1 } from 'openapi-types'
import type { ErrorCode } from '../../domain/error.ts'
import { consentRecords } from './consent-records.ts'
import { headerRef, keyedCodes } from './refusals.ts'
import { records } from './records.ts'
import { schemaRef, type Shape } from './shapes.ts'
import { transcriptRecords } from './transcripts.ts'
import { voiceRecords } from './voice-records.ts'

export type Operation = OpenAPIV3_1.OperationObject
export type Parameter = OpenAPIV3_1.ParameterObject
export type Headers = Record<string, OpenAPIV3_1.ReferenceObject>

/**
 * The description of a route. Elysia's type knows only OpenAPI 3.0, but copies anything into the document.
 * @param operationId null: none, because it must be unique and the description is used twice
 * @param operation asks for a bearer key unless it says otherwise
 */
export const detail = (tag: string, operationId: string | null, summary: string, operation: Operation) =>
  ({
    tags: [tag],
    ...(operationId === null ? {} : { operationId }),
    summary,
    security: [{ bearer: [] }],
    ...operation,
  }) as DocumentDecoration

export const open: NonNullable<Operation['security']> = []
export const openOrBearer: NonNullable<Operation['security']> = [{}, { bearer: [] }]

export const requestId: Headers = { 'X-Request-Id': headerRef('RequestId') }
export const rates: Headers = {
  'x-ratelimit-limit-requests': headerRef('RateLimit'),
  'x-ratelimit-remaining-requests': headerRef('RateRemaining'),
  'x-ratelimit-reset-requests': headerRef('RateReset'),
}

export const answerRecords = { ...transcriptRecords, ...voiceRecords, ...consentRecords, ...records }

export const ok = (
  name: keyof typeof answerRecords,
  description: string,
  headers: Headers = { ...requestId, ...rates },
) => ({
  description,
  headers,
  content: { 'application/json': contentOf(name) },
})

/** The record of that name with its example, as the content of an answer. */
export function contentOf(name: keyof typeof answerRecords): OpenAPIV3_1.MediaTypeObject {
  const { example }: Shape = answerRecords[name]
  return { schema: schemaRef(name), example }
}

export const scoped: readonly ErrorCode[] = [...keyedCodes, 'insufficient_scope']
/** A request without a key passes; one with a wrong key is refused. */
export const publicCodes: readonly ErrorCode[] = keyedCodes.filter((code) => code !== 'missing_api_key')

export const pathId = (name: string, description: string, example: string): Parameter => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
  example,
})

const binary: OpenAPIV3_1.MediaTypeObject = { schema: { type: 'string', format: 'binary' } }

/** Binary content of each of these types. */
export const binaryOf = (types: readonly string[]): Record<string, OpenAPIV3_1.MediaTypeObject> =>
  Object.fromEntries(types.map((type) => [type, binary]))

export const idempotencyKey: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    '1 to 128 bytes of UTF-8, used as they are. A second request of the account with the same key is refused with ' +
    '409 if the first is pending, completed or charged. Without a key, requests never count as duplicates.',
  schema: { type: 'string', minLength: 1, maxLength: 128 },
}
