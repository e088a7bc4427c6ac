/**
 * From the names in a request to one model and one voice (api.md 2.1). Nothing is ever substituted silently: a name
 * that means nothing is an error that names it.
 */
import { type Card, type CardVoice, modelAliases } from '../domain/card.ts'
import { MynaError } from '../domain/error.ts'
import type { Catalog } from './ports.ts'

export interface VoiceNames {
  /** NAME=VOICE_ID, before the aliases of the cards. */
  aliases: ReadonlyMap<string, string>
  defaultVoice: string | null
}

export interface Choice {
  card: Card
  voice: CardVoice
}

/** @throws MynaError `model_not_found`, `unsupported_value`, `voice_not_found`, `voice_model_mismatch` */
export function chooseVoice(model: string | null, voice: string | null, catalog: Catalog, names: VoiceNames): Choice {
  const native = nativeModel(model, catalog)
  if (native !== null) return { card: native, voice: voiceOf(native, voice, catalog, names) }
  const best = catalog.best('text-to-speech')
  if (best === null) throw new MynaError('model_not_found', 'No speech model is installed.', { param: 'model' })
  if (voice === null) return { card: best, voice: voiceOf(best, null, catalog, names) }
  // The voice chooses the model: a voice of another installed model speaks with its own.
  const order = [best, ...speechCards(catalog).filter((card) => card.id !== best.id)]
  for (const find of [byId, byAlias, byName]) {
    for (const card of order) {
      const found = find(card, voice, names)
      if (found !== undefined) return { card, voice: found }
    }
  }
  throw unknownVoice(voice)
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
  const message = `The model '${model}' is not installed. Get it with: myna models pull ${model}`
  throw new MynaError('model_not_found', message, { param: 'model' })
}

function voiceOf(card: Card, voice: string | null, catalog: Catalog, names: VoiceNames): CardVoice {
  const wanted = voice ?? names.defaultVoice ?? card.defaultVoice
  if (wanted === null)
    throw new MynaError('missing_required_parameter', "Missing required parameter: 'voice'.", { param: 'voice' })
  const found = byId(card, wanted, names) ?? byAlias(card, wanted, names) ?? byName(card, wanted, names)
  if (found !== undefined) return found
  const elsewhere = speechCards(catalog).some((other) => byId(other, wanted, names) ?? byName(other, wanted, names))
  if (!elsewhere) throw unknownVoice(wanted)
  throw new MynaError('voice_model_mismatch', `The model '${card.id}' cannot speak with the voice '${wanted}'.`, {
    param: 'model',
  })
}

const speechCards = (catalog: Catalog): Card[] =>
  catalog.cards().filter((card) => card.task === 'text-to-speech' && catalog.isInstalled(card.id))

const byId = (card: Card, name: string, _names: VoiceNames): CardVoice | undefined =>
  card.voices.find((voice) => voice.id === name)

function byAlias(card: Card, name: string, names: VoiceNames): CardVoice | undefined {
  const target = names.aliases.get(name.toLowerCase()) ?? card.voiceAliases[name.toLowerCase()]
  return target === undefined ? undefined : byId(card, target, names)
}

function byName(card: Card, name: string, _names: VoiceNames): CardVoice | undefined {
  const same = card.voices.filter((voice) => voice.name.toLowerCase() === name.toLowerCase())
  return same.length === 1 ? same[0] : undefined
}

const unknownVoice = (voice: string): MynaError =>
  new MynaError('voice_not_found', `The voice '${voice}' does not exist or you do not have access to it.`, {
    param: 'voice',
  })

export const unknownModel = (model: string): MynaError =>
  new MynaError('model_not_found', `The model '${model}' does not exist or you do not have access to it.`, {
    param: 'model',
  })
