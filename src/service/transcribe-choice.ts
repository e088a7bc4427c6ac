/**
 * Turns the names in a request into the model that listens and the language that it listens for. Nothing is
 * substituted silently: what no model here can do is refused with the field that asked for it.
 */
import { type Card, translates } from '../domain/card.ts'
import { MynaError } from '../domain/error.ts'
import { findLanguage, languageCode } from '../domain/language.ts'
import { aliasTask } from '../domain/model-aliases.ts'
import type { Catalog } from './ports.ts'
import type { TranscriptionOrder } from './ports/transcription.ts'
import { modelNamed, notInstalled, unknownModel } from './model-names.ts'

export interface Wanted {
  /** As the client named it; null: absent, or `auto`. */
  model: string | null
  /** Likewise: a code, a tag or a name; null: to be found by listening. */
  language: string | null
  task: TranscriptionOrder['task']
  /** Whether the answer should have word times: then models that report them come first. */
  wordTimes: boolean
}

export interface Listener {
  card: Card
  /** As the model calls it. */
  language: string | null
}

const task = 'automatic-speech-recognition'
/** The smallest that does well in every language, and translates. */
const remedy = 'whisper-base'
/** Longer lists are not read. */
const shownLanguages = 30

/** @throws MynaError `transcription_unavailable` when no model at all is installed */
export function requireListener(catalog: Catalog): void {
  if (catalog.best(task) !== null) return
  const message = 'No transcription model is installed. Install one with: myna models pull whisper-base'
  throw new MynaError('transcription_unavailable', message)
}

/**
 * A model that is named in the request is used, or the error says why it cannot be. Otherwise the preferred one among
 * those that know the language and, if asked for, can translate. If word times are asked for, models that have them
 * come first; without one they are estimated, which is not an error.
 * @throws MynaError `transcription_unavailable`, `model_not_found`, `unsupported_value`
 */
export function chooseListener(wanted: Wanted, catalog: Catalog): Listener {
  requireListener(catalog)
  const code = wanted.language === null ? null : codeOf(wanted.language)
  const known = candidates(wanted.model, catalog)
  const cards = wanted.wordTimes ? known.toSorted(byWordTimes) : known
  for (const card of cards) {
    const language = code === null ? null : findLanguage(code, card.languages)
    if ((code === null || language !== null) && canDo(wanted.task, card)) return { card, language }
  }
  throw refusal(wanted, code, known, catalog)
}

/** The preferred first. */
function candidates(model: string | null, catalog: Catalog): Card[] {
  if (model === null || model === 'auto' || aliasTask(model) === task) return catalog.ranked(task)
  const card = modelNamed(model, catalog)
  if (card?.task === 'text-to-speech' || aliasTask(model) === 'text-to-speech') {
    throw unsupported(`The model '${model}' speaks; it does not transcribe.`, 'model')
  }
  if (card === null) throw unknownModel(model, catalog)
  if (!catalog.isInstalled(card.id)) throw notInstalled(card.id, catalog)
  return [card]
}

/** Keeps the order of those that are alike. */
const byWordTimes = (one: Card, other: Card): number =>
  Number(other.wordTimes ?? false) - Number(one.wordTimes ?? false)

const canDo = (wanted: Wanted['task'], card: Card): boolean => wanted === 'transcribe' || translates(card)

function refusal(
  { task: wanted, language }: Wanted,
  code: string | null,
  cards: readonly Card[],
  catalog: Catalog,
): MynaError {
  const able = cards.filter((card) => canDo(wanted, card))
  const [first] = cards
  const who = cards.length === 1 && first !== undefined ? `The model '${first.id}'` : 'No installed model'
  if (able.length === 0) {
    const what = cards.length === 1 ? 'cannot translate' : 'can translate'
    return unsupported(`${who} ${what}. One that can: myna models pull ${remedy}`, 'model')
  }
  const known = [...new Set(able.flatMap(({ languages }) => languages))]
  const list = known.length <= shownLanguages ? ` Supported values are: ${known.join(', ')}.` : ''
  const what = cards.length === 1 ? 'does not know this language' : 'knows this language'
  const spoken = catalog.cards().find(({ id }) => id === remedy)?.languages ?? []
  const isRemedy = !catalog.isInstalled(remedy) && code !== null && findLanguage(code, spoken) !== null
  const advice = isRemedy ? ` One that does: myna models pull ${remedy}` : ''
  return unsupported(`Invalid value: '${language}'. ${who} ${what} (${code}).${list}${advice}`, 'language')
}

function codeOf(language: string): string {
  const code = languageCode(language)
  if (code !== null) return code
  const shown = language.slice(0, 40).toWellFormed()
  throw unsupported(`Invalid value: '${shown}'. Expected a language such as 'en', 'en-US' or 'english'.`, 'language')
}

const unsupported = (message: string, param: string): MynaError =>
  new MynaError('unsupported_value', message, { param })
