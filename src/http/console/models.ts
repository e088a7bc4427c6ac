/** Models as an administrator keeps them: which there are, which are here, and getting and removing them. */
import { Elysia } from 'elysia'
import { recommendedIds } from '../../domain/recommendation.ts'
import type { KeptModel, ModelKeeper } from '../../service/ports/models.ts'
import { type Exchange, json, type Route } from '../exchange.ts'
import type { ServerStatus } from '../admin-socket.ts'
import type { Gate } from '../gate.ts'

export interface ConsoleModelsParts {
  gate: Gate
  models: ModelKeeper
  status: () => Promise<Pick<ServerStatus, 'engines'>>
}

const path = '/console/api/admin/models'

export function consoleModelsRoutes(route: Route, { gate, models, status }: ConsoleModelsParts) {
  const hidden = { detail: { hide: true } }
  const change = { parse: 'none', ...hidden } as const
  const idOf = ({ params }: Exchange) => params.model_id ?? ''
  const list = route(path, async (exchange) => {
    await gate.enterAdmin(exchange)
    const [kept, { engines }] = [await models.list(), await status()]
    const hasGraphicsCard = engines.some(({ device }) => device.startsWith('cuda'))
    const recommended = recommendedIds(
      kept.map(({ card }) => card),
      hasGraphicsCard,
    )
    return json({ object: 'list', data: kept.map((model) => modelRecord(model, recommended)) })
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

const modelRecord = (
  { card, state, diskBytes, downloadBytes, unknownSizes, pull }: KeptModel,
  recommended: ReadonlySet<string>,
) => ({
  id: card.id,
  name: card.name,
  description: card.description,
  task: card.task,
  architecture: card.architecture,
  /** One of each architecture is. */
  recommended: recommended.has(card.id),
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
