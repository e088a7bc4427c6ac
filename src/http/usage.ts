/**
 * The usage report: OpenAI's page of time buckets, and totals over the whole span, so that the total charge is known
 * without paging. The database computes the sums.
 */
import type { OpenAPIV3_1 } from 'openapi-types'
import type { Account } from '../domain/account.ts'
import type { Clock } from '../domain/time.ts'
import type { Ledger, UsageQuery, UsageRow } from '../service/ports.ts'
import { type Field, isAbsent, parseQuery, withDefault } from './fields/field.ts'
import { choice, choices, wholeNumber } from './fields/kinds.ts'
import { invalidInput } from './invalid.ts'

const widths = { '1m': 60_000, '1h': 3_600_000, '1d': 86_400_000 } as const
const maxBuckets = 180
const defaultDays = 30
/** 4000-01-01: later times are mistakes (usually milliseconds). */
const maxUnixS = 64_060_588_800

/** In seconds as documented, in milliseconds as read. */
const unixTime = (schema: OpenAPIV3_1.SchemaObject): Field<number | null> => ({
  schema,
  codes: [],
  parse: (given, refuse) => {
    if (isAbsent(given)) return null
    if (/^\d{1,11}$/.test(String(given)) && Number(given) <= maxUnixS) return Number(given) * 1000
    throw refuse.invalid(given, 'a unix time in seconds', 'int_parsing')
  },
})

export const usageFields = {
  start_time: unixTime({ type: 'integer', description: 'Unix time in seconds; included.' }),
  end_time: unixTime({ type: 'integer', description: 'Unix time in seconds; not included.' }),
  bucket_width: withDefault(choice(['1m', '1h', '1d'], { about: 'Length of a bucket.' }), '1d'),
  limit: wholeNumber(1, maxBuckets, {
    about: 'Buckets per page, empty ones included. If absent, only buckets that are not empty.',
  }),
  page: unixTime({ type: 'string', description: 'The `next_page` of the previous page.' }),
  group_by: choices(['model', 'api_key_id'], { about: 'One result per model, key or both; may be repeated.' }),
}

interface Span {
  startMs: number
  endMs: number
  bucketMs: number
  /** Start of this page. */
  fromMs: number
  /** null: only buckets that are not empty. */
  limit: number | null
  groupBy: readonly ('model' | 'api_key_id')[]
}

/** @throws MynaError `validation_error` */
export async function usagePage(account: Account, query: URLSearchParams, ledger: Ledger, clock: Clock) {
  const span = parseSpan(query, clock.nowMs())
  const { startMs, endMs, bucketMs } = span
  const ask = (change: Partial<UsageQuery>) =>
    ledger.usage({ accountId: account.id, startMs, endMs, bucketMs, groupBy: span.groupBy, ...change })
  const lastMs = span.limit === null ? endMs : Math.min(endMs, span.fromMs + span.limit * bucketMs)
  const rows = await ask({ startMs: span.fromMs, endMs: lastMs })
  const { data, nextMs } = bucketsOf(rows, span, lastMs)
  const totals = await ask({ bucketMs: Math.max(1, endMs - startMs), groupBy: [] })
  return {
    object: 'page',
    start_time: startMs / 1000,
    end_time: endMs / 1000,
    currency: 'usd',
    data,
    has_more: nextMs !== null,
    next_page: nextMs === null ? null : String(nextMs / 1000),
    totals: totalsOf(totals),
    balance_micros: account.balanceMicros,
  }
}

function parseSpan(query: URLSearchParams, nowMs: number): Span {
  const given = parseQuery(usageFields, query)
  const bucketMs = widths[given.bucket_width]
  const endMs = given.end_time ?? Math.ceil((nowMs + 1) / 1000) * 1000
  const lastDayMs = Math.floor((endMs - 1) / widths['1d']) * widths['1d']
  const startMs = given.start_time ?? Math.max(0, lastDayMs - (defaultDays - 1) * widths['1d'])
  if (startMs > endMs) throw wrong('start_time', 'input should not be after end_time')
  const fromMs = given.page ?? startMs
  if (fromMs < startMs || fromMs > endMs || (fromMs - startMs) % bucketMs !== 0) {
    throw wrong('page', 'input should be a next_page of this query')
  }
  return { startMs, endMs, bucketMs, fromMs, limit: given.limit, groupBy: given.group_by }
}

const wrong = (field: string, msg: string) => invalidInput(['query', field], msg, 'value_error')

function bucketsOf(rows: readonly UsageRow[], span: Span, lastMs: number) {
  const byStart = Map.groupBy(rows, (row) => row.bucketStartMs)
  const starts = span.limit === null ? [...byStart.keys()].sort((a, b) => a - b) : everyStart(span, lastMs)
  const shown = starts.slice(0, maxBuckets)
  const data = shown.map((startMs) => ({
    object: 'bucket',
    start_time: startMs / 1000,
    end_time: Math.min(startMs + span.bucketMs, span.endMs) / 1000,
    results: (byStart.get(startMs) ?? []).map((row) => resultOf(row)),
  }))
  const nextMs = starts[shown.length] ?? (span.limit !== null && lastMs < span.endMs ? lastMs : null)
  return { data, nextMs }
}

function everyStart(span: Span, lastMs: number): number[] {
  const starts: number[] = []
  for (let at = span.fromMs; at < lastMs; at += span.bucketMs) starts.push(at)
  return starts
}

function resultOf(row: UsageRow) {
  const group = { model: row.model, api_key_id: row.keyId, project_id: null, user_id: null }
  if (row.type === 'clone') {
    return {
      object: 'usage.voice_clones.result',
      num_clones: row.requests,
      num_free: row.free,
      charged_micros: row.chargedMicros,
      refunded_micros: row.refundedMicros,
      ...group,
    }
  }
  const common = { num_model_requests: row.requests, charged_micros: row.chargedMicros, ...group }
  return row.type === 'speech'
    ? {
        object: 'organization.usage.audio_speeches.result',
        characters: row.characters,
        audio_seconds: row.audioMs / 1000,
        ...common,
      }
    : { object: 'organization.usage.audio_transcriptions.result', seconds: Math.ceil(row.audioMs / 1000), ...common }
}

function totalsOf(rows: readonly UsageRow[]) {
  const of = (
    type: UsageRow['type'],
    field: 'requests' | 'characters' | 'audioMs' | 'chargedMicros' | 'free' | 'refundedMicros',
  ) => rows.filter((row) => row.type === type).reduce((sum, row) => sum + row[field], 0)
  return {
    speech: {
      requests: of('speech', 'requests'),
      characters: of('speech', 'characters'),
      audio_seconds: of('speech', 'audioMs') / 1000,
      charged_micros: of('speech', 'chargedMicros'),
    },
    transcription: {
      requests: of('transcription', 'requests'),
      seconds: Math.ceil(of('transcription', 'audioMs') / 1000),
      charged_micros: of('transcription', 'chargedMicros'),
    },
    clones: {
      requests: of('clone', 'requests'),
      free: of('clone', 'free'),
      charged_micros: of('clone', 'chargedMicros'),
      refunded_micros: of('clone', 'refundedMicros'),
    },
    charged_micros: rows.reduce((sum, row) => sum + row.chargedMicros, 0),
  }
}
