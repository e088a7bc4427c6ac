/**
 * What the records of the API's document are built from: each part has its schema and an example of it in one place.
 */
import type { OpenAPIV3_1 } from 'openapi-types'
import type { Schema } from '../fields/field.ts'

export interface Shape {
  schema: Schema
  /** `undefined`: left out of the example of its record. */
  example: unknown
}

type Plain = OpenAPIV3_1.NonArraySchemaObject
type Kind = Plain | { type: string[]; description?: string; minimum?: number }

const shape = (schema: Kind, example: unknown, about = ''): Shape => ({
  schema: { ...schema, ...(about === '' ? {} : { description: about }) } as Schema,
  example,
})

export const schemaRef = (name: string): OpenAPIV3_1.ReferenceObject => ({ $ref: `#/components/schemas/${name}` })

export const text = (example?: string, about?: string): Shape => shape({ type: 'string' }, example, about)
export const textOrNull = (example: string | null | undefined, about?: string): Shape =>
  shape({ type: ['string', 'null'] }, example, about)
export const matching = (pattern: string, example: string): Shape => shape({ type: 'string', pattern }, example)
export const constant = (value: string): Shape => shape({ type: 'string', const: value } as Plain, value)
export const oneOf = (values: readonly string[], example?: string, about?: string): Shape =>
  shape({ type: 'string', enum: [...values] }, example, about)
export const oneOrNull = (values: readonly string[], example: string | null | undefined, about?: string): Shape =>
  shape({ type: ['string', 'null'], enum: [...values, null] } as Kind, example, about)
export const flag = (example?: boolean, about?: string): Shape => shape({ type: 'boolean' }, example, about)
export const nothing: Shape = shape({ type: 'null' as 'string' }, null)
export const number = (example?: number, about?: string): Shape => shape({ type: 'number' }, example, about)
export const whole = (example?: number, about?: string): Shape => shape({ type: 'integer' }, example, about)
export const wholeOrNull = (example: number | null | undefined, about?: string): Shape =>
  shape({ type: ['integer', 'null'] }, example, about)
/** A whole number from 0. */
export const count = (example?: number, about?: string): Shape => shape({ type: 'integer', minimum: 0 }, example, about)
export const countOrNull = (example: number | null | undefined, about?: string): Shape =>
  shape({ type: ['integer', 'null'], minimum: 0 }, example, about)
export const zero = (about?: string): Shape => shape({ type: 'integer', const: 0 } as Plain, 0, about)

export const unixS = (example: number, about = 'Unix time in seconds.'): Shape => whole(example, about)
export const unixOrNull = (example: number | null, about = 'Unix time in seconds.'): Shape =>
  wholeOrNull(example, about)
export const micros = (example?: number, about = 'Millionths of a US dollar.'): Shape => whole(example, about)

/** @param items the first is the item's schema; all of them are the example */
export const list = (item: Shape, about?: string, examples: readonly unknown[] = [item.example]): Shape =>
  shape({ type: 'array', items: item.schema } as unknown as Plain, examples, about)

/** All fields are always present, except those named as optional. */
export function record(fields: Readonly<Record<string, Shape>>, about = '', optional: readonly string[] = []): Shape {
  const entries = Object.entries(fields)
  return shape(
    {
      type: 'object',
      required: entries.map(([name]) => name).filter((name) => !optional.includes(name)),
      properties: Object.fromEntries(entries.map(([name, { schema }]) => [name, schema])),
    },
    Object.fromEntries(
      entries.map(([name, { example }]) => [name, example]).filter(([, example]) => example !== undefined),
    ),
    about,
  )
}

/** The record of that name, as other records refer to it. */
export const named = (name: string, { example }: Shape): Shape => ({ schema: schemaRef(name), example })

/** OpenAI's list. @param item `Name` and its record @param more fields besides `object` and `data` */
export const listOf = (item: Shape, more: Record<string, Shape> = {}, optional: readonly string[] = []): Shape =>
  record({ object: constant('list'), data: list(item), ...more }, '', optional)

export const page = (id: string): Record<string, Shape> => ({
  has_more: flag(false),
  first_id: textOrNull(id),
  last_id: textOrNull(id),
})
