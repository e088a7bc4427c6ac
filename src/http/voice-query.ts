/** What a list of voices is asked for, in the words of three ecosystems (docs/api.md 4.3). Unknown ones are ignored. */
import { voiceIdPattern, voiceStatuses } from '../domain/voice.ts'
import type { VoiceAsk } from '../service/library.ts'
import { invalidInput } from './invalid.ts'

const defaultLimit = 100
const maxLimit = 1000
const maxSearchChars = 256

const owners: Readonly<Record<string, Readonly<Record<string, VoiceAsk['owner']>>>> = {
  owner: { me: 'me', public: 'public', all: 'all' },
  is_owner: { true: 'me', '1': 'me', false: 'all', '0': 'all' },
  type: { custom: 'me', preset: 'public', all: 'all' },
  voice_type: { personal: 'me', default: 'public', all: 'all' },
}

/** @throws MynaError `validation_error` */
export function parseVoiceAsk(query: URLSearchParams): VoiceAsk {
  const { given, field } = first(query, ['language'])
  const search = first(query, ['search', 'q'])
  if (search.given !== null && search.given.length > maxSearchChars) {
    throw invalidInput(['query', search.field], `string should have at most ${maxSearchChars} characters`, 'too_long')
  }
  return {
    owner: ownerOf(query),
    status: oneOf(query, 'status', voiceStatuses),
    category: oneOf(query, 'category', ['cloned', 'premade'] as const),
    language: languageOf(given, field),
    search: search.given,
    order: oneOf(query, 'order', ['asc', 'desc'] as const) ?? 'desc',
    limit: limitOf(query),
    after: cursorOf(query, ['after', 'starting_after']),
    before: cursorOf(query, ['before', 'ending_before']),
  }
}

function ownerOf(query: URLSearchParams): VoiceAsk['owner'] {
  for (const [field, meanings] of Object.entries(owners)) {
    const given = query.get(field)
    if (given === null || given === '') continue
    const owner = Object.hasOwn(meanings, given.toLowerCase()) ? meanings[given.toLowerCase()] : undefined
    if (owner === undefined) throw notOneOf(field, Object.keys(meanings))
    return owner
  }
  return 'all'
}

function oneOf<const T extends string>(query: URLSearchParams, field: string, supported: readonly T[]): T | null {
  const given = query.get(field)
  if (given === null || given === '') return null
  const found = supported.find((value) => value === given.toLowerCase())
  if (found === undefined) throw notOneOf(field, supported)
  return found
}

function limitOf(query: URLSearchParams): number {
  const { given, field } = first(query, ['limit', 'page_size'])
  if (given === null) return defaultLimit
  const limit = /^\d{1,6}$/.test(given) ? Number(given) : 0
  if (limit >= 1 && limit <= maxLimit) return limit
  throw invalidInput(['query', field], `input should be a whole number from 1 to ${maxLimit}`, 'int_parsing')
}

function languageOf(given: string | null, field: string): string | null {
  if (given === null) return null
  try {
    return Intl.getCanonicalLocales(given.replaceAll('_', '-'))[0] ?? null
  } catch {
    throw invalidInput(['query', field], "input should be a language tag such as 'en' or 'en-US'", 'value_error')
  }
}

function cursorOf(query: URLSearchParams, names: readonly string[]): string | null {
  const { given, field } = first(query, names)
  if (given === null || voiceIdPattern.test(given)) return given
  throw invalidInput(['query', field], `string should match '${voiceIdPattern.source}'`, 'string_pattern_mismatch')
}

/** The first of the names that has a value. */
function first(query: URLSearchParams, names: readonly string[]): { given: string | null; field: string } {
  const field = names.find((name) => (query.get(name) ?? '') !== '') ?? names[0] ?? ''
  return { given: query.get(field) || null, field }
}

const notOneOf = (field: string, supported: readonly string[]) =>
  invalidInput(['query', field], `input should be one of: ${supported.join(', ')}`, 'enum')
