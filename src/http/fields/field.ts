/**
 * One declaration per request field: what it may hold, its default and its words. The parser, the refusal, the schema
 * in the API's document and the tables in docs/ all come from it, so they cannot disagree. Elysia's own `body:` schemas
 * would not do: they validate before authentication, read the bodies of strangers, and answer in their own words.
 */
import type { OpenAPIV3_1 } from 'openapi-types'
import type { ErrorCode } from '../../domain/error.ts'
import type { Body } from '../body.ts'
import { type Dialect, queryDialect, type Refusals } from './refusals.ts'

export type Schema = OpenAPIV3_1.SchemaObject | OpenAPIV3_1.ReferenceObject

export interface Field<T> {
  /** As the document shows it. */
  readonly schema: OpenAPIV3_1.SchemaObject
  /** As the document shows it in forms, if that differs. */
  readonly formSchema?: OpenAPIV3_1.SchemaObject
  readonly isRequired?: boolean
  /** The codes it can be refused with where faults are a 400. */
  readonly codes: readonly ErrorCode[]
  /** Other names of the field, each with what its values mean; null: the same. */
  readonly synonyms?: Readonly<Record<string, Readonly<Record<string, string>> | null>>
  /** @param given `undefined`, `null` or an empty string if the field is absent @throws MynaError */
  readonly parse: (given: unknown, refuse: Refusals) => T
}

export type Fields = Readonly<Record<string, Field<unknown>>>
export type Values<F extends Fields> = { -readonly [Name in keyof F]: F[Name] extends Field<infer T> ? T : never }

/** What every kind of field takes. */
export interface Words {
  about?: string
  /** Examples of JSON Schema. */
  examples?: readonly unknown[]
  /** Whether the schema says that `null` is allowed; the parser always allows it. */
  orNull?: boolean
  /** What the schema calls the default, where the parser leaves the choice to others. */
  defaultsTo?: unknown
}

export const isAbsent = (given: unknown): given is undefined | null | '' =>
  given === undefined || given === null || given === ''

/**
 * Reads every field of the table; anything else in the body is ignored.
 * @throws MynaError for the first field at fault
 */
export function parseFields<F extends Fields>(fields: F, body: Body, dialect: Dialect): Values<F> {
  const values = Object.entries(fields).map(([name, field]) => [name, parseField(name, field, body, dialect)])
  return Object.fromEntries(values) as Values<F>
}

/** Like `parseFields`, but fields that the body does not name are left out. */
export function parsePresent<F extends Fields>(fields: F, body: Body, dialect: Dialect): Partial<Values<F>> {
  const present = Object.entries(fields).filter(([name]) => body[plainName(name)] !== undefined)
  return parseFields(Object.fromEntries(present), body, dialect) as Partial<Values<F>>
}

/** Reads a query: of a repeated name the first value counts, except for lists. @throws MynaError `validation_error` */
export function parseQuery<F extends Fields>(fields: F, query: URLSearchParams): Values<F> {
  const given: Record<string, unknown> = {}
  for (const [name, { schema, synonyms = {} }] of Object.entries(fields)) {
    if (schema.type === 'array') given[name] = [...query.getAll(name), ...query.getAll(`${name}[]`)]
    else for (const used of [name, ...Object.keys(synonyms)]) given[used] = query.get(used)
  }
  return parseFields(fields, given, queryDialect)
}

function parseField(name: string, field: Field<unknown>, body: Body, dialect: Dialect): unknown {
  const plain = plainName(name)
  const synonyms = Object.keys(field.synonyms ?? {})
  const used = [plain, ...synonyms].find((candidate) => !isAbsent(body[candidate])) ?? plain
  const refuse = dialect(used)
  const meanings = field.synonyms?.[used] ?? null
  return field.parse(meanings === null ? body[used] : meaningOf(body[used], meanings, refuse), refuse)
}

function meaningOf(given: unknown, meanings: Readonly<Record<string, string>>, refuse: Refusals): string {
  const word = String(given).toLowerCase()
  const meaning = Object.hasOwn(meanings, word) ? meanings[word] : undefined
  if (meaning === undefined) throw refuse.unsupported(given, Object.keys(meanings))
  return meaning
}

/** Lists are documented as `name[]`, as forms send them, and read as `name`. */
const plainName = (name: string): string => name.replace(/\[\]$/, '')

export const required = <T>(field: Field<T | null>): Field<T> => ({
  ...field,
  isRequired: true,
  codes: [...field.codes, 'missing_required_parameter', 'empty_string'],
  parse: (given, refuse) => {
    if (given === undefined || given === null) throw refuse.missing()
    const value = field.parse(given, refuse)
    if (value === null) throw refuse.blank()
    return value
  },
})

export const withDefault = <T>(field: Field<T | null>, value: T): Field<T> => ({
  ...field,
  schema: { ...field.schema, default: value },
  parse: (given, refuse) => field.parse(given, refuse) ?? value,
})

/** A field that is accepted and ignored, or read elsewhere (files): it only appears in the document. */
export const documented = (schema: OpenAPIV3_1.SchemaObject, isRequired = false): Field<null> => ({
  schema,
  isRequired,
  codes: isRequired ? ['missing_required_parameter'] : [],
  parse: () => null,
})

/** The schema of a body with these fields. */
export function objectOf(fields: Fields, more: OpenAPIV3_1.NonArraySchemaObject = {}, inForm = false): Schema {
  const needed = Object.keys(fields).filter((name) => fields[name]?.isRequired)
  const shown = Object.entries(fields).map(([name, field]) => [
    name,
    (inForm ? field.formSchema : null) ?? field.schema,
  ])
  return {
    type: 'object',
    ...(needed.length === 0 ? {} : { required: needed }),
    ...more,
    properties: Object.fromEntries(shown) as Record<string, OpenAPIV3_1.SchemaObject>,
  }
}

/** The parameters of a query with these fields. */
export const parametersOf = (fields: Fields): OpenAPIV3_1.ParameterObject[] =>
  Object.entries(fields).map(
    ([
      name,
      {
        schema: { description, ...schema },
      },
    ]) => ({
      name,
      in: 'query',
      ...(description === undefined ? {} : { description }),
      schema: schema as NonNullable<OpenAPIV3_1.ParameterObject['schema']>,
      ...(schema.type === 'array' ? { style: 'form', explode: true } : {}),
    }),
  )

/** The codes with which a body of these fields can be refused where faults are a 400. */
export const codesOf = (fields: Fields): ErrorCode[] => [
  ...new Set(Object.values(fields).flatMap(({ codes }) => codes)),
]
