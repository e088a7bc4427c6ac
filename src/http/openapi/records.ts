/** The records that the API gives back, as its document shows them (docs/api.md 4, 5, 6 and 9). */
import { outcomes } from '../../domain/operation.ts'
import { type Schema, schemaRef } from './refusals.ts'

export const unixS: Schema = { type: 'integer', description: 'Unix time in seconds.' }
const unixOrNull: Schema = { type: ['integer', 'null'], description: 'Unix time in seconds.' }
const micros: Schema = { type: 'integer', description: 'Millionths of a US dollar.' }
const balance: Schema = {
  type: ['integer', 'null'],
  description: 'Millionths of a US dollar, net of holds; `null`: unmetered, nobody is blocked.',
}
export const count: Schema = { type: 'integer', minimum: 0 }
const countOrNull: Schema = { type: ['integer', 'null'], minimum: 0 }
export const text: Schema = { type: 'string' }
export const textOrNull: Schema = { type: ['string', 'null'] }

/** All fields are always there unless named as optional. */
export function record(properties: Record<string, Schema>, description = '', optional: readonly string[] = []): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name))
  return { type: 'object', required, properties, ...(description === '' ? {} : { description }) }
}

/** @param more fields beside OpenAI's `object` and `data` */
export const listOf = (item: string, more: Record<string, Schema> = {}, optional: readonly string[] = []): Schema =>
  record(
    { object: { type: 'string', const: 'list' }, data: { type: 'array', items: schemaRef(item) }, ...more },
    '',
    optional,
  )

export const page: Record<string, Schema> = { has_more: { type: 'boolean' }, first_id: textOrNull, last_id: textOrNull }

export const fault: Schema = {
  description: 'Why it did not complete.',
  anyOf: [record({ code: text, message: text }), { type: 'null' }],
}

const operation: Schema = record(
  {
    id: { type: 'string', pattern: '^op_[0-9A-HJKMNP-TV-Z]{26}$' },
    object: { type: 'string', const: 'operation' },
    type: { type: 'string', enum: ['speech', 'clone'] },
    state: { type: 'string', enum: ['pending', 'terminal'] },
    outcome: { type: ['string', 'null'], enum: [...outcomes, null], description: '`null` while pending.' },
    charged_micros: { ...micros, description: 'Millionths of a US dollar. While pending: the hold, not a charge.' },
    completion_bytes: {
      type: 'integer',
      description: 'Only for completed speech: PCM bytes delivered, whatever the format, without a header.',
    },
    created_at: unixS,
    settled_at: unixOrNull,
    expires_at: { ...unixOrNull, description: 'When the record may be removed; `null` while pending.' },
    voice_id: textOrNull,
    error: fault,
  },
  'The record of one accepted speech request or clone. It is no archive: it is removed an hour after ' +
    'settlement, or 24 ' +
    'hours after creation when an idempotency key was sent.',
  ['completion_bytes'],
)

const model: Schema = record(
  {
    id: text,
    object: { type: 'string', const: 'model' },
    created: unixS,
    owned_by: text,
    shutdown_date: { type: 'null' },
    task: { type: 'string', enum: ['text-to-speech', 'automatic-speech-recognition'] },
    root: { type: 'string', description: 'The model that answers to this id: itself, or what an alias stands for.' },
    name: text,
    languages: { type: 'array', items: text, description: 'BCP-47.' },
    sample_rate: { type: 'integer', description: 'Hertz.' },
    max_input_chars: { type: 'integer', description: 'Of speech models: the longest input, in code points.' },
  },
  'OpenAI’s model record and some fields more.',
  ['max_input_chars'],
)

const account: Schema = record({
  object: { type: 'string', const: 'account' },
  id: text,
  user_id: { type: 'string', description: 'The same as `id`.' },
  name: text,
  email: { type: 'null' },
  role: { type: 'string', enum: ['user', 'admin'] },
  is_admin: { type: 'boolean' },
  created_at: unixS,
  key: record(
    {
      object: { type: 'string', const: 'api_key' },
      id: text,
      name: text,
      prefix: { type: 'string', description: 'What may be shown of the secret.' },
      unrestricted: { type: 'boolean' },
      scopes: {
        type: ['array', 'null'],
        items: { type: 'string', enum: ['tts', 'voices', 'usage'] },
        description: '`null`: unrestricted.',
      },
      created_at: unixS,
      expires_at: unixOrNull,
      last_used_at: unixOrNull,
    },
    'The key of this request.',
  ),
  currency: { type: 'string', const: 'usd' },
  balance_micros: balance,
  voices: record({ owned: count, limit: { type: ['integer', 'null'], description: '`null`: exempt.' } }),
  clones: record({ used: count, free_allowance: count, free_remaining: count, price_micros: micros }),
  limits: record({
    max_input_chars: count,
    max_clip_bytes: count,
    speech_requests_per_minute: count,
    speech_concurrency: count,
    max_transcription_bytes: count,
    max_transcription_seconds: count,
    transcription_requests_per_minute: count,
    transcription_concurrency: count,
    operation_requests_per_minute: count,
  }),
})

const group: Record<string, Schema> = {
  model: { ...textOrNull, description: '`null` unless grouped by it.' },
  api_key_id: { ...textOrNull, description: '`null` unless grouped by it.' },
  project_id: { type: 'null' },
  user_id: { type: 'null' },
}
const resultKind = (name: string): Schema => ({ type: 'string', const: name })

const usageResult: Schema = {
  oneOf: [
    record({
      object: resultKind('organization.usage.audio_speeches.result'),
      characters: count,
      audio_seconds: { type: 'number' },
      num_model_requests: count,
      charged_micros: micros,
      ...group,
    }),
    record({
      object: resultKind('organization.usage.audio_transcriptions.result'),
      seconds: count,
      num_model_requests: count,
      charged_micros: micros,
      ...group,
    }),
    record({
      object: resultKind('usage.voice_clones.result'),
      num_clones: count,
      num_free: count,
      charged_micros: micros,
      refunded_micros: micros,
      ...group,
    }),
  ],
}

const usagePage: Schema = record({
  object: { type: 'string', const: 'page' },
  start_time: unixS,
  end_time: unixS,
  currency: { type: 'string', const: 'usd' },
  data: {
    type: 'array',
    items: record({
      object: { type: 'string', const: 'bucket' },
      start_time: unixS,
      end_time: unixS,
      results: { type: 'array', items: usageResult },
    }),
  },
  has_more: { type: 'boolean' },
  next_page: { ...textOrNull, description: 'What to send as `page`.' },
  totals: record(
    {
      speech: record({ requests: count, characters: count, audio_seconds: { type: 'number' }, charged_micros: micros }),
      transcription: record({ requests: count, seconds: count, charged_micros: micros }),
      clones: record({ requests: count, free: count, charged_micros: micros, refunded_micros: micros }),
      charged_micros: micros,
    },
    'Over the whole span, not over this page.',
  ),
  balance_micros: balance,
})

const check = (...states: string[]): Schema => ({ type: 'string', enum: states })

const bytesOfCard = (what: string): Schema => ({ ...count, description: `Of the graphics card: ${what}.` })
const deviceFields = {
  device: { ...text, description: '`cpu`, or `cuda:N`.' },
  reason: { ...textOrNull, description: 'Why it is the CPU, where that was not asked for.' },
  memory_used_bytes: bytesOfCard('what all programs have taken'),
  memory_total_bytes: bytesOfCard('what there is'),
}
const ofCards = ['memory_used_bytes', 'memory_total_bytes']

const readiness: Schema = record(
  {
    status: { type: 'string', enum: ['ready', 'loading', 'degraded', 'draining'] },
    checks: record({
      database: check('ok', 'failed'),
      tts: check('ok', 'loading', 'degraded', 'failed'),
      transcription: check('ok', 'loading', 'degraded', 'failed', 'unavailable'),
      disk: check('ok', 'full', 'read_only', 'failed'),
      uploads: check('ok', 'failed'),
    }),
    devices: {
      type: 'object',
      description: 'Where each task runs, and why there.',
      additionalProperties: record(
        { ...deviceFields, others: { type: 'array', items: record(deviceFields, '', ofCards) } },
        'Where there are several devices, the others follow the first.',
        [...ofCards, 'others'],
      ),
    },
    models: {
      type: 'array',
      description:
        'In memory now, on their way there, or of no use; while one is being loaded, perhaps not all of the others.',
      items: record(
        {
          id: text,
          task: text,
          state: { type: 'string', enum: ['loaded', 'loading', 'failed'] },
          reason: { ...text, description: 'What is wrong with one that has failed.' },
          device: textOrNull,
          memory_bytes: countOrNull,
          active_streams: count,
          idle_seconds_left: { ...countOrNull, description: 'null: in use, or kept for ever.' },
        },
        '',
        ['reason'],
      ),
    },
  },
  '',
  ['devices', 'models'],
)

export const recordSchemas: Record<string, Schema> = {
  Operation: operation,
  Cancelled: record({ ok: { type: 'boolean', description: 'Whether running work was signalled.' } }),
  Model: model,
  ModelList: listOf('Model', page),
  SpeechModelList: listOf('Model', { models: { type: 'array', items: record({ id: text, name: text }) } }),
  Account: account,
  UsagePage: usagePage,
  Health: record({ status: { type: 'string', const: 'ok' }, version: text, uptime_seconds: count }),
  Readiness: readiness,
  Service: record({ name: text, version: text, api_version: { type: 'string', const: 'v1' } }),
}
