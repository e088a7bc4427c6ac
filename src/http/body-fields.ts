/**
 * Fields of speech and transcription, whose faults are 400s in OpenAI's words. Forms and careless clients send numbers
 * and flags as strings; an empty string is an interface's setting that nobody has set.
 */
import { countChars } from '../domain/charge.ts'
import { MynaError } from '../domain/error.ts'
import type { Body } from './body.ts'

const maxNameChars = 256

/** A name, or null when there is none: interfaces with an empty setting send an empty string. */
export function nameOf(field: string, given: unknown): string | null {
  if (given === undefined || given === null) return null
  if (typeof given !== 'string') throw wrongType(field, 'a string', given)
  const name = given.toWellFormed().trim()
  requireLength(field, name, maxNameChars)
  return name === '' ? null : name
}

export function oneOf<const T extends string>(body: Body, field: string, supported: readonly T[]): T | null {
  const given = body[field]
  if (given === undefined || given === null || given === '') return null
  if (typeof given !== 'string') throw wrongType(field, 'a string', given)
  const found = supported.find((value) => value === given.toLowerCase())
  if (found === undefined) throw unsupported(field, given, supported)
  return found
}

/** Numeric strings are numbers: form fields and careless clients send them so. */
export function numberOf(body: Body, field: string, min: number, max: number): number | null {
  const given = body[field]
  if (given === undefined || given === null || given === '') return null
  const value = typeof given === 'string' && given.trim() !== '' ? Number(given) : given
  if (typeof value !== 'number' || !Number.isFinite(value)) throw wrongType(field, 'a number', given)
  const wrong = `Expected a value between ${min} and ${max}, but got ${value} instead.`
  if (value < min)
    throw new MynaError('decimal_below_min_value', `Invalid '${field}': too small. ${wrong}`, { param: field })
  if (value > max)
    throw new MynaError('decimal_above_max_value', `Invalid '${field}': too large. ${wrong}`, { param: field })
  return value
}

export function wholeOf(body: Body, field: string, min: number, max: number): number | null {
  const value = numberOf(body, field, min, max)
  if (value !== null && !Number.isInteger(value)) throw wrongType(field, 'an integer', body[field])
  return value
}

/** Absent: false. */
export function flagOf(body: Body, field: string): boolean {
  const given = body[field]
  if (given === undefined || given === null || given === '') return false
  const word = String(given).trim().toLowerCase()
  if (word === 'true' || word === '1') return true
  if (word === 'false' || word === '0') return false
  throw wrongType(field, 'a boolean', given)
}

export function requireLength(field: string, text: string, max: number): void {
  const length = text.length <= max ? text.length : countChars(text)
  if (length <= max) return
  const message =
    `Invalid '${field}': string too long. ` +
    `Expected a string with maximum length ${max}, but got a string with length ${length} instead.`
  throw new MynaError('string_above_max_length', message, { param: field })
}

export function wrongType(field: string, expected: string, given: unknown): MynaError {
  const kind = Array.isArray(given) ? 'an array' : typeof given === 'object' ? 'an object' : `a ${typeof given}`
  return new MynaError('invalid_type', `Invalid type for '${field}': expected ${expected}, but got ${kind} instead.`, {
    param: field,
  })
}

export function unsupported(field: string, given: unknown, supported: readonly unknown[], where = ''): MynaError {
  const shown = String(given).slice(0, 60).toWellFormed()
  const list = supported.map((value) => (typeof value === 'string' ? `'${value}'` : String(value))).join(', ')
  return new MynaError('unsupported_value', `Invalid value: '${shown}'. Supported values${where} are: ${list}.`, {
    param: field,
  })
}
