/** Decides what the page of voices shows of a voice, and filters by it. */
import type { Voice } from '../speak/options.tsx'

export interface Filters {
  /** '' is any. */
  language: string
  gender: string
  model: string
}

export const anyVoice: Filters = { language: '', gender: '', model: '' }

/** Of a tag such as `en-GB`. */
export const languageOf = ({ language, labels }: Voice): string =>
  (language ?? labels.language ?? '').split('-')[0]?.toLowerCase() ?? ''

export const genderOf = ({ labels }: Voice): string => labels.gender?.toLowerCase() ?? ''

const names = new Intl.DisplayNames(undefined, { type: 'language', fallback: 'code' })

/** In the language of the browser. */
export function languageName(code: string): string {
  try {
    return names.of(code) ?? code
  } catch {
    return code
  }
}

export const fits = (voice: Voice, { language, gender, model }: Filters): boolean =>
  (language === '' || languageOf(voice) === language) &&
  (gender === '' || genderOf(voice) === gender) &&
  (model === '' || voice.model === model)

/** Each value that occurs, once. */
export const valuesOf = (voices: readonly Voice[], of: (voice: Voice) => string): string[] =>
  [...new Set(voices.map(of))].filter((value) => value !== '').toSorted()
