/**
 * The usage report: OpenAI's page of time buckets, and totals over the whole span, so that the total charge is known
 * without paging. The database computes the sums.
 */
import type { Account } from '../domain/account.ts'
import type { Clock } from '../domain/time.ts'
import type { Ledger, UsageQuery, UsageRow } from '../service/ports.ts'
import { invalidInput } from './invalid.ts'

const widths = { '1m': 60_000, '1h': 3_600_000, '1d': 86_400_000 } as const
const maxBuckets = 180
const defaultDays = 30
/** 4000-01-01: later times are mistakes (usually milliseconds). */
const maxUnixS = 64_060_588_800

interface Span {
  startMs: number
  endMs: number
  bucketMs: number
  /** Start of this page. */
  fromMs: number
  /** null: only buckets that are not empty. */
  limit: number | null
  groupBy: ('model' | 'api_key_id')[]
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
  const width = query.get('bucket_width') ?? '1d'
  if (!isWidth(width)) throw wrong('bucket_width', "input should be '1m', '1h' or '1d'", 'enum')
  const bucketMs = widths[width]
  const endMs = unixMs(query, 'end_time') ?? Math.ceil((nowMs + 1) / 1000) * 1000
  const lastDayMs = Math.floor((endMs - 1) / widths['1d']) * widths['1d']
  const startMs = unixMs(query, 'start_time') ?? Math.max(0, lastDayMs - (defaultDays - 1) * widths['1d'])
  if (startMs > endMs) throw wrong('start_time', 'input should not be after end_time', 'value_error')
  const limitText = query.get('limit')
  const limit = limitText === null ? null : Number(limitText)
  if (limit !== null && !(Number.isInteger(limit) && limit >= 1 && limit <= maxBuckets)) {
    throw wrong('limit', `input should be a whole number from 1 to ${maxBuckets}`, 'int_parsing')
  }
  const fromMs = unixMs(query, 'page') ?? startMs
  if (fromMs < startMs || fromMs > endMs || (fromMs - startMs) % bucketMs !== 0) {
    throw wrong('page', 'input should be a next_page of this query', 'value_error')
  }
  return { startMs, endMs, bucketMs, fromMs, limit, groupBy: groupsOf(query) }
}

/** Excludes names that every object inherits, such as `constructor`. */
const isWidth = (given: string): given is keyof typeof widths => Object.hasOwn(widths, given)

function groupsOf(query: URLSearchParams): Span['groupBy'] {
  const given = [...query.getAll('group_by'), ...query.getAll('group_by[]')].flatMap((value) => value.split(','))
  return [...new Set(given.filter((value) => value !== ''))].map((value) => {
    if (value === 'model' || value === 'api_key_id') return value
    throw wrong('group_by', "input should be 'model' or 'api_key_id'", 'enum')
  })
}

function unixMs(query: URLSearchParams, field: string): number | null {
  const given = query.get(field)
  if (given === null || given === '') return null
  if (!/^\d{1,11}$/.test(given) || Number(given) > maxUnixS) {
    throw wrong(field, 'input should be a unix time in seconds', 'int_parsing')
  }
  return Number(given) * 1000
}

const wrong = (field: string, msg: string, type: string) => invalidInput(['query', field], msg, type)

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
