/** The query of ElevenLabs' list of voices, and what it means here. Parameters that it does not name are ignored. */
import type { VoiceAsk } from '../../service/library.ts'
import { type Field, parseQuery, withDefault } from '../fields/field.ts'
import { choice, languageTag, text, wholeNumber } from '../fields/kinds.ts'

const maxPage = 100
const maxChars = 256

const owners = {
  personal: 'me',
  workspace: 'me',
  'non-default': 'me',
  'non-community': 'me',
  saved: 'all',
  default: 'public',
  community: 'public',
} as const
type VoiceType = keyof typeof owners

const idList: Field<readonly string[]> = {
  schema: {
    type: 'array',
    items: { type: 'string' },
    maxItems: maxPage,
    description: 'Only the voices with these ids.',
  },
  codes: [],
  parse: (given, refuse) => {
    const ids = (Array.isArray(given) ? given : []).map(String)
    if (ids.length > maxPage) throw refuse.invalid(given, `at most ${maxPage} ids`, 'too_long')
    return ids
  },
}

export const voiceSearchFields = {
  page_size: withDefault(wholeNumber(1, maxPage, { about: 'Voices per page.' }), 10),
  next_page_token: text({ max: maxChars, about: 'From the previous page.' }),
  search: text({ max: maxChars, about: 'Anywhere in name, description, labels or id, in any case.' }),
  sort_direction: withDefault(choice(['asc', 'desc'], { about: 'By age; `sort` is ignored.' }), 'desc'),
  voice_type: choice(Object.keys(owners) as VoiceType[], {
    about: '`personal` and its like: your own. `default` and `community`: public ones.',
  }),
  category: choice(['premade', 'cloned', 'generated', 'professional'], {
    about: 'The voices of the models, or clones. There are no others here.',
  }),
  language: languageTag({ about: 'ISO 639-1, or a BCP-47 tag.' }),
  voice_ids: idList,
}

export interface VoiceSearch {
  /** null: no voice here can match. */
  ask: VoiceAsk | null
  /** Empty: any. */
  ids: readonly string[]
}

const ready = { status: 'ready', before: null } as const

/** Its older list has no pages. */
export const wholeLibrary: VoiceAsk = {
  ...ready,
  owner: 'all',
  category: null,
  language: null,
  search: null,
  order: 'desc',
  after: null,
  limit: 1000,
}

/** @throws MynaError `validation_error` */
export function parseSearch(query: URLSearchParams): VoiceSearch {
  const given = parseQuery(voiceSearchFields, query)
  const { category, voice_ids: ids } = given
  if (category === 'generated' || category === 'professional') return { ask: null, ids }
  const ask: VoiceAsk = {
    ...ready,
    owner: given.voice_type === null ? 'all' : owners[given.voice_type],
    category,
    language: given.language,
    search: given.search,
    order: given.sort_direction,
    after: given.next_page_token,
    limit: given.page_size,
  }
  return { ask, ids }
}
