/**
 * The usage report: OpenAI's page of time buckets, and totals over the whole span, so that the total charge is known
 * without paging. The database computes the sums.
 */
import type { Account } from '../domain/account.ts'
import type { Clock } from '../domain/time.ts'
import type { Ledger } from '../service/ports.ts'
import type { UsageQuery, UsageRow } from '../service/ports/records.ts'
import { parseQuery, type Values, withDefault } from './fields/field.ts'
import { choice, choices, text, unixTime, wholeNumber } from './fields/kinds.ts'
import { invalidInput } from './invalid.ts'
import { type Bucket, usagePageRecord } from './usage-record.ts'

const widths = { '1m': 60_000, '1h': 3_600_000, '1d': 86_400_000 } as const
const maxBuckets = 180
const defaultDays = 30
const maxNameChars = 64

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

/** For administrators: of all accounts, or of one. */
export const adminUsageFields = {
  ...usageFields,
  group_by: choices(['model', 'api_key_id', 'user_id'], {
    about: 'One result per model, key, account (`user_id`) or several of them; may be repeated.',
  }),
  account: text({ max: maxNameChars, about: 'Only the account with this name.' }),
}

interface Span {
  startMs: number
  endMs: number
  bucketMs: number
  /** Start of this page. */
  fromMs: number
  /** null: only buckets that are not empty. */
  limit: number | null
  groupBy: UsageQuery['groupBy']
}

type Given = Omit<Values<typeof usageFields>, 'group_by'> & {
  group_by: readonly ('model' | 'api_key_id' | 'user_id')[]
}

/** @throws MynaError `validation_error` */
export async function usagePage(account: Account, query: URLSearchParams, ledger: Ledger, clock: Clock) {
  return usageReport(account, parseQuery(usageFields, query), ledger, clock)
}

/** @param account null: all of them @throws MynaError `validation_error` */
export async function usageReport(account: Account | null, given: Given, ledger: Ledger, clock: Clock) {
  const span = spanOf(given, clock.nowMs())
  const { startMs, endMs, bucketMs } = span
  const ask = (change: Partial<UsageQuery>) =>
    ledger.usage({ accountId: account?.id ?? null, startMs, endMs, bucketMs, groupBy: span.groupBy, ...change })
  const lastMs = span.limit === null ? endMs : Math.min(endMs, span.fromMs + span.limit * bucketMs)
  const rows = await ask({ startMs: span.fromMs, endMs: lastMs })
  const page = bucketsOf(rows, span, lastMs)
  // Asked once where that is everything: work that ends between two questions would be in the totals alone.
  const isAll = span.fromMs === startMs && lastMs === endMs
  const totals = isAll ? rows : await ask({ bucketMs: Math.max(1, endMs - startMs), groupBy: [] })
  return usagePageRecord.of({ startMs, endMs, ...page, totals, balanceMicros: account?.balanceMicros ?? null })
}

function spanOf(given: Given, nowMs: number): Span {
  const bucketMs = widths[given.bucket_width]
  const endMs = given.end_time ?? Math.ceil((nowMs + 1) / 1000) * 1000
  const lastDayMs = Math.floor((endMs - 1) / widths['1d']) * widths['1d']
  const startMs = given.start_time ?? Math.max(0, lastDayMs - (defaultDays - 1) * widths['1d'])
  if (startMs > endMs) throw wrong('start_time', 'input should not be after end_time')
  const fromMs = given.page ?? startMs
  if (fromMs < startMs || fromMs > endMs || (fromMs - startMs) % bucketMs !== 0) {
    throw wrong('page', 'input should be a next_page of this query')
  }
  const groupBy = given.group_by.map((field) => (field === 'user_id' ? 'account' : field))
  return { startMs, endMs, bucketMs, fromMs, limit: given.limit, groupBy }
}

const wrong = (field: string, msg: string) => invalidInput(['query', field], msg, 'value_error')

function bucketsOf(rows: readonly UsageRow[], span: Span, lastMs: number) {
  const byStart = Map.groupBy(rows, (row) => row.bucketStartMs)
  const starts = span.limit === null ? [...byStart.keys()].sort((a, b) => a - b) : everyStart(span, lastMs)
  const shown = starts.slice(0, maxBuckets)
  const buckets = shown.map((startMs): Bucket => {
    const endMs = Math.min(startMs + span.bucketMs, span.endMs)
    return { startMs, endMs, rows: byStart.get(startMs) ?? [] }
  })
  const nextMs = starts[shown.length] ?? (span.limit !== null && lastMs < span.endMs ? lastMs : null)
  return { buckets, nextMs }
}

function everyStart(span: Span, lastMs: number): number[] {
  const starts: number[] = []
  for (let at = span.fromMs; at < lastMs; at += span.bucketMs) starts.push(at)
  return starts
}
