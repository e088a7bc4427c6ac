/**
 * Usage reports: sums by time and group, made by the database, so that a year of requests never passes through memory.
 * Running work has no row here, and a transcription of which nothing was processed does not count.
 */
import type { UsageQuery, UsageRow } from '../service/ports/records.ts'
import type { Sql } from './database.ts'

interface UsageSums {
  bucket_start_ms: number
  type: UsageRow['type']
  model: string | null
  key_id: string | null
  account_id: string | null
  requests: number
  characters: number
  audio_ms: number
  charged_micros: number
  refunded_micros: number
  free: number
}

/** A sum of bigint is a numeric to PostgreSQL. */
const sum = (column: string): string => `CAST(sum(${column}) AS BIGINT)`

/**
 * Buckets without work have no row. In order of time, then type. A clone whose price was refunded in full is not among
 * the requests; only its refund is reported.
 */
export async function sumUsage(sql: Sql, query: UsageQuery): Promise<UsageRow[]> {
  const group = (name: UsageQuery['groupBy'][number], column: string): string =>
    query.groupBy.includes(name) ? column : 'NULL'
  const rows = await sql.all<UsageSums>(
    `SELECT $startMs + (settled_at_ms - $startMs) / $bucketMs * $bucketMs AS bucket_start_ms, type,
       ${group('model', 'model')} AS model, ${group('api_key_id', 'key_id')} AS key_id,
       ${group('account', 'account_id')} AS account_id,
       count(*) FILTER (WHERE charged_micros > 0 OR refunded_micros = 0) AS requests,
       ${sum('characters')} AS characters,
       ${sum('audio_ms')} AS audio_ms, ${sum('charged_micros')} AS charged_micros,
       ${sum('refunded_micros')} AS refunded_micros,
       ${sum('free')} AS free
     FROM usage
     WHERE settled_at_ms >= $startMs AND settled_at_ms < $endMs AND (type <> 'transcription' OR audio_ms > 0)
       ${query.accountId === null ? '' : 'AND usage.account_id = $accountId'}
     GROUP BY 1, 2, 3, 4, 5
     ORDER BY 1, 2, 3, 4, 5`,
    {
      startMs: query.startMs,
      endMs: query.endMs,
      bucketMs: query.bucketMs,
      ...(query.accountId === null ? {} : { accountId: query.accountId }),
    },
  )
  return rows.map(usageOf)
}

const usageOf = (row: UsageSums): UsageRow => ({
  bucketStartMs: row.bucket_start_ms,
  type: row.type,
  model: row.model,
  keyId: row.key_id,
  accountId: row.account_id,
  requests: row.requests,
  characters: row.characters,
  audioMs: row.audio_ms,
  chargedMicros: row.charged_micros,
  refundedMicros: row.refunded_micros,
  free: row.free,
})
