/** Models as an administrator keeps them: which there are, which are here, and getting and removing them. */
import { Elysia } from 'elysia'
import type { Card } from '../../domain/card.ts'
import { recommendedIds } from '../../domain/recommendation.ts'
import type { KeptModel, ModelKeeper } from '../../service/ports/models.ts'
import { MynaError } from '../../domain/error.ts'
import type { ServerStatus } from '../admin-socket.ts'
import { asset, once } from '../assets.ts'
import { audioTypes } from '../content-types.ts'
import { type Exchange, json, type Route } from '../exchange.ts'
import type { Gate } from '../gate.ts'
import { ranged } from '../ranged.ts'

export interface ConsoleModelsParts {
  gate: Gate
  models: ModelKeeper
  status: () => Promise<Pick<ServerStatus, 'engines'>>
  /** What models sound like: paths of Ogg Opus files, by the family of the card. */
  samples: Readonly<Record<string, string>>
}

const path = '/console/api/admin/models'

export function consoleModelsRoutes(route: Route, { gate, models, status, samples }: ConsoleModelsParts) {
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
    const sampleOf = ({ id, family }: Card) => (samples[family] === undefined ? null : `${path}/${id}/sample`)
    const data = kept.map((model) => ({ ...modelRecord(model, recommended), sample_url: sampleOf(model.card) }))
    return json({ object: 'list', data })
  })
  const sounds = new Map(
    Object.entries(samples).map(([family, file]) => [family, once(() => asset(audioTypes.opus, Bun.file(file)))]),
  )
  const sample = route(`${path}/{model_id}/sample`, async (exchange) => {
    await gate.enterAdmin(exchange)
    const { card } = models.find(idOf(exchange))
    const found = await sounds.get(card.family)?.()
    if (found === undefined) throw new MynaError('model_not_found', `There is no sample of ${card.id}.`)
    const { type, body, digest } = found
    const whole = { type, etag: `"${digest}"`, modifiedMs: card.createdAt * 1000, cacheControl: 'private, no-cache' }
    return ranged(exchange.request, { ...whole, bytes: await body.bytes() }, exchange.headers)
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
    .get(`${path}/:model_id/sample`, sample, hidden)
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
