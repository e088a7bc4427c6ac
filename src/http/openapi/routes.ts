/** The operations, models, account and server routes in the API's document. */
import type { ErrorCode } from '../../domain/error.ts'
import { operationListFields } from '../operation-query.ts'
import { exampleOperationId } from '../error-codes.ts'
import { parametersOf } from '../fields/field.ts'
import { usageFields } from '../usage.ts'
import { detail, ok, open, openOrBearer, pathId, publicCodes, requestId, scoped } from './parts.ts'
import { keyedCodes, refusals } from './refusals.ts'
import { schemaRef } from './shapes.ts'

const operationParameter = pathId('operation_id', 'From the `X-Request-Id` of the request.', exampleOperationId)
const ownLimit =
  'Requires the scope of the work: `tts` for speech, `voices` for a clone. Inspecting and cancelling have a rate ' +
  'limit of their own, so that limits on generation never stand in the way.'

export const operationsDetail = detail('Operations', 'listOperations', 'List operations', {
  description:
    'Your own speech requests and clones, newest first, while their records are kept. Requires the scope `usage`. ' +
    'The next page begins behind the last id of this one: give it as `before`.',
  parameters: parametersOf(operationListFields),
  responses: { 200: ok('OperationList', 'The operations.'), ...refusals(...scoped, 'validation_error') },
})

export const operationDetail = detail('Operations', 'retrieveOperation', 'Get an operation', {
  description: `The state of a speech request or clone, or how it ended and what it cost. ${ownLimit}`,
  parameters: [operationParameter],
  responses: { 200: ok('Operation', 'The operation.'), ...refusals(...scoped, 'operation_not_found') },
})

export const cancelDetail = detail('Operations', 'cancelOperation', 'Cancel an operation', {
  description:
    'Signals running work and answers at once; the operation shows how it ended. A body is ignored. ' + ownLimit,
  parameters: [operationParameter],
  responses: {
    200: ok('Cancelled', '`ok` is false if the operation had already ended.'),
    ...refusals(...scoped, 'operation_not_found'),
  },
})

export const modelsDetail = detail('Models', 'listModels', 'List models', {
  description: 'Installed models by their own ids, then OpenAI’s names that stand for the best of them. Any valid key.',
  responses: { 200: ok('ModelList', 'The models.'), ...refusals(...keyedCodes) },
})

export const modelDetail = detail('Models', 'retrieveModel', 'Get a model', {
  description: 'Any valid key. Everything after `/v1/models/` is the id, so `org/name` needs no escaping.',
  parameters: [pathId('model_id', 'A model’s id or an alias, 1 to 256 characters.', 'tts-1')],
  responses: { 200: ok('Model', 'The model.'), ...refusals(...keyedCodes, 'model_not_found', 'validation_error') },
})

const modelToKeep = pathId('model_id', 'A model’s id, or another server’s name for it.', 'whisper-base')
const forAdmins = 'Requires an unrestricted key of an administrator.'
const keeperCodes: readonly ErrorCode[] = [...keyedCodes, 'admin_required', 'model_not_found', 'validation_error']

export const pullModelDetail = detail('Models', 'pullModel', 'Install a model', {
  description:
    'Downloads it from the hub and answers once it is installed. The download continues if the client leaves, and is ' +
    'joined if it is asked for again. With `Accept: text/event-stream` the answer is a stream of ' +
    `\`model.pull.progress\` events and at the end \`model.pull.done\` or \`error\`. ${forAdmins}`,
  parameters: [modelToKeep],
  responses: {
    200: ok('Model', 'It was installed already.'),
    201: ok('Model', 'It is installed now.'),
    ...refusals(...keeperCodes, 'pull_failed'),
  },
})

export const deleteModelDetail = detail('Models', 'deleteModel', 'Remove a model', {
  description: `Refused while requests use it. Voices that were cloned with it stay. ${forAdmins}`,
  parameters: [modelToKeep],
  responses: { 200: ok('DeletedModel', 'It is removed.'), ...refusals(...keeperCodes) },
})

export const audioModelsDetail = detail('Models', 'listSpeechModels', 'List speech models (no key needed)', {
  description: 'For pickers in user interfaces: needs no key, and any web page may read it.',
  security: openOrBearer,
  responses: { 200: ok('SpeechModelList', 'The speech models.'), ...refusals(...publicCodes) },
})

export const meDetail = detail('Account', 'retrieveAccount', 'Get the current account', {
  description: 'The account and key of this request, the balance and the limits. Requires the scope `usage`.',
  responses: { 200: ok('Account', 'The account.'), ...refusals(...scoped) },
})

export const usageDetail = detail('Account', 'retrieveUsage', 'Get usage and charges', {
  description:
    'Settled work only, in time buckets, with totals over the whole span. By default the last 30 days by day. ' +
    'Requires the scope `usage`.',
  parameters: parametersOf(usageFields),
  responses: { 200: ok('UsagePage', 'The usage.'), ...refusals(...scoped, 'validation_error') },
})

export const healthDetail = detail('Server', 'health', 'Check that the server is alive', {
  description: 'Touches nothing but the process itself. `/healthz` and `/livez` are the same.',
  security: open,
  responses: { 200: ok('Health', 'It is alive.', requestId), ...refusals('internal_error') },
})

export const readyDetail = detail('Server', 'readiness', 'Check that the server accepts work', {
  description:
    'The status is `degraded`, and work is still accepted, if transcription fails or an installed model cannot be ' +
    'used: `models` names it and the reason.',
  security: open,
  responses: {
    200: ok('Readiness', 'It accepts work.', requestId),
    503: {
      description: 'Not now: it is loading or draining, or a part of it has failed.',
      headers: requestId,
      content: { 'application/json': { schema: schemaRef('Readiness') } },
    },
    ...refusals('internal_error'),
  },
})

export const metricsDetail = detail('Server', 'metrics', 'Get metrics for Prometheus', {
  description:
    'With the metrics token (`MYNA_METRICS_TOKEN`) as the bearer key. On its own machine the server has them also on ' +
    'the socket in the data folder: `curl --unix-socket myna.sock http://localhost/metrics`.',
  responses: {
    200: {
      description: 'Prometheus text format 0.0.4.',
      headers: requestId,
      content: { 'text/plain': { schema: { type: 'string' } } },
    },
    ...refusals('invalid_api_key', 'too_many_failed_attempts', 'internal_error'),
  },
})

/** Used for two paths, so it has no operationId: that must be unique. */
export const rootDetail = detail('Server', null, 'Get name and version', {
  security: open,
  responses: { 200: ok('Service', 'The server.', requestId), ...refusals('internal_error') },
})
