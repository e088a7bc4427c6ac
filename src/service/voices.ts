/**
 * Resolves the names in a request to one model and one voice (docs/api.md 2.1). Nothing is substituted silently: an
 * unknown name is an error that repeats it, and another account's private voice counts as unknown.
 */
import type { Caller } from '../domain/account.ts'
import type { Card } from '../domain/card.ts'
import { MynaError } from '../domain/error.ts'
import { formerModels, formerNameWarning } from '../domain/former-names.ts'
import { isLanguageAmong } from '../domain/language.ts'
import { aliasTask } from '../domain/model-aliases.ts'
import { type Mixture, parseMixture } from '../domain/mixture.ts'
import type { Voice } from '../domain/voice.ts'
import { mixVoices, refusal } from './voice-names.ts'
import { modelNamed, notInstalled, unknownModel } from './model-names.ts'
import type { Catalog, VoiceFiles, Voices } from './ports.ts'
import { type Found, findVoice, idsCalled, type VoiceNames } from './voice-names.ts'
import { familyOf, isModelGone, modelGone, speakersOf } from './remake.ts'
import { ambiguousVoice, mismatch, missingVoice, notReady, unknownVoice, unusable } from './voice-refusals.ts'

export interface ChoiceParts {
  catalog: Catalog
  voices: Voices
  files: VoiceFiles
}

export interface Choice {
  card: Card
  voiceId: string
  /** null: a preset. */
  voiceState: Uint8Array | null
  /** For the client, in words that fit in a header; null: nothing. */
  warning: string | null
}

export interface VoiceWish {
  /** As the client named them; null: absent. */
  model: string | null
  voice: string | null
  /** BCP-47; null: any. */
  language: string | null
}

/**
 * Where neither model nor voice is named, the language chooses both, if an installed model speaks it.
 * @throws MynaError `model_not_found`, `unsupported_value`, `voice_not_found`, `voice_model_mismatch`,
 * `voice_not_ready`, `voice_unusable`
 */
export async function chooseVoice(
  caller: Caller,
  wish: VoiceWish,
  names: VoiceNames,
  parts: ChoiceParts,
): Promise<Choice> {
  const { catalog, voices } = parts
  const { voice, language } = wish
  const native = nativeModel(wish.model, catalog)
  const usable = speechCards(catalog)
  const best = native ?? bestFor(language, usable)
  if (best === null) throw new MynaError('model_not_found', 'No speech model is installed.', { param: 'model' })
  const own = ownVoice(best, language)
  const wanted = voice ?? (language === null ? names.defaultVoice : null) ?? own
  if (wanted === null) {
    throw new MynaError('missing_required_parameter', "Missing required parameter: 'voice'.", { param: 'voice' })
  }
  // The voice chooses the model unless one is named: a voice of another installed model speaks with its own.
  const others = usable.filter((card) => card.id !== best.id)
  const within = native === null && voice !== null ? [best, ...others] : [best]
  const find = (name: string, cards: readonly Card[]) => findVoice(name, cards, { caller, names, voices })
  const found = await find(wanted, within)
  const warning = warningOf(wish.model, found)
  if (found !== null && 'preset' in found) {
    return { card: found.card, voiceId: found.preset.id, voiceState: null, warning }
  }
  if (found !== null) return { ...(await chosenClone(found.clone, native, wanted, parts)), warning }
  const isOfAnother = async (name: string) => within.length === 1 && (await find(name, others)) !== null
  const target = (name: string) => names.aliases.get(name.toLowerCase()) ?? name
  const missing = async (name: string) => {
    if (await isOfAnother(name)) return mismatch(best, name)
    const ids = await idsCalled(name, within, { caller, names, voices })
    if (ids.length > 1) return ambiguousVoice(name, ids)
    return missingVoice(target(name), catalog, await namesFor(caller, names, parts))
  }
  const mixture = mixtureOf(target(wanted))
  if (mixture !== null) return { ...(await mixVoices(mixture, within, find, missing)), voiceState: null, warning }
  // A configured default is for the models that have it; any other speaks with its own.
  const isForeignDefault = voice === null && own !== null && (await isOfAnother(wanted))
  if (isForeignDefault) return chooseVoice(caller, { ...wish, voice: own }, names, parts)
  throw await missing(wanted)
}

function warningOf(model: string | null, found: Found | null): string | null {
  const successor = formerModels.get(model ?? '')
  const ofModel = successor === undefined ? [] : [formerNameWarning('model', model ?? '', successor)]
  const isFormer = found !== null && 'preset' in found && found.former !== undefined
  const ofVoice = isFormer ? [formerNameWarning('voice', found.former ?? '', found.preset.id)] : []
  return [...ofModel, ...ofVoice].join(' ') || null
}

const ownVoicesMax = 1000

/** Names that the caller could have meant: public ones before own ones. */
async function namesFor({ account }: Caller, names: VoiceNames, { catalog, voices }: ChoiceParts): Promise<string[]> {
  const cards = speechCards(catalog)
  const ofCards = cards.flatMap((card) => [
    ...Object.keys(card.voiceAliases),
    ...card.voices.flatMap(({ id, name }) => [id, name]),
  ])
  const page = { status: null, category: null, language: null, search: null, order: 'desc', after: null } as const
  const own = await voices.list({ ...page, accountId: account.id, owner: 'me', limit: ownVoicesMax })
  return [...ofCards, ...names.aliases.keys(), ...own.flatMap(({ name, aliases }) => [name, ...aliases])]
}

/** @throws MynaError `unsupported_value` for a mixture that is not possible @returns null when it is not a mixture */
function mixtureOf(text: string): Mixture | null {
  const mixed = parseMixture(text)
  if (mixed !== null && 'fault' in mixed) throw refusal(mixed.fault)
  return mixed?.parts ?? null
}

/** The preferred one that speaks the language; where none does, the preferred one, which then says so. */
function bestFor(language: string | null, usable: readonly Card[]): Card | null {
  const able = language === null ? usable : usable.filter((card) => isLanguageAmong(language, card.languages))
  return able[0] ?? usable[0] ?? null
}

/** Its default voice, or its first one of the language where the default voice is of another. */
function ownVoice(card: Card, language: string | null): string | null {
  if (language === null || card.defaultVoice === null) return card.defaultVoice
  const fitting = card.voices.filter((voice) => isLanguageAmong(language, [voice.language])).map(({ id }) => id)
  return fitting.includes(card.defaultVoice) ? card.defaultVoice : (fitting[0] ?? card.defaultVoice)
}

async function chosenClone(
  clone: Voice,
  native: Card | null,
  wanted: string,
  { catalog, voices, files }: ChoiceParts,
): Promise<Omit<Choice, 'warning'>> {
  if (clone.status === 'ready' && isModelGone(clone, catalog)) throw modelGone(clone, wanted)
  if (native !== null && native.family !== familyOf(clone.model, catalog)) throw mismatch(native, wanted)
  if (clone.status === 'processing') throw notReady('voice')
  if (clone.status === 'failed') {
    throw unusable(`The voice '${wanted}' could not be made and cannot speak: ${clone.error?.message ?? ''}`)
  }
  const speakers = speakersOf(clone.model, catalog)
  const named = (model: string | undefined) => speakers.find(({ id }) => id === model)
  const card = named(native?.id) ?? named(clone.model) ?? speakers[0]
  if (card === undefined) throw notInstalled(clone.model, catalog)
  const voiceState = await files.read(clone.id, 'state')
  if (voiceState === null) {
    // Deleted since it was found, or its files were removed from outside.
    const gone = (await voices.find(clone.id)) === null
    throw gone ? unknownVoice(wanted) : unusable(`The files of the voice '${wanted}' are missing.`)
  }
  return { card, voiceId: clone.id, voiceState }
}

/** The model that an id names by itself; null for `auto`, no id at all and the aliases. */
function nativeModel(model: string | null, catalog: Catalog): Card | null {
  if (model === null || model === 'auto' || aliasTask(model) === 'text-to-speech') return null
  const card = modelNamed(model, catalog)
  const transcribes = aliasTask(model) === 'automatic-speech-recognition'
  if (transcribes || card?.task === 'automatic-speech-recognition') {
    throw new MynaError('unsupported_value', `The model '${model}' transcribes; it does not speak.`, { param: 'model' })
  }
  if (card === null) throw unknownModel(model, catalog)
  if (catalog.isInstalled(card.id)) return card
  throw notInstalled(card.id, catalog)
}

/** The preferred first. */
const speechCards = (catalog: Catalog): Card[] => catalog.ranked('text-to-speech')
