/**
 * Getting and removing a model over the API (docs/api.md 4.1), for administrators. A pull runs in the background and
 * outlives its request: asked for again, it is joined. A client that takes events sees how far it is.
 */
import { MynaError } from '../domain/error.ts'
import type { Timer } from '../domain/time.ts'
import type { KeptModel, ModelKeeper } from '../service/ports/models.ts'
import { errorBody } from './errors.ts'
import { type Exchange, json } from './exchange.ts'
import { deletedModel, modelRecord } from './model-record.ts'
import { event, type Events, eventStreamHeaders, sseSource } from './sse.ts'
import { streamed } from './stream.ts'

export interface ModelPullParts {
  keeper: ModelKeeper
  timer: Timer
  limits: { maxInputChars: number }
}

const progressEveryMs = 500

/** @throws MynaError `pull_failed`, `validation_error` */
export async function pullModel(exchange: Exchange, { card, state }: KeptModel, parts: ModelPullParts) {
  const { keeper } = parts
  const wantsEvents = (exchange.request.headers.get('accept') ?? '').includes('text/event-stream')
  const isHere = card.builtIn || state === 'installed'
  if (!isHere) keeper.pull(card.id)
  exchange.keepOpen()
  if (wantsEvents) {
    return streamed(exchange, sseSource(pullEvents(exchange, card.id, parts), parts.timer), eventStreamHeaders)
  }
  if (!isHere) await keeper.ended(card.id)
  requirePulled(keeper.find(card.id))
  return json(modelRecord(card.id, card, parts.limits), isHere ? 200 : 201)
}

/** @throws MynaError `model_not_found` where it is not installed, `validation_error` where it is in use */
export async function removeModel({ card, state, pull }: KeptModel, { keeper }: ModelPullParts): Promise<Response> {
  if (!card.builtIn && state === 'absent' && pull === null) {
    throw new MynaError('model_not_found', `The model '${card.id}' is not installed.`, { param: 'model_id' })
  }
  return json(deletedModel.of({ id: card.id, freedBytes: await keeper.remove(card.id) }))
}

/** @throws MynaError `pull_failed` */
function requirePulled({ card, state, pull }: KeptModel): void {
  if (card.builtIn || state === 'installed') return
  const why = pull?.error ?? 'The download was cancelled. What has come is kept: pull it again to resume.'
  throw new MynaError('pull_failed', why, { param: 'model_id' })
}

function pullEvents({ requestId }: Exchange, id: string, parts: ModelPullParts): Events {
  const { keeper, timer } = parts
  let isFirst = true
  return {
    async next() {
      // The first event comes at once.
      if (!isFirst) await passed(keeper.ended(id), timer)
      isFirst = false
      const model = keeper.find(id)
      const { pull } = model
      if (pull !== null && pull.state !== 'failed') return { text: event(progressOf(id, pull)), isLast: false }
      requirePulled(model)
      return {
        text: event({ type: 'model.pull.done', model: modelRecord(id, model.card, parts.limits) }),
        isLast: true,
      }
    },
    errorOf: (error) =>
      errorBody(
        error instanceof MynaError
          ? error
          : new MynaError('internal_error', 'Internal server error.', { cause: error }),
        requestId,
      ),
    gone: () => {},
  }
}

/** Resolves after a while, or once the pull has ended. */
function passed(ended: Promise<void>, timer: Timer): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  return Promise.race([ended, promise]).finally(timer.after(progressEveryMs, resolve))
}

const progressOf = (model: string, pull: NonNullable<KeptModel['pull']>) => ({
  type: 'model.pull.progress',
  model,
  state: pull.state,
  done_bytes: pull.doneBytes,
  total_bytes: pull.totalBytes,
  bytes_per_second: pull.bytesPerSecond,
  ms_left: pull.msLeft,
})
