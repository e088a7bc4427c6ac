/**
 * The fields of voices: for new ones (forms) and for changes (JSON or forms). A form's fields are strings, so a list or
 * a map may be JSON in one of them.
 */
import type { OpenAPIV3_1 } from 'openapi-types'
import type { VoiceChange } from '../../service/ports.ts'
import type { Body } from '../body.ts'
import { documented, type Field, isAbsent, parsePresent } from '../fields/field.ts'
import { checkedText, flag, languageTag, sizeInWords, text } from '../fields/kinds.ts'
import { bodyDialect, type Refusals } from '../fields/refusals.ts'
import { invalidInput } from '../invalid.ts'

export const maxNameChars = 100
const maxDescriptionChars = 500
const maxLabels = 20
const maxLabelKeyChars = 64
const maxLabelValueChars = 256
const maxAliases = 20
const maxConsentChars = 4000

export const nameRules = { min: 1, max: maxNameChars, trim: true, refuses: 'control characters' } as const

/** An empty name is refused; null is absent. */
const name: Field<string | null> = {
  ...text({ ...nameRules, examples: ['Grandmother'] }),
  parse: (given, refuse) => (given === undefined || given === null ? null : checkedText(given, nameRules, refuse)),
}

const labels: Field<Record<string, string>> = {
  schema: {
    type: ['object', 'null'],
    maxProperties: maxLabels,
    additionalProperties: { type: 'string', maxLength: maxLabelValueChars },
    description: 'Replaces all labels.',
  } as OpenAPIV3_1.SchemaObject,
  formSchema: {
    type: 'string',
    examples: ['{"accent":"scottish"}'],
    description: 'A JSON object of strings; or one field `labels[accent]` for each.',
  },
  codes: [],
  parse: (given, refuse) => {
    const value = fromJson(given, refuse)
    if (value === undefined || value === null) return {}
    if (typeof value !== 'object' || Array.isArray(value)) throw refuse.wrongType('an object of strings', value)
    const pairs = Object.entries(value).map(([key, label]) => labelOf(key, label, refuse))
    if (pairs.length > maxLabels) throw refuse.invalid(given, `an object of at most ${maxLabels} labels`, 'too_long')
    return Object.fromEntries(pairs)
  },
}

const labelOf = (key: string, label: unknown, refuse: Refusals): [string, string] => [
  checkedText(key, { min: 1, max: maxLabelKeyChars, refuses: 'control characters' }, refuse),
  checkedText(label, { max: maxLabelValueChars, refuses: 'control characters' }, refuse),
]

const aliases: Field<string[]> = {
  schema: {
    type: ['array', 'null'],
    maxItems: maxAliases,
    items: { type: 'string', minLength: 1, maxLength: maxNameChars },
    description: 'Replaces all aliases. Within an account one name, in any case, stands for one voice.',
  } as OpenAPIV3_1.SchemaObject,
  formSchema: {
    type: 'string',
    examples: ['["nova"]'],
    description: 'A JSON array of strings; or one field `aliases[]` for each.',
  },
  codes: [],
  parse: (given, refuse) => {
    const value = fromJson(given, refuse)
    if (value === undefined || value === null) return []
    if (!Array.isArray(value)) throw refuse.wrongType('a list of strings', value)
    if (value.length > maxAliases) throw refuse.invalid(given, `a list of at most ${maxAliases} aliases`, 'too_long')
    return value.map((alias: unknown) => checkedText(alias, nameRules, refuse))
  },
}

const publicWords = { about: 'For all accounts to use; only administrators may set it.' }
const publicFlag = flag(publicWords)

/** Of a change, where `null` leaves it as it is. */
const publicOrSame: Field<boolean | null> = {
  schema: { type: 'boolean', description: publicWords.about },
  codes: publicFlag.codes,
  parse: (given, refuse) => (isAbsent(given) ? null : publicFlag.parse(given, refuse)),
}

export const voiceChangeFields = {
  name,
  description: text({
    max: maxDescriptionChars,
    refuses: 'control characters in lines',
    orNull: true,
    examples: ['Reads slowly and warmly.'],
  }),
  language: languageTag({ orNull: true, about: 'BCP-47.', examples: ['en-GB'] }),
  labels,
  aliases,
  public: publicOrSame,
}

export interface ClipLimits {
  maxClipBytes: number
  minClipSeconds: number
  maxClipSeconds: number
}

const clipOf = ({ maxClipBytes, minClipSeconds, maxClipSeconds }: ClipLimits) =>
  `The recording: ${minClipSeconds} to ${maxClipSeconds} seconds and at most ${sizeInWords(maxClipBytes)} ` +
  '(`MYNA_MIN_CLIP_SECONDS`, `MYNA_MAX_CLIP_SECONDS`, `MYNA_MAX_CLIP_BYTES`), as wav, mp3, flac, ogg, opus, m4a, ' +
  'mp4, aac or webm. The format is detected from the content.'

const consentRules = {
  max: maxConsentChars,
  maxInSchema: false,
  trim: true,
  refuses: 'control characters in lines',
} as const
const declared = text({
  ...consentRules,
  examples: ['I am the speaker.'],
  about:
    `Why the voice may be cloned, at most ${maxConsentChars} characters; or the id of one of your voice consents ` +
    '(`cons_...`). Kept word for word. Some servers require it.',
})

/** A "no" is not consent. */
const consent: Field<string | null> = {
  ...declared,
  parse: (given, refuse) => {
    const said = declared.parse(given, refuse)
    return said !== null && ['false', '0', 'no'].includes(said.toLowerCase()) ? null : said
  },
}

/** @param limits the configured ones, which the words state */
export const cloneFields = (limits: ClipLimits) => ({
  file: documented({ type: 'string', format: 'binary', description: clipOf(limits) }, true),
  ...voiceChangeFields,
  name: { ...name, schema: { ...name.schema, description: 'If absent, the name of the file.' } },
  consent,
  public: publicFlag,
})

/** `null` clears what may be empty. @throws MynaError `validation_error`, also if the body names no known field */
export function parseVoiceChange(body: Body): VoiceChange {
  const { name: newName, public: isPublic, ...change } = parsePresent(voiceChangeFields, body, bodyDialect)
  const isKnown = Object.keys(voiceChangeFields).some((field) => body[field] !== undefined)
  if (!isKnown) {
    const msg = `at least one of ${Object.keys(voiceChangeFields).join(', ')} is needed`
    throw invalidInput(['body', 'name'], msg, 'missing')
  }
  return {
    ...change,
    ...(newName === null || newName === undefined ? {} : { name: newName }),
    ...(isPublic === null || isPublic === undefined ? {} : { isPublic }),
  }
}

/** Parses the JSON in a form's field; any other value is returned as it is. */
function fromJson(given: unknown, refuse: Refusals): unknown {
  if (typeof given !== 'string') return given
  if (given.trim() === '') return null
  try {
    return JSON.parse(given)
  } catch {
    throw refuse.invalid(given, 'JSON', 'json_invalid')
  }
}
