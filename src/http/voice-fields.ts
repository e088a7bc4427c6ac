/**
 * What a voice may be called and described as, field by field, for new voices and for changes of known ones. A form's
 * fields come as strings, so a list or a map may come as JSON in one.
 */
import { countChars } from '../domain/charge.ts'
import type { VoiceChange } from '../service/ports.ts'
import type { Body } from './body.ts'
import { invalidInput } from './invalid.ts'

const maxNameChars = 100
const maxDescriptionChars = 500
const maxLabels = 20
const maxLabelKeyChars = 64
const maxLabelValueChars = 256
const maxAliases = 20

const fields = ['name', 'description', 'labels', 'language', 'aliases'] as const

/** `null` clears what can be empty. @throws MynaError `validation_error`, also when no field is known */
export function parseVoiceChange(body: Body): VoiceChange {
  if (!fields.some((field) => body[field] !== undefined)) {
    throw invalidInput(['body', 'name'], `at least one of ${fields.join(', ')} is needed`, 'missing')
  }
  const name = nameOf(body.name)
  return {
    ...(name === null ? {} : { name }),
    ...(body.description === undefined ? {} : { description: descriptionOf(body.description) }),
    ...(body.labels === undefined ? {} : { labels: labelsOf(body.labels) }),
    ...(body.language === undefined ? {} : { language: languageOf(body.language) }),
    ...(body.aliases === undefined ? {} : { aliases: aliasesOf(body.aliases) }),
  }
}

/** @returns null when there is none */
export function nameOf(given: unknown): string | null {
  if (given === undefined || given === null) return null
  const name = textOf('name', given).trim()
  if (name === '' || countChars(name) > maxNameChars) throw wrongLength('name', 1, maxNameChars)
  return name
}

export function descriptionOf(given: unknown): string | null {
  if (given === undefined || given === null || given === '') return null
  const description = textOf('description', given, /[^\P{Cc}\n\t\r]/u)
  if (countChars(description) > maxDescriptionChars) throw wrongLength('description', 0, maxDescriptionChars)
  return description
}

export function labelsOf(given: unknown): Record<string, string> {
  const value = fromJson('labels', given)
  if (value === undefined || value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value)) throw wrongType('labels', 'an object of strings')
  const pairs = Object.entries(value)
  if (pairs.length > maxLabels) throw invalidInput(['body', 'labels'], `at most ${maxLabels} labels`, 'too_long')
  for (const [key, text] of pairs) {
    if (typeof text !== 'string') throw wrongType('labels', 'an object of strings')
    if (key === '' || countChars(key) > maxLabelKeyChars) throw wrongLength('labels', 1, maxLabelKeyChars)
    if (countChars(text) > maxLabelValueChars) throw wrongLength('labels', 0, maxLabelValueChars)
    textOf('labels', key)
    textOf('labels', text)
  }
  return Object.fromEntries(pairs.map(([key, text]) => [key.toWellFormed(), String(text).toWellFormed()]))
}

/** In its canonical form. */
export function languageOf(given: unknown): string | null {
  if (given === undefined || given === null || given === '') return null
  const language = textOf('language', given).trim().replaceAll('_', '-')
  try {
    const [canonical] = Intl.getCanonicalLocales(language)
    if (canonical !== undefined && canonical.length <= 64) return canonical
  } catch {
    // Not a language tag: refused below.
  }
  throw invalidInput(['body', 'language'], "input should be a language tag such as 'en' or 'en-US'", 'value_error')
}

export function aliasesOf(given: unknown): string[] {
  const value = fromJson('aliases', given)
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw wrongType('aliases', 'a list of strings')
  if (value.length > maxAliases) throw invalidInput(['body', 'aliases'], `at most ${maxAliases} aliases`, 'too_long')
  return value.map((alias: unknown) => {
    const name = textOf('aliases', alias).trim()
    if (name === '' || countChars(name) > maxNameChars) throw wrongLength('aliases', 1, maxNameChars)
    return name
  })
}

export function flagOf(field: string, given: unknown): boolean {
  if (given === undefined || given === null || given === '') return false
  const word = String(given).trim().toLowerCase()
  if (word === 'true' || word === '1') return true
  if (word === 'false' || word === '0') return false
  throw invalidInput(['body', field], "input should be 'true' or 'false'", 'bool_parsing')
}

/** Whole text without characters that no name has. */
export function textOf(field: string, given: unknown, forbidden = /\p{Cc}/u): string {
  if (typeof given !== 'string') throw wrongType(field, 'a string')
  if (forbidden.test(given)) throw invalidInput(['body', field], 'control characters are not allowed', 'value_error')
  return given.toWellFormed()
}

/** What stands in the JSON of a form's field; anything else is itself already. */
function fromJson(field: string, given: unknown): unknown {
  if (typeof given !== 'string') return given
  if (given.trim() === '') return null
  try {
    return JSON.parse(given)
  } catch {
    throw invalidInput(['body', field], 'input should be JSON', 'json_invalid')
  }
}

const wrongType = (field: string, expected: string) =>
  invalidInput(['body', field], `input should be ${expected}`, 'type_error')

const wrongLength = (field: string, least: number, most: number) =>
  invalidInput(['body', field], `string should have ${least} to ${most} characters`, 'string_length')
