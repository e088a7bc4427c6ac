/** In which words a voice or a model is refused, the same on every route. */
import type { Card, CardVoice } from '../domain/card.ts'
import { MynaError } from '../domain/error.ts'
import type { Catalog } from './ports.ts'

export const mismatch = (card: Card, voice: string): MynaError =>
  new MynaError('voice_model_mismatch', `The model '${card.id}' cannot speak with the voice '${voice}'.`, {
    param: 'model',
  })

/** The same words for a voice of somebody else and for none. */
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

export const unusable = (message: string): MynaError => new MynaError('voice_unusable', message, { param: 'voice' })

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
