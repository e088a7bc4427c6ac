/** What the descriptions of routes are put together from: who may call, which headers come, what an answer holds. */
import type { DocumentDecoration } from 'elysia'
import type { OpenAPIV3, OpenAPIV3_1 } from 'openapi-types'
import type { ErrorCode } from '../../domain/error.ts'
import { headerRef, keyedCodes, schemaRef } from './refusals.ts'
import { examples } from './examples.ts'

export type Operation = OpenAPIV3_1.OperationObject
export type Parameter = OpenAPIV3_1.ParameterObject
export type Headers = Record<string, OpenAPIV3_1.ReferenceObject>

/** Elysia's type knows OpenAPI 3.0 only; what is given is copied into the document as it is, so 3.1 gets through. */
export const detail = (operation: Operation): DocumentDecoration => operation as DocumentDecoration

export const bearer: NonNullable<Operation['security']> = [{ bearer: [] }]
export const open: NonNullable<Operation['security']> = []
export const openOrBearer: NonNullable<Operation['security']> = [{}, { bearer: [] }]

export const requestId: Headers = { 'X-Request-Id': headerRef('RequestId') }
export const rates: Headers = {
  'x-ratelimit-limit-requests': headerRef('RateLimit'),
  'x-ratelimit-remaining-requests': headerRef('RateRemaining'),
  'x-ratelimit-reset-requests': headerRef('RateReset'),
}

export const ok = (
  schema: keyof typeof examples,
  description: string,
  headers: Headers = { ...requestId, ...rates },
) => ({
  description,
  headers,
  content: { 'application/json': { schema: schemaRef(schema), example: examples[schema] } },
})

export const scoped: readonly ErrorCode[] = [...keyedCodes, 'insufficient_scope']
/** Without a key a request passes; a wrong one is refused. */
export const publicCodes: readonly ErrorCode[] = keyedCodes.filter((code) => code !== 'missing_api_key')

export const pathId = (name: string, description: string, example: string): Parameter => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
  example,
})

export const query = (name: string, description: string, schema: OpenAPIV3.SchemaObject): Parameter => ({
  name,
  in: 'query',
  description,
  schema,
})

export const audio: OpenAPIV3_1.MediaTypeObject = { schema: { type: 'string', format: 'binary' } }

export const idempotencyKey: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    '1 to 128 bytes of UTF-8, taken as they are. A second request of the account with the same key is ' +
    'refused with ' +
    '409 while the first is pending, completed or charged. Without it requests are never seen as duplicates.',
  schema: { type: 'string', minLength: 1, maxLength: 128 },
}
