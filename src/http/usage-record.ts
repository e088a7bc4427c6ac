/** A page of the usage report, as OpenAI's API shows it, with totals and prices beside (docs/api.md 5). */
import type { UsageRow } from '../service/ports/records.ts'
import { balance } from './account-record.ts'
import * as is from './openapi/shapes.ts'
import { from } from './openapi/shapes.ts'

const group: Readonly<Record<string, is.Sent<UsageRow>>> = {
  model: from(is.textOrNull(null, '`null` unless grouped by it.'), 'model'),
  api_key_id: from(is.textOrNull(null, '`null` unless grouped by it.'), 'keyId'),
  project_id: is.nothing,
  user_id: from(
    is.textOrNull(null, 'An account’s id, for administrators who group by it; otherwise `null`.'),
    'accountId',
  ),
}

const results: Readonly<Record<UsageRow['type'], is.Answer<UsageRow>>> = {
  speech: is.answer('', {
    object: is.constant('organization.usage.audio_speeches.result'),
    characters: from(is.count(45), 'characters'),
    audio_seconds: from(is.number(3.2), (row) => row.audioMs / 1000),
    num_model_requests: from(is.count(1), 'requests'),
    charged_micros: from(is.micros(675), 'chargedMicros'),
    ...group,
  }),
  transcription: is.answer('', {
    object: is.constant('organization.usage.audio_transcriptions.result'),
    seconds: from(is.count(), (row) => Math.ceil(row.audioMs / 1000)),
    num_model_requests: from(is.count(), 'requests'),
    charged_micros: from(is.micros(), 'chargedMicros'),
    ...group,
  }),
  clone: is.answer('', {
    object: is.constant('usage.voice_clones.result'),
    num_clones: from(is.count(), 'requests'),
    num_free: from(is.count(), 'free'),
    charged_micros: from(is.micros(), 'chargedMicros'),
    refunded_micros: from(is.micros(), 'refundedMicros'),
    ...group,
  }),
}

const result: is.Answer<UsageRow> = {
  schema: { oneOf: Object.values(results).map(({ schema }) => schema) },
  example: results.speech.example,
  of: (row) => results[row.type].of(row),
}

/** A span of time with the sums of its work. */
export interface Bucket {
  startMs: number
  endMs: number
  rows: readonly UsageRow[]
}

const bucket = is.answer<Bucket>('', {
  object: is.constant('bucket'),
  start_time: is.unixS(1763683200, 'startMs'),
  end_time: is.unixS(1763712001, 'endMs'),
  results: from(is.list(result), ({ rows }) => rows.map(result.of)),
})

type Sum = 'requests' | 'characters' | 'audioMs' | 'chargedMicros' | 'free' | 'refundedMicros'
const total =
  (type: UsageRow['type'] | null, field: Sum, unit = (sum: number) => sum) =>
  (rows: readonly UsageRow[]): number =>
    unit(rows.filter((row) => type === null || row.type === type).reduce((sum, row) => sum + row[field], 0))

const totals = is.answer<readonly UsageRow[]>('Over the whole span, not only this page.', {
  speech: is.answer('', {
    requests: from(is.count(1), total('speech', 'requests')),
    characters: from(is.count(45), total('speech', 'characters')),
    audio_seconds: from(
      is.number(3.2),
      total('speech', 'audioMs', (ms) => ms / 1000),
    ),
    charged_micros: from(is.micros(675), total('speech', 'chargedMicros')),
  }),
  transcription: is.answer('', {
    requests: from(is.count(0), total('transcription', 'requests')),
    seconds: from(
      is.count(0),
      total('transcription', 'audioMs', (ms) => Math.ceil(ms / 1000)),
    ),
    charged_micros: from(is.micros(0), total('transcription', 'chargedMicros')),
  }),
  clones: is.answer('', {
    requests: from(is.count(0), total('clone', 'requests')),
    free: from(is.count(0), total('clone', 'free')),
    charged_micros: from(is.micros(0), total('clone', 'chargedMicros')),
    refunded_micros: from(is.micros(0), total('clone', 'refundedMicros')),
  }),
  charged_micros: from(is.micros(675), total(null, 'chargedMicros')),
})

export interface UsagePage {
  startMs: number
  endMs: number
  buckets: readonly Bucket[]
  /** Where the next page begins; null: this is the last. */
  nextMs: number | null
  totals: readonly UsageRow[]
  balanceMicros: number | null
}

export const usagePageRecord = is.answer<UsagePage>('', {
  object: is.constant('page'),
  start_time: is.unixS(1761177600, 'startMs'),
  end_time: is.unixS(1763712001, 'endMs'),
  currency: is.constant('usd'),
  data: from(is.list(bucket), ({ buckets }) => buckets.map(bucket.of)),
  has_more: from(is.flag(false), ({ nextMs }) => nextMs !== null),
  next_page: from(is.textOrNull(null, 'Send it as `page`.'), ({ nextMs }) =>
    nextMs === null ? null : String(nextMs / 1000),
  ),
  totals: { ...totals, of: (page) => totals.of(page.totals) },
  balance_micros: from(balance, 'balanceMicros'),
})
