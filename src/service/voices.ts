/**
 * From the names in a request to one model and one voice (api.md 2.1). Nothing is ever substituted silently: a name
 * that means nothing is an error that names it, and a voice of somebody else is such a name.
 */
import type { Caller } from '../domain/account.ts'
import { type Card, type CardVoice, modelAliases } from '../domain/card.ts'
import { MynaError } from '../domain/error.ts'
import { isLanguageAmong } from '../domain/language.ts'
import { type Mixture, parseMixture } from '../domain/mixture.ts'
import { canSee, type Voice } from '../domain/voice.ts'
import { mixVoices, refusal } from './mixing.ts'
import type { Catalog, VoiceFiles, Voices } from './ports.ts'

export interface VoiceNames {
  /** NAME=VOICE_ID, before the aliases of the cards. */
  aliases: ReadonlyMap<string, string>
  defaultVoice: string | null
}

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
}

export type Found = { card: Card; preset: CardVoice } | { clone: Voice }

/** Looks for a name in one of the ways in which a name can mean a voice. */
type Find = (name: string, cards: readonly Card[], search: Search) => Promise<Found | null>

interface Search {
  caller: Caller
  names: VoiceNames
  voices: Voices
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
  { catalog, voices, files }: ChoiceParts,
): Promise<Choice> {
  const { voice, language } = wish
  const native = nativeModel(wish.model, catalog)
  const best = native ?? bestFor(language, catalog)
  if (best === null) throw new MynaError('model_not_found', 'No speech model is installed.', { param: 'model' })
  const own = ownVoice(best, language)
  const wanted = voice ?? (language === null ? names.defaultVoice : null) ?? own
  if (wanted === null) {
    throw new MynaError('missing_required_parameter', "Missing required parameter: 'voice'.", { param: 'voice' })
  }
  // The voice chooses the model unless one is named: a voice of another installed model speaks with its own.
  const others = speechCards(catalog).filter((card) => card.id !== best.id)
  const within = native === null && voice !== null ? [best, ...others] : [best]
  const search = { caller, names, voices }
  const found = await firstHit(wanted, within, search)
  if (found === null) {
    const mixture = mixtureOf(names.aliases.get(wanted.toLowerCase()) ?? wanted)
    if (mixture !== null) {
      const find = (name: string, cards: readonly Card[]) => firstHit(name, cards, search)
      const missing = async (name: string) =>
        within.length === 1 && (await find(name, others)) !== null ? mismatch(best, name) : missingVoice(name, catalog)
      const mixed = await mixVoices(mixture, within, find, missing)
      return { ...mixed, voiceState: null }
    }
    const elsewhere = within.length === 1 ? await firstHit(wanted, others, search) : null
    // A configured default is for the models that have it; any other speaks with its own.
    if (elsewhere !== null && voice === null && own !== null) {
      return chooseVoice(caller, { ...wish, voice: own }, names, { catalog, voices, files })
    }
    throw elsewhere === null
      ? missingVoice(names.aliases.get(wanted.toLowerCase()) ?? wanted, catalog)
      : mismatch(best, wanted)
  }
  if ('preset' in found) return { card: found.card, voiceId: found.preset.id, voiceState: null }
  return chosenClone(found.clone, native, wanted, { catalog, voices, files })
}

/** @throws MynaError `unsupported_value` of a mixture that cannot be @returns null when it is no mixture */
function mixtureOf(text: string): Mixture | null {
  const mixed = parseMixture(text)
  if (mixed !== null && 'fault' in mixed) throw refusal(mixed.fault)
  return mixed?.parts ?? null
}

/** The preferred one that speaks the language; where none does, the preferred one, which then says so. */
function bestFor(language: string | null, catalog: Catalog): Card | null {
  const able = language === null ? [] : speechCards(catalog).filter((card) => isLanguageAmong(language, card.languages))
  return able[0] ?? catalog.best('text-to-speech')
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
): Promise<Choice> {
  const made = catalog.cards().find(({ id }) => id === clone.model)
  const family = made?.family ?? clone.model
  if (native !== null && native.family !== family) throw mismatch(native, wanted)
  if (clone.status === 'processing') throw notReady('voice')
  if (clone.status === 'failed') {
    throw unusable(`The voice '${wanted}' could not be made and cannot speak: ${clone.error?.message ?? ''}`)
  }
  const siblings = speechCards(catalog).filter((card) => card.family === family)
  const card = native ?? siblings.find(({ id }) => id === clone.model) ?? siblings[0]
  if (card === undefined) throw notInstalled(clone.model)
  const voiceState = await files.read(clone.id, 'state')
  if (voiceState === null) {
    // Deleted since it was found; or somebody has taken its files away.
    const gone = (await voices.find(clone.id)) === null
    throw gone ? unknownVoice(wanted) : unusable(`The files of the voice '${wanted}' are not there.`)
  }
  return { card, voiceId: clone.id, voiceState }
}

/** The model that an id names by itself; null for `auto`, no id at all and the aliases. */
function nativeModel(model: string | null, catalog: Catalog): Card | null {
  if (model === null || model === 'auto' || modelAliases['text-to-speech'].accepted.test(model)) return null
  const card = catalog.cards().find((candidate) => candidate.id === model)
  const transcribes = modelAliases['automatic-speech-recognition'].accepted.test(model)
  if (transcribes || card?.task === 'automatic-speech-recognition') {
    throw new MynaError('unsupported_value', `The model '${model}' transcribes; it does not speak.`, { param: 'model' })
  }
  if (card === undefined) throw unknownModel(model)
  if (catalog.isInstalled(card.id)) return card
  throw notInstalled(model)
}

/** The preferred first. */
const speechCards = (catalog: Catalog): Card[] => catalog.ranked('text-to-speech')

async function firstHit(name: string, cards: readonly Card[], search: Search): Promise<Found | null> {
  for (const find of [byId, byOwnAlias, byServerAlias, byName]) {
    const found = await find(name, cards, search)
    if (found !== null) return found
  }
  return null
}

const byId: Find = async (name, cards, { caller, voices }) => {
  const preset = presetById(name, cards)
  if (preset !== null) return preset
  const clone = await voices.find(name)
  return clone !== null && canSee(clone, caller) ? { clone } : null
}

const byOwnAlias: Find = async (name, _cards, { caller, voices }) => {
  const clone = await voices.findByAlias(caller.account.id, name)
  return clone === null ? null : { clone }
}

const byServerAlias: Find = async (name, cards, search) => {
  const alias = name.toLowerCase()
  const target = search.names.aliases.get(alias)
  if (target !== undefined) return byId(target, cards, search)
  for (const card of cards) {
    const preset = card.voiceAliases[alias]
    if (preset !== undefined) return presetById(preset, [card])
  }
  return null
}

/** Own voices hide public ones of their name. A name that several have is nobody's. */
const byName: Find = async (name, cards, { caller, voices }) => {
  const own = await voices.findByName(caller.account.id, name)
  if (own.length > 0) return theOnly(own)
  for (const card of cards) {
    const same = card.voices.filter((voice) => voice.name.toLowerCase() === name.toLowerCase())
    if (same.length === 1 && same[0] !== undefined) return { card, preset: same[0] }
  }
  return theOnly(await voices.findByName(null, name))
}

/** A failed try beside the voice that came of the next one does not count. */
function theOnly(same: readonly Voice[]): Found | null {
  const alive = same.filter(({ status }) => status !== 'failed')
  const [clone, second] = alive.length > 0 ? alive : same
  return clone === undefined || second !== undefined ? null : { clone }
}

function presetById(id: string, cards: readonly Card[]): Found | null {
  for (const card of cards) {
    const preset = card.voices.find((voice) => voice.id === id)
    if (preset !== undefined) return { card, preset }
  }
  return null
}

const mismatch = (card: Card, voice: string): MynaError =>
  new MynaError('voice_model_mismatch', `The model '${card.id}' cannot speak with the voice '${voice}'.`, {
    param: 'model',
  })

/** The same words for a voice of somebody else and for none, on every route. */
export const unknownVoice = (voice: string, param = 'voice'): MynaError =>
  new MynaError('voice_not_found', `The voice '${voice}' does not exist or you do not have access to it.`, { param })

/** The same, unless it is a voice of a model that could be installed: that says how. */
export function missingVoice(voice: string, catalog: Catalog, param = 'voice'): MynaError {
  const isMeant = ({ id, name }: CardVoice) => id === voice || name.toLowerCase() === voice.toLowerCase()
  const [card] = catalog
    .cards()
    .filter(({ id, voices }) => voices.some(isMeant) && !catalog.isInstalled(id))
    .toSorted((a, b) => b.preference - a.preference)
  if (card === undefined) return unknownVoice(voice, param)
  const message = `The voice '${voice}' belongs to the model '${card.id}', which is not installed.`
  return new MynaError('voice_not_found', `${message} Get it with: myna models pull ${card.id}`, { param })
}

/** SDKs wait and try again by themselves. */
export const notReady = (param: string): MynaError =>
  new MynaError('voice_not_ready', 'This voice is still being made. Try again in a moment.', {
    param,
    retryAfterMs: 2000,
  })

const unusable = (message: string): MynaError => new MynaError('voice_unusable', message, { param: 'voice' })

export const notInstalled = (model: string): MynaError =>
  new MynaError('model_not_found', `The model '${model}' is not installed. Get it with: myna models pull ${model}`, {
    param: 'model',
  })

export const unknownModel = (model: string): MynaError =>
  new MynaError('model_not_found', `The model '${model}' does not exist or you do not have access to it.`, {
    param: 'model',
  })

/** For an id that no installed model answers to. */
export const missingModel = (model: string, catalog: Catalog): MynaError =>
  catalog.cards().some(({ id }) => id === model) ? notInstalled(model) : unknownModel(model)
