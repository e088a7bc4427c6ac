/** Resolves the name of a model in a request, and words the refusal of unknown ones. */
import type { Card } from '../domain/card.ts'
import { MynaError } from '../domain/error.ts'
import { formerModels } from '../domain/former-names.ts'
import { ownModelName } from '../domain/model-names.ts'
import { nearest } from '../domain/nearest.ts'
import type { Catalog } from './ports.ts'

/** The same weights in another precision, or exported with the times of words. */
const isVariant = (id: string, of: string): boolean =>
  id === of || (id.startsWith(of) && /^(?:-(?:fp16|fp32|q8|int8|words))+$/.test(id.slice(of.length)))

/**
 * The model with that id; otherwise, for a name of another server, the model with the same weights, installed ones
 * first, then by preference.
 * @returns null if the name means no model
 */
export function modelNamed(name: string, catalog: Catalog): Card | null {
  const cards = catalog.cards()
  const own = cards.find(({ id }) => id === name)
  if (own !== undefined) return own
  const successor = formerModels.get(name)
  if (successor !== undefined) return cards.find(({ id }) => id === successor) ?? null
  const id = ownModelName(name)
  if (id === null) return null
  const same = cards.filter((card) => isVariant(card.id, id)).toSorted((a, b) => b.preference - a.preference)
  return same.find((card) => catalog.isInstalled(card.id)) ?? same[0] ?? null
}

/** Where another server has it, a retry may well reach that one: then the refusal is one of this moment. */
export function notInstalled(model: string, catalog: Catalog): MynaError {
  const remedy = `Install it with: myna models pull ${model}`
  const others = catalog.elsewhere?.(model) ?? []
  if (others.length === 0) {
    return new MynaError('model_not_found', `The model '${model}' is not installed. ${remedy}`, { param: 'model' })
  }
  const message = `The model '${model}' is not installed on this server, but on ${others.join(', ')}. ${remedy}`
  return new MynaError('engine_unavailable', message, { param: 'model', retryAfterMs: 1000 })
}

export function unknownModel(model: string, catalog: Catalog): MynaError {
  const near = nearest(
    model,
    catalog.cards().map(({ id }) => id),
  )
  const hint = near === null ? '' : ` Did you mean '${near}'?`
  const message = `The model '${model}' does not exist or you do not have access to it.${hint}`
  return new MynaError('model_not_found', message, { param: 'model' })
}

/** For a name without an installed model. */
export function missingModel(model: string, catalog: Catalog): MynaError {
  const card = modelNamed(model, catalog)
  return card === null ? unknownModel(model, catalog) : notInstalled(card.id, catalog)
}
