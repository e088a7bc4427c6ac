/** Models in the form that existing clients and pickers read (docs/api.md 4.1). */
import type { Card, Task } from '../domain/card.ts'
import { aliasTask, modelAliases } from '../domain/model-aliases.ts'
import type { Timer } from '../domain/time.ts'
import type { Catalog } from '../service/ports.ts'
import type { KeptModel, ModelKeeper } from '../service/ports/models.ts'
import { missingModel, modelNamed, unknownModel } from '../service/model-names.ts'
import { openToAll } from './cors.ts'
import { audioModelsDetail, deleteModelDetail, modelDetail, modelsDetail, pullModelDetail } from './openapi/routes.ts'
import { endpoints } from './endpoint.ts'
import { type Action, type Exchange, json, jsonText, type Route } from './exchange.ts'
import type { Gate } from './gate.ts'
import { invalidInput } from './invalid.ts'
import { pullModel, removeModel } from './model-pull.ts'
import { modelRecord } from './model-record.ts'

export interface ModelsParts {
  gate: Gate
  catalog: Catalog
  keeper: ModelKeeper
  timer: Timer
  limits: { listModelAliases: boolean; maxInputChars: number }
}

const maxIdChars = 256

export function modelsRoutes(route: Route, parts: ModelsParts) {
  const { gate } = parts
  const one: Action = async (exchange) => {
    await gate.enter(exchange, null, 'requests')
    const id = modelId(exchange)
    const card =
      models(parts).find(([name]) => name === id)?.[1] ??
      aliasCard(id, parts.catalog, (task) => parts.catalog.best(task))
    if (card === null) throw missingModel(id, parts.catalog)
    return json(modelRecord(id, card, parts.limits))
  }
  const listed = keptText((models: readonly Named[]) => {
    const data = models.map(([id, card]) => modelRecord(id, card, parts.limits))
    return { ...listOf(data), has_more: false, first_id: models[0]?.[0] ?? null, last_id: models.at(-1)?.[0] ?? null }
  })
  const all: Action = async (exchange) => {
    await gate.enter(exchange, null, 'requests')
    return jsonText(listed(models(parts)))
  }
  const speaking: Action = async (exchange) => {
    openToAll(exchange.headers)
    await gate.enterPublic(exchange)
    const speaking = models(parts).filter(([, { task }]) => task === 'text-to-speech')
    const data = speaking.map(([id, card]) => modelRecord(id, card, parts.limits))
    return json({ ...listOf(data), models: data.map(({ id, name }) => ({ id, name })) })
  }
  const pull: Action = async (exchange) => {
    await gate.enterAdmin(exchange)
    return pullModel(exchange, kept(exchange, parts), parts)
  }
  const remove: Action = async (exchange) => {
    await gate.enterAdmin(exchange)
    return removeModel(kept(exchange, parts), parts)
  }
  return endpoints(route, [
    ['GET /v1/models', modelsDetail, all],
    ['GET /v1/models/{model_id}', modelDetail, one],
    ['GET /v1/models/{model_id*}', null, one],
    ['POST /v1/models/{model_id}', pullModelDetail, pull],
    ['POST /v1/models/{model_id*}', null, pull],
    ['DELETE /v1/models/{model_id}', deleteModelDetail, remove],
    ['DELETE /v1/models/{model_id*}', null, remove],
    ['GET /v1/audio/models', audioModelsDetail, speaking],
  ])
}

/** The model that the path names, by its id or another server's name for it. @throws MynaError `model_not_found` */
function kept(exchange: Exchange, { catalog, keeper }: ModelsParts): KeptModel {
  const id = modelId(exchange)
  const card = modelNamed(id, catalog)
  if (card === null) throw unknownModel(id, catalog)
  return keeper.find(card.id)
}

const listOf = <T>(data: T[]) => ({ object: 'list', data })

/** Everything after `/v1/models/`, so that `org/model` is one id whether or not its slash was escaped. */
function modelId({ url }: Exchange): string {
  const raw = url.pathname.slice('/v1/models/'.length).replace(/\/$/, '')
  let id: string
  try {
    id = decodeURIComponent(raw)
  } catch {
    throw invalidInput(['path', 'model_id'], 'string should be percent-encoded UTF-8', 'string_unicode')
  }
  if (id === '' || id.length > maxIdChars || /\p{Cc}/u.test(id)) {
    const msg = `string should have 1 to ${maxIdChars} characters and no control characters`
    throw invalidInput(['path', 'model_id'], msg, 'string_pattern_mismatch')
  }
  return id
}

type Named = readonly [id: string, card: Card]

/** Installed models by their own ids, then the aliases for the best of each task. */
function models({ catalog, limits }: ModelsParts): Named[] {
  const native = catalog.cards().filter((card) => catalog.isInstalled(card.id))
  const own = native.map((card): Named => [card.id, card])
  if (!limits.listModelAliases) return own
  const best = {
    'text-to-speech': catalog.best('text-to-speech'),
    'automatic-speech-recognition': catalog.best('automatic-speech-recognition'),
  }
  const aliases = listedAliases.flatMap(({ name }): Named[] => {
    const card = aliasCard(name, catalog, (task) => best[task])
    return card === null ? [] : [[name, card]]
  })
  return [...own, ...aliases]
}

const listedAliases = modelAliases.filter(({ isListed }) => isListed)

function aliasCard(id: string, catalog: Catalog, best: (task: Task) => Card | null): Card | null {
  const named = modelNamed(id, catalog)
  if (named !== null && catalog.isInstalled(named.id)) return named
  const task = aliasTask(id)
  return task === null ? null : best(task)
}

/** The list is the same as long as its cards are, so it is written once for many requests. */
function keptText(answer: (models: readonly Named[]) => object): (models: readonly Named[]) => string {
  let kept: { models: readonly Named[]; text: string } = { models: [], text: JSON.stringify(answer([])) }
  return (models) => {
    const isSame = ([id, card]: Named, at: number) => kept.models[at]?.[0] === id && kept.models[at][1] === card
    if (models.length !== kept.models.length || !models.every(isSame)) {
      kept = { models, text: JSON.stringify(answer(models)) }
    }
    return kept.text
  }
}
