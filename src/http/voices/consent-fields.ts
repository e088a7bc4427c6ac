/** The fields of voice consents: of new ones (a form), of changes (JSON), and of a list. */
import { consentIdPattern } from '../../domain/consent.ts'
import { documented, type Field, required, withDefault } from '../fields/field.ts'
import { languageTag, sizeInWords, text, wholeNumber } from '../fields/kinds.ts'
import { type ClipLimits, nameRules } from './fields.ts'

const defaultLimit = 20
const maxLimit = 100

const name = required(text({ ...nameRules, about: 'Your label for it.', examples: ['Ada, May 2026'] }))

/** @param limits the configured ones, which the words state */
export const consentFields = ({ maxClipBytes, minClipSeconds, maxClipSeconds }: ClipLimits) => ({
  name,
  language: required(languageTag({ about: 'BCP-47, of what is said.', examples: ['en-US'] })),
  recording: documented(
    {
      type: 'string',
      format: 'binary',
      description:
        `The person’s own words: ${minClipSeconds} to ${maxClipSeconds} seconds and at most ` +
        `${sizeInWords(maxClipBytes)}, in the formats of clips.`,
    },
    true,
  ),
})

export const consentChangeFields = { name }

const cursor: Field<string | null> = {
  ...text({ about: 'Only consents older than the one with this id.' }),
  parse: (given, refuse) => {
    if (given === undefined || given === null || given === '') return null
    if (typeof given === 'string' && consentIdPattern.test(given)) return given
    throw refuse.invalid(given, 'the id of a consent', 'string_pattern_mismatch')
  },
}

export const consentQueryFields = {
  after: cursor,
  limit: withDefault(wholeNumber(1, maxLimit, { about: 'Consents per page.' }), defaultLimit),
}
