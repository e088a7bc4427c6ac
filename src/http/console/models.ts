/** Models as an administrator keeps them: which there are, which are here, and getting and removing them. */
import { Elysia } from 'elysia'
import type { KeptModel, ModelKeeper } from '../../service/ports-models.ts'
import { type Exchange, json, type Route } from '../exchange.ts'
import type { Gate } from '../gate.ts'

export interface ConsoleModelsParts {
  gate: Gate
  models: ModelKeeper
}

const path = '/console/api/admin/models'

export function consoleModelsRoutes(route: Route, { gate, models }: ConsoleModelsParts) {
  const hidden = { detail: { hide: true } }
  const change = { parse: 'none', ...hidden } as const
  const idOf = ({ params }: Exchange) => params.model_id ?? ''
  const list = route(path, async (exchange) => {
    await gate.enterAdmin(exchange)
    return json({ object: 'list', data: (await models.list()).map(modelRecord) })
  })
  const pull = route(`${path}/{model_id}/pull`, async (exchange) => {
    await gate.enterAdmin(exchange)
    models.pull(idOf(exchange))
    return new Response(null, { status: 202 })
  })
  const cancel = route(`${path}/{model_id}/pull`, async (exchange) => {
    await gate.enterAdmin(exchange)
    models.cancel(idOf(exchange))
    return new Response(null, { status: 204 })
  })
  const remove = route(`${path}/{model_id}`, async (exchange) => {
    await gate.enterAdmin(exchange)
    return json({ freed_bytes: await models.remove(idOf(exchange)) })
  })
  return new Elysia()
    .get(path, list, hidden)
    .post(`${path}/:model_id/pull`, pull, change)
    .delete(`${path}/:model_id/pull`, cancel, change)
    .delete(`${path}/:model_id`, remove, change)
}

const modelRecord = ({ card, state, diskBytes, downloadBytes, unknownSizes, pull }: KeptModel) => ({
  id: card.id,
  name: card.name,
  description: card.description,
  task: card.task,
  state: card.builtIn ? 'built_in' : state,
  languages: card.languages,
  voices: card.voices.length,
  cloning: card.cloning,
  memory_bytes: card.memoryBytes,
  disk_bytes: diskBytes,
  download_bytes: downloadBytes,
  unknown_sizes: unknownSizes,
  license: card.license,
  like: card.like ?? null,
  pull:
    pull === null
      ? null
      : {
          state: pull.state,
          done_bytes: pull.doneBytes,
          total_bytes: pull.totalBytes,
          bytes_per_second: pull.bytesPerSecond,
          ms_left: pull.msLeft,
          error: pull.error,
        },
})
