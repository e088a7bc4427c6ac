/** The operations, models, account and server routes in the API's document. */
import { exampleOperationId } from '../error-codes.ts'
import { operationListFields } from '../operations/query.ts'
import { usageFields } from '../usage.ts'
import { detail, ok, pathId, requestId } from './parts.ts'
import { schemaRef } from './shapes.ts'

const operation = pathId(
  'operation_id',
  'From the `X-Request-Id` of the request.',
  exampleOperationId,
  'operation_not_found',
)
const ownLimit =
  'Requires the scope of the work: `tts` for speech, `voices` for a clone. Inspecting and cancelling have a rate ' +
  'limit of their own, so that limits on generation never stand in the way.'

export const operationsDetail = detail('Operations', 'listOperations', 'List operations', {
  access: 'usage',
  about:
    'Your own speech requests and clones, newest first, while their records are kept. The next page begins behind ' +
    'the last id of this one: give it as `before`.',
  query: operationListFields,
  answers: { 200: ok('OperationList', 'The operations.') },
})

export const operationDetail = detail('Operations', 'retrieveOperation', 'Get an operation', {
  access: 'scoped',
  about: `The state of a speech request or clone, or how it ended and what it cost. ${ownLimit}`,
  path: operation,
  answers: { 200: ok('Operation', 'The operation.') },
})

export const cancelDetail = detail('Operations', 'cancelOperation', 'Cancel an operation', {
  access: 'scoped',
  about: `Signals running work and answers at once; the operation shows how it ended. A body is ignored. ${ownLimit}`,
  path: operation,
  answers: { 200: ok('Cancelled', '`ok` is false if the operation had already ended.') },
})

export const modelsDetail = detail('Models', 'listModels', 'List models', {
  access: 'key',
  about: 'Installed models by their own ids, then OpenAI’s names that stand for the best of them.',
  answers: { 200: ok('ModelList', 'The models.') },
})

const modelId = (about: string, example: string) =>
  pathId('model_id', about, example, 'model_not_found', 'validation_error')

export const modelDetail = detail('Models', 'retrieveModel', 'Get a model', {
  access: 'key',
  about: 'Everything after `/v1/models/` is the id, so `org/name` needs no escaping.',
  path: modelId('A model’s id or an alias, 1 to 256 characters.', 'tts-1'),
  answers: { 200: ok('Model', 'The model.') },
})

const kept = modelId('A model’s id, or another server’s name for it.', 'whisper-base')

export const pullModelDetail = detail('Models', 'pullModel', 'Install a model', {
  access: 'admin',
  about:
    'Downloads it from the hub and answers once it is installed. The download continues if the client leaves, and is ' +
    'joined if it is asked for again. With `Accept: text/event-stream` the answer is a stream of ' +
    '`model.pull.progress` events and at the end `model.pull.done` or `error`.',
  path: kept,
  answers: { 200: ok('Model', 'It was installed already.'), 201: ok('Model', 'It is installed now.') },
  codes: ['pull_failed'],
})

export const deleteModelDetail = detail('Models', 'deleteModel', 'Remove a model', {
  access: 'admin',
  about: 'Refused while requests use it. Voices that were cloned with it stay.',
  path: kept,
  answers: { 200: ok('DeletedModel', 'It is removed.') },
})

export const audioModelsDetail = detail('Models', 'listSpeechModels', 'List speech models (no key needed)', {
  access: 'public',
  about: 'For pickers in user interfaces: needs no key, and any web page may read it.',
  answers: { 200: ok('SpeechModelList', 'The speech models.') },
})

export const meDetail = detail('Account', 'retrieveAccount', 'Get the current account', {
  access: 'usage',
  about: 'The account and key of this request, the balance and the limits.',
  answers: { 200: ok('Account', 'The account.') },
})

export const usageDetail = detail('Account', 'retrieveUsage', 'Get usage and charges', {
  access: 'usage',
  about: 'Settled work only, in time buckets, with totals over the whole span. By default the last 30 days by day.',
  query: usageFields,
  answers: { 200: ok('UsagePage', 'The usage.') },
})

export const healthDetail = detail('Server', 'health', 'Check that the server is alive', {
  access: 'open',
  about: 'Touches nothing but the process itself. `/healthz` and `/livez` are the same.',
  answers: { 200: ok('Health', 'It is alive.', requestId) },
})

export const readyDetail = detail('Server', 'readiness', 'Check that the server accepts work', {
  access: 'open',
  about:
    'The status is `degraded`, and work is still accepted, if transcription fails or an installed model cannot be ' +
    'used: `models` names it and the reason.',
  answers: {
    200: ok('Readiness', 'It accepts work.', requestId),
    503: {
      description: 'Not now: it is loading or draining, or a part of it has failed.',
      headers: requestId,
      content: { 'application/json': { schema: schemaRef('Readiness') } },
    },
  },
})

export const metricsDetail = detail('Server', 'metrics', 'Get metrics for Prometheus', {
  access: 'metrics',
  about:
    'With the metrics token (`MYNA_METRICS_TOKEN`) as the bearer key. On its own machine the server has them also on ' +
    'the socket in the data folder: `curl --unix-socket myna.sock http://localhost/metrics`.',
  answers: {
    200: {
      description: 'Prometheus text format 0.0.4.',
      headers: requestId,
      content: { 'text/plain': { schema: { type: 'string' } } },
    },
  },
})

/** Used for two paths, so it has no operationId: that must be unique. */
export const rootDetail = detail('Server', null, 'Get name and version', {
  access: 'open',
  answers: { 200: ok('Service', 'The server.', requestId) },
})
