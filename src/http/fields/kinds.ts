/**
 * The kinds of fields. Forms, queries and careless clients send numbers and flags as strings, and interfaces send an
 * empty string for a setting that is not set; all kinds accept both.
 */
import type { OpenAPIV3_1 } from 'openapi-types'
import { countChars } from '../../domain/charge.ts'
import { type Field, isAbsent, type Words } from './field.ts'
import type { Refusals } from './refusals.ts'

/** A size as people read it. */
export const sizeInWords = (bytes: number): string =>
  bytes > 0 && bytes % 2 ** 20 === 0 ? `${bytes / 2 ** 20} MiB` : `${bytes} bytes`

type ScalarSchema = OpenAPIV3_1.NonArraySchemaObject

function schemaWith({ about, examples, orNull, defaultsTo }: Words, schema: ScalarSchema): OpenAPIV3_1.SchemaObject {
  const { type, ...rules } = schema
  return {
    ...rules,
    ...(type === undefined ? {} : { type: orNull === true ? [type, 'null'] : type }),
    ...(defaultsTo === undefined ? {} : { default: defaultsTo }),
    ...(about === undefined ? {} : { description: about }),
    ...(examples === undefined ? {} : { examples: [...examples] }),
  } as OpenAPIV3_1.SchemaObject
}

export interface TextRules extends Words {
  /** Code points. */
  min?: number
  max?: number
  /** Whether the schema states `max`; a configured one differs between servers and is stated in words. */
  maxInSchema?: boolean
  /** Removes space at both ends; a text of nothing else is absent. */
  trim?: boolean
  /** Whether control characters are refused: all of them, or all but line breaks and tabs. */
  refuses?: 'control characters' | 'control characters in lines'
  /** Word that means the same as absent, in any case. */
  automatic?: string
}

const forbidden = { 'control characters': /\p{Cc}/u, 'control characters in lines': /[^\P{Cc}\n\t\r]/u } as const

/** Lone surrogates become U+FFFD. */
export const text = (rules: TextRules): Field<string | null> => ({
  schema: schemaWith(rules, {
    type: 'string',
    ...(rules.min === undefined ? {} : { minLength: rules.min }),
    ...(rules.max === undefined || rules.maxInSchema === false ? {} : { maxLength: rules.max }),
  }),
  codes: ['invalid_type', ...(rules.max === undefined ? [] : (['string_above_max_length'] as const))],
  parse: (given, refuse) => {
    if (isAbsent(given)) return null
    const checked = checkedText(given, rules, refuse)
    return checked.trim() === '' || checked.toLowerCase() === rules.automatic ? null : checked
  },
})

export function checkedText(given: unknown, rules: TextRules, refuse: Refusals): string {
  if (typeof given !== 'string') throw refuse.wrongType('a string', given)
  if (rules.refuses !== undefined && forbidden[rules.refuses].test(given)) {
    throw refuse.invalid(given, 'text without control characters', 'value_error')
  }
  const wellFormed = rules.trim === true ? given.toWellFormed().trim() : given.toWellFormed()
  const { min = 0, max = Infinity } = rules
  const length = wellFormed.length <= max ? wellFormed.length : countChars(wellFormed)
  if (length < min || length > max) throw refuse.wrongLength(wellFormed, min, max, length)
  return wellFormed
}

export const number = (min: number, max: number, words: Words = {}): Field<number | null> => ({
  schema: schemaWith(words, { type: 'number', minimum: min, maximum: max }),
  codes: ['invalid_type', 'decimal_below_min_value', 'decimal_above_max_value'],
  parse: (given, refuse) => numberFrom(given, min, max, 'a number', refuse),
})

export const wholeNumber = (min: number, max: number, words: Words = {}): Field<number | null> => ({
  ...number(min, max, words),
  schema: schemaWith(words, { type: 'integer', minimum: min, maximum: max }),
  parse: (given, refuse) => numberFrom(given, min, max, 'an integer', refuse),
})

/** One of these whole numbers. */
export const oneNumberOf = (supported: readonly number[], words: Words): Field<number | null> => ({
  schema: schemaWith(words, { type: 'integer', enum: [...supported] }),
  codes: ['invalid_type', 'unsupported_value'],
  parse: (given, refuse) => {
    const value = numberFrom(given, -Infinity, Infinity, 'an integer', refuse)
    if (value !== null && !supported.includes(value)) throw refuse.unsupported(value, supported)
    return value
  },
})

function numberFrom(given: unknown, min: number, max: number, kind: string, refuse: Refusals): number | null {
  if (isAbsent(given)) return null
  const isWhole = kind === 'an integer'
  const value = typeof given === 'string' && given.trim() !== '' ? Number(given) : given
  if (typeof value !== 'number' || !Number.isFinite(value)) throw refuse.wrongType(kind, given)
  if (value < min || value > max) throw refuse.outOfRange(value, min, max, isWhole)
  if (isWhole && !Number.isInteger(value)) throw refuse.wrongType(kind, given)
  return value
}

export interface ChoiceRules<T extends string> extends Words {
  /** Other words for some of the values, which the schema lists too. */
  means?: Readonly<Record<string, T>>
  /** Values that the schema lists but that are refused, each with the reason. */
  refused?: Readonly<Record<string, string>>
}

/** One of these words, in any case. */
export const choice = <const T extends string>(
  supported: readonly T[],
  rules: ChoiceRules<T> = {},
): Field<T | null> => ({
  schema: schemaWith(rules, {
    type: 'string',
    enum: [...supported, ...Object.keys(rules.means ?? {}), ...Object.keys(rules.refused ?? {})],
  }),
  codes: ['invalid_type', 'unsupported_value'],
  parse: (given, refuse) => {
    if (isAbsent(given)) return null
    if (typeof given !== 'string') throw refuse.wrongType('a string', given)
    const word = given.toLowerCase()
    const found = supported.find((value) => value === word) ?? own(rules.means, word)
    if (found === undefined) throw refuse.unsupported(given, supported, own(rules.refused, word))
    return found
  },
})

const own = <T>(table: Readonly<Record<string, T>> | undefined, key: string): T | undefined =>
  table !== undefined && Object.hasOwn(table, key) ? table[key] : undefined

/** Absent: false. */
export const flag = (words: Words = {}): Field<boolean> => ({
  schema: { ...schemaWith(words, { type: 'boolean' }), default: false },
  codes: ['invalid_type'],
  parse: (given, refuse) => {
    if (isAbsent(given)) return false
    const word = typeof given === 'object' ? '' : String(given).trim().toLowerCase()
    if (word === 'true' || word === '1') return true
    if (word === 'false' || word === '0') return false
    throw refuse.wrongType('a boolean', given)
  },
})

const maxTagChars = 64

/** A BCP-47 tag in its canonical form; `en_US` counts as `en-US`. */
export const languageTag = (words: Words): Field<string | null> => ({
  schema: schemaWith(words, { type: 'string' }),
  codes: ['invalid_type', 'unsupported_value'],
  parse: (given, refuse) => {
    if (isAbsent(given)) return null
    if (typeof given !== 'string') throw refuse.wrongType('a string', given)
    try {
      const [canonical] = Intl.getCanonicalLocales(given.trim().replaceAll('_', '-'))
      if (canonical !== undefined && canonical.length <= maxTagChars) return canonical
    } catch {
      // Not a language tag: refused below.
    }
    throw refuse.invalid(given, "a language tag such as 'en' or 'en-US'", 'value_error')
  },
})

/** 4000-01-01: later times are mistakes (usually milliseconds). */
const maxUnixS = 64_060_588_800

/** In seconds as documented, in milliseconds as read. */
export const unixTime = (schema: OpenAPIV3_1.SchemaObject): Field<number | null> => ({
  schema,
  codes: [],
  parse: (given, refuse) => {
    if (isAbsent(given)) return null
    if (/^\d{1,11}$/.test(String(given)) && Number(given) <= maxUnixS) return Number(given) * 1000
    throw refuse.invalid(given, 'a unix time in seconds', 'int_parsing')
  },
})

/** Any of these words; some clients send the whole list in one field, as JSON or separated by commas. */
export const choices = <const T extends string>(supported: readonly T[], words: Words): Field<readonly T[]> => ({
  schema: {
    type: 'array',
    items: { type: 'string', enum: [...supported] },
    ...(words.about === undefined ? {} : { description: words.about }),
    ...(words.examples === undefined ? {} : { examples: [...words.examples] }),
  },
  codes: ['unsupported_value'],
  parse: (given, refuse) => {
    const found = valuesOf(given).map((value) => {
      const one = supported.find((known) => known === value)
      if (one === undefined) throw refuse.unsupported(value, supported)
      return one
    })
    return [...new Set(found)]
  },
})

/** The single words of a field that may come once, several times, as a list or not at all. */
export const valuesOf = (given: unknown): unknown[] =>
  (typeof given === 'object' && given !== null ? Object.values(given) : [given ?? ''])
    .flatMap((value: unknown) => (typeof value === 'string' ? value.split(/[\s,"'[\]]+/) : [value]))
    .filter((value) => value !== '')
