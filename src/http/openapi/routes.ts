/**
 * Describes each route in the API's document. Bodies are parsed by hand (docs/api.md 2.1 forgives more than a schema
 * says), so the operations are written by hand too.
 */
import { headerRef, keyedCodes, refusals, schemaRef } from './refusals.ts'
import { examples, operationId, speechRequests } from './examples.ts'
import {
  audio,
  bearer,
  detail,
  idempotencyKey,
  ok,
  open,
  openOrBearer,
  pathId,
  publicCodes,
  query,
  rates,
  requestId,
  scoped,
} from './parts.ts'

export const speechDetail = detail({
  tags: ['Audio'],
  operationId: 'createSpeech',
  summary: 'Speak a text',
  description:
    'Streams the speech while it is being made; the headers come with the first audio. Asks for the scope ' +
    '`tts`. Every ' +
    'accepted request makes an operation, whose id is the `X-Request-Id` of the answer.\n\n' +
    'Neither the status 200 nor a playable file proves that all was delivered: if the engine fails on the way the ' +
    'connection is broken off, and nothing is charged. The operation tells how it ended.',
  security: bearer,
  parameters: [idempotencyKey],
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: schemaRef('SpeechRequest'),
        examples: speechRequests,
      },
    },
  },
  responses: {
    200: {
      description: 'The audio, chunk by chunk, in the format that was asked for; or events with `stream_format: sse`.',
      headers: {
        'X-Request-Id': headerRef('OperationId'),
        'Content-Disposition': headerRef('Disposition'),
        'X-Audio-Sample-Rate': headerRef('SampleRate'),
        'X-Audio-Channels': headerRef('Channels'),
        ...rates,
      },
      content: {
        'audio/mpeg': audio,
        'audio/ogg': audio,
        'audio/aac': audio,
        'audio/flac': audio,
        'audio/wav': audio,
        'audio/pcm': audio,
        'text/event-stream': { schema: schemaRef('SpeechEvents'), example: examples.SpeechEvents },
      },
    },
    ...refusals(
      'invalid_json',
      'missing_required_parameter',
      'invalid_type',
      'empty_string',
      'string_above_max_length',
      'decimal_below_min_value',
      'decimal_above_max_value',
      'unsupported_value',
      'invalid_idempotency_key',
      'voice_model_mismatch',
      'operation_cancelled',
      ...scoped,
      'insufficient_balance',
      'model_not_found',
      'voice_not_found',
      'request_timeout',
      'duplicate_request',
      'idempotency_conflict',
      'voice_not_ready',
      'voice_unusable',
      'request_too_large',
      'unsupported_media_type',
      'concurrency_limit_exceeded',
      'generation_failed',
      'engine_overloaded',
      'engine_unavailable',
      'model_unavailable',
      'server_shutting_down',
      'storage_full',
      'database_damaged',
    ),
  },
})

const operationParameter = pathId('operation_id', 'From the `X-Request-Id` of the request that made it.', operationId)
const ownAllowance =
  'Asks for the scope of the work: `tts` for speech, `voices` for a clone. Looking and cancelling have an ' +
  'allowance of ' +
  'their own, so that generation limits never stand in the way.'

export const operationDetail = detail({
  tags: ['Operations'],
  operationId: 'retrieveOperation',
  summary: 'Look at an operation',
  description: `How a speech request or a clone stands, or how it ended and what it cost. ${ownAllowance}`,
  security: bearer,
  parameters: [operationParameter],
  responses: {
    200: ok('Operation', 'The operation.'),
    ...refusals(...scoped, 'operation_not_found'),
  },
})

export const cancelDetail = detail({
  tags: ['Operations'],
  operationId: 'cancelOperation',
  summary: 'Cancel an operation',
  description:
    'Signals running work and answers at once; how it ended is read from the operation. A body is ignored. ' +
    ownAllowance,
  security: bearer,
  parameters: [operationParameter],
  responses: {
    200: ok('Cancelled', '`ok` is false when the operation had ended already.'),
    ...refusals(...scoped, 'operation_not_found'),
  },
})

export const modelsDetail = detail({
  tags: ['Models'],
  operationId: 'listModels',
  summary: 'List the models',
  description: 'Installed models by their own ids, then OpenAI’s names that stand for the best of them. Any valid key.',
  security: bearer,
  responses: { 200: ok('ModelList', 'The models.'), ...refusals(...keyedCodes) },
})

export const modelDetail = detail({
  tags: ['Models'],
  operationId: 'retrieveModel',
  summary: 'Look at a model',
  description: 'Any valid key. Everything behind `/v1/models/` is the id, so that `org/name` needs no escaping.',
  security: bearer,
  parameters: [pathId('model_id', 'A model’s id or an alias, 1 to 256 characters.', 'tts-1')],
  responses: {
    200: ok('Model', 'The model.'),
    ...refusals(...keyedCodes, 'model_not_found', 'validation_error'),
  },
})

export const audioModelsDetail = detail({
  tags: ['Models'],
  operationId: 'listSpeechModels',
  summary: 'List the models that speak',
  description: 'For the pickers of user interfaces: needs no key, and any web page may read it.',
  security: openOrBearer,
  responses: {
    200: ok('SpeechModelList', 'The models that speak.'),
    ...refusals(...publicCodes),
  },
})

export const meDetail = detail({
  tags: ['Account'],
  operationId: 'retrieveAccount',
  summary: 'Who am I',
  description: 'The account and the key of this request, the balance and the limits. Asks for the scope `usage`.',
  security: bearer,
  responses: { 200: ok('Account', 'The account.'), ...refusals(...scoped) },
})

export const usageDetail = detail({
  tags: ['Account'],
  operationId: 'retrieveUsage',
  summary: 'What was used, and what it cost',
  description:
    'Settled work only, in buckets of time, with totals over the whole span. The last 30 days in days unless asked ' +
    'otherwise. Asks for the scope `usage`.',
  security: bearer,
  parameters: [
    query('start_time', 'Unix time in seconds; included.', { type: 'integer' }),
    query('end_time', 'Unix time in seconds; not included.', { type: 'integer' }),
    query('bucket_width', 'How long a bucket is.', { type: 'string', enum: ['1m', '1h', '1d'], default: '1d' }),
    query('limit', 'Buckets on a page, empty ones among them. Absent: only buckets in which something happened.', {
      type: 'integer',
      minimum: 1,
      maximum: 180,
    }),
    query('page', 'The `next_page` of the page before.', { type: 'string' }),
    {
      ...query('group_by', 'One result for each model, key or both; may be repeated.', {
        type: 'array',
        items: { type: 'string', enum: ['model', 'api_key_id'] },
      }),
      style: 'form',
      explode: true,
    },
  ],
  responses: { 200: ok('UsagePage', 'The usage.'), ...refusals(...scoped, 'validation_error') },
})

export const healthDetail = detail({
  tags: ['Server'],
  operationId: 'health',
  summary: 'Is the server alive',
  description: 'Touches nothing but the process itself. `/healthz` and `/livez` are the same.',
  security: open,
  responses: { 200: ok('Health', 'It is.', requestId), ...refusals('internal_error') },
})

const readyBody = { schema: schemaRef('Readiness') }

export const readyDetail = detail({
  tags: ['Server'],
  operationId: 'readiness',
  summary: 'Does the server take work',
  description:
    'It is `degraded`, and takes work all the same, while transcription fails or a model that is installed cannot be ' +
    'used: `models` names that one and the reason.',
  security: open,
  responses: {
    200: ok('Readiness', 'It does.', requestId),
    503: {
      description: 'Not now: it is loading, draining, or a part of it has failed.',
      headers: requestId,
      content: { 'application/json': readyBody },
    },
    ...refusals('internal_error'),
  },
})

export const metricsDetail = detail({
  tags: ['Server'],
  operationId: 'metrics',
  summary: 'Metrics for Prometheus',
  description: 'For loopback; or, when the server has a metrics token, for whoever sends it as the bearer key.',
  security: openOrBearer,
  responses: {
    200: {
      description: 'Prometheus text format 0.0.4.',
      headers: requestId,
      content: { 'text/plain': { schema: { type: 'string' } } },
    },
    ...refusals('invalid_api_key', 'internal_error'),
  },
})

/** Stands at two paths, so it names no operationId: that must be unique. */
export const rootDetail = detail({
  tags: ['Server'],
  summary: 'Name and version',
  security: open,
  responses: { 200: ok('Service', 'The server.', requestId), ...refusals('internal_error') },
})
