/**
 * The parameters of a list of voices, in the words of three ecosystems (docs/api.md 4.3), and of previews (4.7).
 * Unknown ones are ignored.
 */
import { voiceIdPattern, voiceStatuses } from '../../domain/voice.ts'
import type { VoiceAsk } from '../../service/library.ts'
import { previewFormats } from '../../service/previews.ts'
import { documented, type Field, parseQuery, withDefault } from '../fields/field.ts'
import { choice, languageTag, text, wholeNumber } from '../fields/kinds.ts'

const defaultLimit = 100
const maxLimit = 1000
const maxSearchChars = 256

/** The id of a voice; `synonym` means the same. */
function cursor(about: string, synonym: string): Field<string | null> {
  const id = text({ about })
  return {
    ...id,
    synonyms: { [synonym]: null },
    parse: (given, refuse) => {
      const found = id.parse(given, refuse)
      if (found === null || voiceIdPattern.test(found)) return found
      throw refuse.invalid(given, `an id that matches '${voiceIdPattern.source}'`, 'string_pattern_mismatch')
    },
  }
}

export const voiceQueryFields = {
  limit: {
    ...withDefault(wholeNumber(1, maxLimit, { about: 'Voices per page; or `page_size`.' }), defaultLimit),
    synonyms: { page_size: null },
  },
  after: cursor('Only voices after the one with this id; or `starting_after`.', 'starting_after'),
  before: cursor('Only voices before it; or `ending_before`.', 'ending_before'),
  order: withDefault(choice(['asc', 'desc'], { about: 'By age.' }), 'desc'),
  owner: {
    ...withDefault(
      choice(['me', 'public', 'all'], {
        about: 'Whose voices; or `is_owner=true`, `type`, `voice_type` in the words of other services.',
      }),
      'all',
    ),
    synonyms: {
      is_owner: { true: 'me', '1': 'me', false: 'all', '0': 'all' },
      type: { custom: 'me', preset: 'public', all: 'all' },
      voice_type: { personal: 'me', default: 'public', all: 'all' },
    },
  },
  status: choice(voiceStatuses, { about: 'Own voices may have any status; public ones are ready.' }),
  category: choice(['cloned', 'premade'], { about: 'Clones, or the voices of the models.' }),
  language: languageTag({ about: 'A BCP-47 tag; `en` also finds `en-GB`.' }),
  search: {
    ...text({
      max: maxSearchChars,
      maxInSchema: false,
      about: 'Anywhere in name, description, labels or id, in any case; or `q`.',
    }),
    synonyms: { q: null },
  },
  compat: documented({
    type: 'string',
    enum: ['0', '1'],
    description: '`0` leaves out `voices`, which repeats `data`.',
  }),
} as const

export const previewFields = {
  response_format: withDefault(choice(previewFormats, { about: 'In any case.' }), 'wav'),
}

export const pictureFields = {
  theme: withDefault(choice(['light', 'dark'], { about: 'Of the page that shows it.' }), 'light'),
}

/** @throws MynaError `validation_error` */
export function parseVoiceAsk(query: URLSearchParams): VoiceAsk {
  const { compat: _, ...ask } = parseQuery(voiceQueryFields, query)
  return ask
}
