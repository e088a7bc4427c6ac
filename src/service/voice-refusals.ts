/** Decides in which words a voice or a model is refused, the same on every route. */
import type { Card, CardVoice } from '../domain/card.ts'
import { MynaError } from '../domain/error.ts'
import { nearest } from '../domain/nearest.ts'
import type { Catalog } from './ports.ts'

/** Other accounts would hear it. */
export const onlyAdminsPublish = (): MynaError =>
  new MynaError('admin_required', 'Only an administrator may make a voice public.', { param: 'public' })

export const mismatch = (card: Card, voice: string): MynaError =>
  new MynaError('voice_model_mismatch', `The model '${card.id}' cannot speak with the voice '${voice}'.`, {
    param: 'model',
  })

/** The same words for another account's voice as for one that does not exist. */
export function unknownVoice(voice: string, param = 'voice', near: string | null = null): MynaError {
  const hint = near === null ? '' : ` Did you mean '${near}'?`
  const message = `The voice '${voice}' does not exist or you do not have access to it.${hint}`
  return new MynaError('voice_not_found', message, { param })
}

/** @param ids of the voices that the caller may use by that name, two or more */
export const ambiguousVoice = (name: string, ids: readonly string[]): MynaError =>
  new MynaError('voice_not_found', `Several voices are called '${name}'. Use the id of one: ${ids.join(', ')}.`, {
    param: 'voice',
  })

/**
 * The same error, unless it is a voice of a model that could be installed: then it says how to install it.
 * @param names of voices that the caller may use, to suggest one for a mistyped name
 */
export function missingVoice(voice: string, catalog: Catalog, names: readonly string[], param = 'voice'): MynaError {
  const isMeant = ({ id, name }: CardVoice) => id === voice || name.toLowerCase() === voice.toLowerCase()
  const [card] = catalog
    .cards()
    .filter(({ id, voices }) => voices.some(isMeant) && !catalog.isInstalled(id))
    .toSorted((a, b) => b.preference - a.preference)
  if (card === undefined) return unknownVoice(voice, param, nearest(voice, names))
  const message = `The voice '${voice}' belongs to the model '${card.id}', which is not installed.`
  return new MynaError('voice_not_found', `${message} Install it with: myna models pull ${card.id}`, { param })
}

/** SDKs wait and try again by themselves. */
export const notReady = (param: string): MynaError =>
  new MynaError('voice_not_ready', 'This voice is still being made. Try again in a moment.', {
    param,
    retryAfterMs: 2000,
  })

export const unusable = (message: string): MynaError => new MynaError('voice_unusable', message, { param: 'voice' })
