/** The records of operations, models, accounts and the server, each with an example (docs/api.md 4, 5, 6 and 9). */
import { outcomes } from '../../domain/operation.ts'
import { exampleOperationId } from '../error-codes.ts'
import * as is from './shapes.ts'
import type { Shape } from './shapes.ts'

/** Why something did not complete. */
export const fault: Shape = {
  schema: {
    description: 'Why it did not complete.',
    anyOf: [is.record({ code: is.text(), message: is.text() }).schema, { type: 'null' }],
  },
  example: null,
}

const operationFields = {
  id: is.matching('^op_[0-9A-HJKMNP-TV-Z]{26}$', exampleOperationId),
  object: is.constant('operation'),
  type: is.oneOf(['speech', 'clone'], 'speech'),
  state: is.oneOf(['pending', 'terminal'], 'terminal'),
  outcome: is.oneOrNull(outcomes, 'completed', '`null` while pending.'),
  charged_micros: is.micros(675, 'Millionths of a US dollar. While pending, the reserved price.'),
  completion_bytes: is.whole(
    153600,
    'Only for completed speech: PCM bytes delivered, in any format, without a header.',
  ),
  created_at: is.unixS(1763712000),
  settled_at: is.unixOrNull(1763712003),
  expires_at: is.unixOrNull(1763715603, 'When the record may be removed; `null` while pending.'),
  voice_id: is.textOrNull('wren'),
  error: fault,
}

const operation = is.record(
  operationFields,
  'The record of one accepted speech request or clone. It is removed one hour after settlement, or 24 hours after ' +
    'creation if an idempotency key was sent.',
  ['completion_bytes'],
)

const listedFields = {
  ...operationFields,
  model: is.text('hibari'),
  input_chars: is.count(45),
  price_micros: is.micros(675),
  key_id: is.text('key_01KAJ5ZV0A1B2C3D4E5F6G7H8J'),
}

const listedOperation = is.record(listedFields, 'An operation in a list.', ['completion_bytes'])

const adminOperation = is.record(
  {
    ...listedFields,
    account_id: is.text('acct_01KAJ5ZV0A1B2C3D4E5F6G7H8J'),
    account: is.text('ada', 'Name of the account.'),
    key: is.text('laptop', 'Name of the key.'),
    wait_ms: is.countOrNull(12, 'From its creation until work began; `null`: not yet, or never.'),
    first_audio_ms: is.countOrNull(140, 'From its creation to the first audio.'),
    duration_ms: is.countOrNull(2900, 'From its creation to its end; `null` while pending.'),
  },
  'An operation of any account.',
  ['completion_bytes'],
)

const model = is.record(
  {
    id: is.text('hibari'),
    object: is.constant('model'),
    created: is.unixS(1646092800),
    owned_by: is.text('myna'),
    shutdown_date: is.nothing,
    task: is.oneOf(['text-to-speech', 'automatic-speech-recognition'], 'text-to-speech'),
    root: is.text('hibari', 'The model behind this id: itself, or the one an alias stands for.'),
    name: is.text('hibari'),
    languages: is.list(is.text('en'), 'BCP-47.'),
    sample_rate: is.whole(24000, 'Hertz.'),
    verified: is.flag(true, 'False: the operator’s own files, such as a fine-tune, which no hash vouches for.'),
    max_input_chars: is.whole(4096, 'Speech models only: the longest input, in code points.'),
  },
  'OpenAI’s model record, with more fields.',
  ['max_input_chars'],
)

const accountId = 'acct_01KAJ5ZV0A1B2C3D4E5F6G7H8J'
const balance = is.wholeOrNull(
  4999325,
  'Millionths of a US dollar, net of reservations. `null`: unmetered, never blocked.',
)

const account = is.record({
  object: is.constant('account'),
  id: is.text(accountId),
  user_id: is.text(accountId, 'The same as `id`.'),
  name: is.text('workshop'),
  email: is.nothing,
  role: is.oneOf(['user', 'admin'], 'user'),
  is_admin: is.flag(false),
  created_at: is.unixS(1763712000),
  key: is.record(
    {
      object: is.constant('api_key'),
      id: is.text('key_01KAJ5ZV1A1B2C3D4E5F6G7H8J'),
      name: is.text('laptop'),
      prefix: is.text('sk-myna-AbCd', 'The part of the secret that may be shown.'),
      unrestricted: is.flag(false),
      scopes: {
        schema: {
          type: ['array', 'null'],
          items: { type: 'string', enum: ['tts', 'voices', 'usage'] },
          description: '`null`: unrestricted.',
        },
        example: ['tts', 'usage'],
      },
      created_at: is.unixS(1763712000),
      expires_at: is.unixOrNull(null),
      last_used_at: is.unixOrNull(1763715600),
    },
    'The key of this request.',
  ),
  currency: is.constant('usd'),
  balance_micros: balance,
  voices: is.record({ owned: is.count(3), limit: is.wholeOrNull(100, '`null`: exempt.') }),
  clones: is.record({
    used: is.count(3),
    free_allowance: is.count(10),
    free_remaining: is.count(7),
    price_micros: is.micros(1000000),
  }),
  limits: is.record({
    max_input_chars: is.count(4096),
    max_clip_bytes: is.count(10485760),
    requests_per_minute: is.count(600),
    speech_requests_per_minute: is.count(300),
    speech_concurrency: is.count(16),
    max_transcription_bytes: is.count(26214400),
    max_transcription_seconds: is.count(10860),
    transcription_requests_per_minute: is.count(60),
    transcription_concurrency: is.count(2),
    operation_requests_per_minute: is.count(600),
  }),
})

const group: Record<string, Shape> = {
  model: is.textOrNull(null, '`null` unless grouped by it.'),
  api_key_id: is.textOrNull(null, '`null` unless grouped by it.'),
  project_id: is.nothing,
  user_id: is.textOrNull(null, 'An account’s id, for administrators who group by it; otherwise `null`.'),
}
const speechResult = is.record({
  object: is.constant('organization.usage.audio_speeches.result'),
  characters: is.count(45),
  audio_seconds: is.number(3.2),
  num_model_requests: is.count(1),
  charged_micros: is.micros(675),
  ...group,
})
const transcriptionResult = is.record({
  object: is.constant('organization.usage.audio_transcriptions.result'),
  seconds: is.count(),
  num_model_requests: is.count(),
  charged_micros: is.micros(),
  ...group,
})
const cloneResult = is.record({
  object: is.constant('usage.voice_clones.result'),
  num_clones: is.count(),
  num_free: is.count(),
  charged_micros: is.micros(),
  refunded_micros: is.micros(),
  ...group,
})

const usageResult: Shape = {
  schema: { oneOf: [speechResult.schema, transcriptionResult.schema, cloneResult.schema] },
  example: speechResult.example,
}
const bucket = is.record({
  object: is.constant('bucket'),
  start_time: is.unixS(1763683200),
  end_time: is.unixS(1763712001),
  results: is.list(usageResult),
})

const usagePage = is.record({
  object: is.constant('page'),
  start_time: is.unixS(1761177600),
  end_time: is.unixS(1763712001),
  currency: is.constant('usd'),
  data: is.list(bucket),
  has_more: is.flag(false),
  next_page: is.textOrNull(null, 'Send it as `page`.'),
  totals: is.record(
    {
      speech: is.record({
        requests: is.count(1),
        characters: is.count(45),
        audio_seconds: is.number(3.2),
        charged_micros: is.micros(675),
      }),
      transcription: is.record({ requests: is.count(0), seconds: is.count(0), charged_micros: is.micros(0) }),
      clones: is.record({
        requests: is.count(0),
        free: is.count(0),
        charged_micros: is.micros(0),
        refunded_micros: is.micros(0),
      }),
      charged_micros: is.micros(675),
    },
    'Over the whole span, not only this page.',
  ),
  balance_micros: balance,
})

const device = (name?: string, reason?: null) => ({
  device: is.text(name, '`cpu` or `cuda:N`.'),
  reason: is.textOrNull(reason, 'Why it is the CPU, if the CPU was not asked for.'),
  memory_used_bytes: is.count(undefined, 'Of the graphics card: used by all programs.'),
  memory_total_bytes: is.count(undefined, 'Of the graphics card: in all.'),
})
const onlyOfCards = ['memory_used_bytes', 'memory_total_bytes']
const loadStates = ['ok', 'loading', 'degraded', 'failed']

const readiness = is.record(
  {
    status: is.oneOf(['ready', 'loading', 'degraded', 'draining'], 'ready'),
    checks: is.record({
      database: is.oneOf(['ok', 'failed'], 'ok'),
      tts: is.oneOf(loadStates, 'ok'),
      transcription: is.oneOf([...loadStates, 'unavailable'], 'unavailable'),
      disk: is.oneOf(['ok', 'full', 'read_only', 'failed'], 'ok'),
      uploads: is.oneOf(['ok', 'failed'], 'ok'),
    }),
    devices: {
      schema: {
        type: 'object',
        description: 'Where each task runs, and why.',
        additionalProperties: is.record(
          { ...device(), others: { schema: is.list(is.record(device(), '', onlyOfCards)).schema, example: undefined } },
          'The first device; if there are several, the others follow.',
          [...onlyOfCards, 'others'],
        ).schema,
      },
      example: { tts: { device: 'cpu', reason: null } },
    },
    models: is.list(
      is.record(
        {
          id: is.text('hibari'),
          task: is.text('text-to-speech'),
          state: is.oneOf(['loaded', 'loading', 'failed'], 'loaded'),
          reason: is.text(undefined, 'Why it failed.'),
          device: is.textOrNull('cpu'),
          memory_bytes: is.countOrNull(150_000_000),
          active_streams: is.count(0),
          idle_seconds_left: is.countOrNull(287, '`null`: in use, or kept forever.'),
        },
        '',
        ['reason'],
      ),
      'Loaded, being loaded, or unusable. While one is being loaded, others may be missing.',
    ),
  },
  '',
  ['devices', 'models'],
)

const modelRef = is.named('Model', model)

export const records = {
  Operation: operation,
  OperationList: is.listOf(listedOperation, { has_more: is.flag(false, 'Whether older ones exist.') }),
  AdminOperation: adminOperation,
  AdminOperationList: is.listOf(is.named('AdminOperation', adminOperation), {
    has_more: is.flag(false, 'Whether older ones exist.'),
  }),
  Cancelled: is.record({ ok: is.flag(true, 'Whether running work was signalled.') }),
  Model: model,
  ModelList: is.listOf(modelRef, is.page('hibari')),
  DeletedModel: is.record({
    id: is.text('whisper-base'),
    object: is.constant('model'),
    deleted: is.flag(true),
    freed_bytes: is.count(77_000_000, 'Files that other models share stay.'),
  }),
  SpeechModelList: is.listOf(modelRef, {
    models: is.list(is.record({ id: is.text('hibari'), name: is.text('hibari') })),
  }),
  Account: account,
  UsagePage: usagePage,
  Health: is.record({ status: is.constant('ok'), version: is.text('0.1.0'), uptime_seconds: is.count(3600) }),
  Readiness: readiness,
  Service: is.record({ name: is.text('myna'), version: is.text('0.1.0'), api_version: is.constant('v1') }),
}
