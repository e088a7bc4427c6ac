/**
 * Answers, declared once a field: its kind, an example, its words, and where its value comes from. The record that is
 * sent and its schema in the API's document are made from the same line, so they cannot disagree.
 */
import type { OpenAPIV3_1 } from 'openapi-types'
import type { Schema } from '../fields/field.ts'

/** What the document says of a value of this type. */
export interface Shape<T = unknown> {
  schema: Schema
  /** `undefined`: left out of the example of its record. */
  example: T | undefined
  /** Whether an answer may leave it out. */
  isOptional?: true
}

/** A field of an answer: its value comes from the source; `undefined` leaves out one that is optional. */
export interface Sent<S, T = unknown> extends Shape<T> {
  of: (source: S) => T | undefined
}

export type Json = Record<string, unknown>

/** A record: what is sent for each source. */
export interface Answer<S> extends Shape<Json> {
  of: (source: S) => Json
}

type Plain = OpenAPIV3_1.NonArraySchemaObject
type Kind = Plain | { type: string[]; description?: string; minimum?: number }

const shape = <T>(schema: Kind, example: T | undefined, about = ''): Shape<T> => ({
  schema: { ...schema, ...(about === '' ? {} : { description: about }) } as Schema,
  example,
})

export const schemaRef = (name: string): OpenAPIV3_1.ReferenceObject => ({ $ref: `#/components/schemas/${name}` })

/** Where a value of type T comes from: a field of the source, or a function of it. */
type Origin<S, T> = { [K in keyof S]: S[K] extends T ? K : never }[keyof S] | ((source: S) => T)

const valueOf =
  <S, T>(origin: Origin<S, T>) =>
  (source: S): T =>
    typeof origin === 'function' ? origin(source) : (source[origin] as T)

/** The field's value for each source. */
export const from = <S, T>(what: Shape<T>, origin: Origin<S, NoInfer<T>>): Sent<S, T> => ({
  ...what,
  of: valueOf<S, T>(origin),
})

/** The same, where there may be none. */
export const maybe = <S, T>(what: Shape<T>, origin: Origin<S, NoInfer<T> | undefined>): Sent<S, T> => ({
  ...optional(what),
  of: valueOf<S, T | undefined>(origin),
})

export const optional = <T>(what: Shape<T>): Shape<T> => ({ ...what, isOptional: true })

const always = <T>(schema: Plain, value: T, about?: string): Sent<unknown, T> => ({
  ...shape(schema, value, about),
  of: () => value,
})

export const constant = <const T extends string>(value: T): Sent<unknown, T> =>
  always({ type: 'string', const: value } as Plain, value)
export const fixed = <const T extends boolean>(value: T): Sent<unknown, T> => always({ type: 'boolean' }, value)
export const zero = (about?: string): Sent<unknown, 0> => always({ type: 'integer', const: 0 } as Plain, 0, about)

export const text = (example?: string, about?: string): Shape<string> => shape({ type: 'string' }, example, about)
export const textOrNull = (example: string | null | undefined, about?: string): Shape<string | null> =>
  shape({ type: ['string', 'null'] }, example, about)
/** Of a text that OpenAI has and we have not. */
export const nothing: Sent<unknown, null> = { schema: textOrNull(null).schema, example: null, of: () => null }
export const matching = (pattern: string, example: string): Shape<string> => shape({ type: 'string', pattern }, example)
export const oneOf = <const T extends string>(values: readonly T[], example?: T, about?: string): Shape<T> =>
  shape({ type: 'string', enum: [...values] }, example, about)
export const oneOrNull = <const T extends string>(values: readonly T[], example: T | null, about?: string) =>
  shape<T | null>({ type: ['string', 'null'], enum: [...values, null] } as Kind, example, about)
export const flag = (example?: boolean, about?: string): Shape<boolean> => shape({ type: 'boolean' }, example, about)
export const number = (example?: number, about?: string): Shape<number> => shape({ type: 'number' }, example, about)
export const whole = (example?: number, about?: string): Shape<number> => shape({ type: 'integer' }, example, about)
export const wholeOrNull = (example: number | null | undefined, about?: string): Shape<number | null> =>
  shape({ type: ['integer', 'null'] }, example, about)
/** A whole number from 0. */
export const count = (example?: number, about?: string): Shape<number> =>
  shape({ type: 'integer', minimum: 0 }, example, about)
export const countOrNull = (example: number | null | undefined, about?: string): Shape<number | null> =>
  shape({ type: ['integer', 'null'], minimum: 0 }, example, about)
export const micros = (example?: number, about = 'Millionths of a US dollar.'): Shape<number> => whole(example, about)

const unixWords = 'Unix time in seconds.'

/** @param origin in milliseconds */
export const unixS = <S>(example: number, origin: Origin<S, number>, about = unixWords): Sent<S, number> =>
  from(whole(example, about), (source) => Math.floor(valueOf<S, number>(origin)(source) / 1000))
/** @param origin in milliseconds */
export const unixOrNull = <S>(example: number | null, origin: Origin<S, number | null>, about = unixWords) =>
  from<S, number | null>(wholeOrNull(example, about), (source) => {
    const ms = valueOf<S, number | null>(origin)(source)
    return ms === null ? null : Math.floor(ms / 1000)
  })

/** @param examples of its items */
export const list = <T>(item: Shape<T>, about?: string, examples = [item.example]): Shape<readonly T[]> =>
  shape({ type: 'array', items: item.schema } as unknown as Plain, examples as T[], about)

/** @param about empty: its name says it */
export function record(about: string, fields: Readonly<Record<string, Shape>>): Shape<Json> {
  const entries = Object.entries(fields)
  return shape<Json>(
    {
      type: 'object',
      required: entries.filter(([, { isOptional }]) => isOptional !== true).map(([name]) => name),
      properties: Object.fromEntries(entries.map(([name, { schema }]) => [name, schema])),
    },
    Object.fromEntries(
      entries.map(([name, { example }]) => [name, example]).filter(([, example]) => example !== undefined),
    ),
    about,
  )
}

/** A record that is also sent. */
export function answer<S>(about: string, fields: Readonly<Record<string, Sent<S>>>): Answer<S> {
  const entries = Object.entries(fields)
  return {
    ...record(about, fields),
    of: (source) => Object.fromEntries(entries.map(([name, { of }]) => [name, of(source)])),
  }
}

/** Left out of the example of its record. */
export const unshown = <T>({ schema }: Shape<T>): Shape<T> => ({ schema, example: undefined })

/** The record of that name, as other records refer to it. */
export const named = <T>(name: string, { example }: Shape<T>): Shape<T> => ({ schema: schemaRef(name), example })

/** OpenAI's list. @param more fields besides `object` and `data` */
export const listOf = (item: Shape, more: Record<string, Shape>): Shape =>
  record('', { object: constant('list'), data: list(item), ...more })

export const page = (id: string): Record<string, Shape> => ({
  has_more: flag(false),
  first_id: textOrNull(id),
  last_id: textOrNull(id),
})
