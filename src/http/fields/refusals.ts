/**
 * Decides how a field at fault is refused. There are two dialects: bodies of OpenAI's family get a 400 in OpenAI's
 * words, because their clients look for that; paths, queries and voice bodies get a 422 with FastAPI's list of faults.
 */
import { MynaError } from '../../domain/error.ts'
import { invalidInput } from '../invalid.ts'

export interface Refusals {
  missing(): MynaError
  /** The field is present but holds nothing. */
  blank(): MynaError
  /** @param expected such as `a string` */
  wrongType(expected: string, given: unknown): MynaError
  wrongLength(given: string, min: number, max: number, length: number): MynaError
  outOfRange(value: number, min: number, max: number, isWhole: boolean): MynaError
  /** @param why put before the supported values, such as `No model here can do that.` */
  unsupported(given: unknown, supported: readonly unknown[], why?: string): MynaError
  /** @param expected such as `a language tag such as 'en'` @param kind FastAPI's word for the fault */
  invalid(given: unknown, expected: string, kind: string): MynaError
}

/** The refusals of the field of that name. */
export type Dialect = (field: string) => Refusals

export const openAiDialect: Dialect = (field) => {
  const refusal = (code: ConstructorParameters<typeof MynaError>[0], message: string) =>
    new MynaError(code, message, { param: field })
  return {
    missing: () => refusal('missing_required_parameter', `Missing required parameter: '${field}'.`),
    blank: () => refusal('empty_string', `Invalid '${field}': empty string. Expected a text.`),
    wrongType: (expected, given) =>
      refusal('invalid_type', `Invalid type for '${field}': expected ${expected}, but got ${typeOf(given)} instead.`),
    wrongLength: (_, _min, max, length) =>
      refusal(
        'string_above_max_length',
        `Invalid '${field}': string too long. ` +
          `Expected a string with maximum length ${max}, but got a string with length ${length} instead.`,
      ),
    outOfRange: (value, min, max) => {
      const [code, size] =
        value < min ? (['decimal_below_min_value', 'small'] as const) : (['decimal_above_max_value', 'large'] as const)
      const range = `Expected a value between ${min} and ${max}, but got ${value} instead.`
      return refusal(code, `Invalid '${field}': too ${size}. ${range}`)
    },
    unsupported: (given, supported, why = '') => {
      const list = supported.map((value) => (typeof value === 'string' ? `'${value}'` : String(value))).join(', ')
      const reason = why === '' ? '' : ` ${why}`
      return refusal('unsupported_value', `Invalid value: '${shown(given)}'.${reason} Supported values are: ${list}.`)
    },
    invalid: (given, expected) =>
      refusal('unsupported_value', `Invalid value: '${shown(given)}'. Expected ${expected}.`),
  }
}

const listDialect =
  (where: 'body' | 'query'): Dialect =>
  (field) => {
    const refusal = (msg: string, kind: string) => invalidInput([where, field], msg, kind)
    return {
      missing: () => refusal('field required', 'missing'),
      blank: () => refusal('input should not be empty', 'string_length'),
      wrongType: (expected, given) =>
        expected === 'a boolean'
          ? refusal("input should be 'true' or 'false'", 'bool_parsing')
          : refusal(`input should be ${expected}, not ${typeOf(given)}`, 'type_error'),
      wrongLength: (_, min, max) =>
        min === 0
          ? refusal(`string should have at most ${max} characters`, 'too_long')
          : refusal(`string should have ${min} to ${max} characters`, 'string_length'),
      outOfRange: (_, min, max, isWhole) =>
        refusal(`input should be a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}`, 'int_parsing'),
      unsupported: (_, supported) => refusal(`input should be one of: ${supported.join(', ')}`, 'enum'),
      invalid: (_, expected, kind) => refusal(`input should be ${expected}`, kind),
    }
  }

export const bodyDialect = listDialect('body')
export const queryDialect = listDialect('query')

/** What a list or an object holds is not shown: neither must have a form as text. */
const shown = (given: unknown): string =>
  typeof given === 'object' && given !== null ? typeOf(given) : String(given).slice(0, 60).toWellFormed()

const typeOf = (given: unknown): string =>
  Array.isArray(given) ? 'an array' : typeof given === 'object' ? 'an object' : `a ${typeof given}`
