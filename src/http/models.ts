/** Models in the form that existing clients and pickers read (docs/api.md 4.1). */
import type { Card } from '../domain/card.ts'
import { aliasTask, modelAliases } from '../domain/model-aliases.ts'
import type { Catalog } from '../service/ports.ts'
import { missingModel, modelNamed } from '../service/model-names.ts'
import { openToAll } from './cors.ts'
import { audioModelsDetail, modelDetail, modelsDetail } from './openapi/routes.ts'
import { endpoints } from './endpoint.ts'
import { type Action, type Exchange, json, type Route } from './exchange.ts'
import type { Gate } from './gate.ts'
import { invalidInput } from './invalid.ts'

export interface ModelsParts {
  gate: Gate
  catalog: Catalog
  listAliases: boolean
  maxInputChars: number
}

const maxIdChars = 256

export function modelsRoutes(route: Route, parts: ModelsParts) {
  const { gate } = parts
  const one: Action = async (exchange) => {
    await gate.enter(exchange, null, 'requests')
    const id = modelId(exchange)
    const record = records(parts).find((candidate) => candidate.id === id) ?? aliasRecord(id, parts)
    if (record === null) throw missingModel(id, parts.catalog)
    return json(record)
  }
  const all: Action = async (exchange) => {
    await gate.enter(exchange, null, 'requests')
    const data = records(parts)
    return json({ ...listOf(data), has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null })
  }
  const speaking: Action = async (exchange) => {
    openToAll(exchange.headers)
    await gate.enterPublic(exchange)
    const data = records(parts).filter((record) => record.task === 'text-to-speech')
    return json({ ...listOf(data), models: data.map(({ id, name }) => ({ id, name })) })
  }
  return endpoints(route, [
    ['GET /v1/models', modelsDetail, all],
    ['GET /v1/models/{model_id}', modelDetail, one],
    ['GET /v1/models/{model_id*}', null, one],
    ['GET /v1/audio/models', audioModelsDetail, speaking],
  ])
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

/** Installed models by their own ids, then the aliases for the best of each task. */
function records(parts: ModelsParts) {
  const native = parts.catalog
    .cards()
    .filter((card) => parts.catalog.isInstalled(card.id))
    .map((card) => record(card.id, card, parts))
  if (!parts.listAliases) return native
  const listed = modelAliases.filter(({ isListed }) => isListed)
  return [...native, ...listed.flatMap(({ name }) => aliasRecord(name, parts) ?? [])]
}

function aliasRecord(id: string, parts: ModelsParts) {
  const named = modelNamed(id, parts.catalog)
  if (named !== null && parts.catalog.isInstalled(named.id)) return record(id, named, parts)
  const task = aliasTask(id)
  const best = task === null ? null : parts.catalog.best(task)
  return best === null ? null : record(id, best, parts)
}

const record = (id: string, card: Card, { maxInputChars }: ModelsParts) => ({
  id,
  object: 'model',
  created: card.createdAt,
  owned_by: 'myna',
  shutdown_date: null,
  task: card.task,
  root: card.id,
  name: card.name,
  languages: card.languages,
  sample_rate: card.sampleRateHz,
  verified: card.like === undefined,
  ...(card.task === 'text-to-speech' ? { max_input_chars: maxInputChars } : {}),
})
