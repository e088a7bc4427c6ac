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

/** Where the database runs on the event loop: a few milliseconds' worth, after which others get their turn. */
const partRows = 4000

/**
 * Buckets without work have no row. In order of time, then type. A clone whose price was refunded in full is not among
 * the requests; only its refund is reported. The sums are those of one moment.
 */
export async function sumUsage(sql: Sql, query: UsageQuery): Promise<UsageRow[]> {
  if (!sql.dialect.isOnLoop) return (await sumPart(sql, query, { ...query, lastId: null })).map(usageOf)
  // Rows are only ever added, with growing ids: what comes later is left out.
  const { lastId } = (await sql.get<{ lastId: number }>('SELECT coalesce(max(id), 0) AS lastId FROM usage')) ?? {
    lastId: 0,
  }
  const sums = new Sums()
  for (let fromMs = query.startMs; fromMs < query.endMs;) {
    const endMs = await endOfPart(sql, query, fromMs)
    sums.add(await sumPart(sql, query, { startMs: fromMs, endMs, lastId }))
    fromMs = endMs
    // An awaited promise that is settled already lets no I/O in between.
    if (fromMs < query.endMs) await Bun.sleep(0)
  }
  return sums.rows().map(usageOf)
}

interface Part {
  startMs: number
  endMs: number
  /** Of the last row that counts; null: all do. */
  lastId: number | null
}

/** Where the next rows end that are few enough for one statement; at least a millisecond later. */
async function endOfPart(sql: Sql, { endMs, accountId }: UsageQuery, fromMs: number): Promise<number> {
  const next = await sql.get<{ at: number }>(
    `SELECT settled_at_ms AS at FROM usage
     WHERE settled_at_ms >= $fromMs AND settled_at_ms < $endMs ${ofAccount(accountId)}
     ORDER BY settled_at_ms LIMIT 1 OFFSET $partRows`,
    { fromMs, endMs, partRows, ...(accountId !== null && { accountId }) },
  )
  return next === null ? endMs : Math.max(next.at, fromMs + 1)
}

const ofAccount = (accountId: string | null): string => (accountId === null ? '' : 'AND account_id = $accountId')

function sumPart(sql: Sql, query: UsageQuery, { startMs, endMs, lastId }: Part): Promise<UsageSums[]> {
  const group = (name: UsageQuery['groupBy'][number], column: string): string =>
    query.groupBy.includes(name) ? column : 'NULL'
  return sql.all<UsageSums>(
    `SELECT $originMs + (settled_at_ms - $originMs) / $bucketMs * $bucketMs AS bucket_start_ms, type,
       ${group('model', 'model')} AS model, ${group('api_key_id', 'key_id')} AS key_id,
       ${group('account', 'usage.account_id')} AS account_id,
       count(*) FILTER (WHERE charged_micros > 0 OR refunded_micros = 0) AS requests,
       ${sum('characters')} AS characters,
       ${sum('audio_ms')} AS audio_ms, ${sum('charged_micros')} AS charged_micros,
       ${sum('refunded_micros')} AS refunded_micros,
       ${sum('free')} AS free
     FROM usage
     WHERE settled_at_ms >= $startMs AND settled_at_ms < $endMs AND (type <> 'transcription' OR audio_ms > 0)
       ${ofAccount(query.accountId)} ${lastId === null ? '' : 'AND id <= $lastId'}
     GROUP BY 1, 2, 3, 4, 5
     ORDER BY 1, 2, 3, 4, 5`,
    {
      originMs: query.startMs,
      bucketMs: query.bucketMs,
      startMs,
      endMs,
      ...(lastId !== null && { lastId }),
      ...(query.accountId !== null && { accountId: query.accountId }),
    },
  )
}

/** The sums of parts, put together. They come in order of time, so only the last bucket can still grow. */
class Sums {
  readonly #rows: UsageSums[] = []
  /** The last bucket, by what it is grouped by. */
  readonly #last = new Map<string, UsageSums>()
  #lastStartMs: number | null = null

  add(rows: readonly UsageSums[]): void {
    for (const row of rows) {
      if (row.bucket_start_ms !== this.#lastStartMs) this.#endBucket()
      this.#lastStartMs = row.bucket_start_ms
      const group = JSON.stringify([row.type, row.model, row.key_id, row.account_id])
      const known = this.#last.get(group)
      if (known === undefined) this.#last.set(group, row)
      else for (const field of summed) known[field] += row[field]
    }
  }

  rows(): UsageSums[] {
    this.#endBucket()
    return this.#rows
  }

  #endBucket(): void {
    for (const [, row] of [...this.#last].sort(([a], [b]) => (a < b ? -1 : 1))) this.#rows.push(row)
    this.#last.clear()
  }
}

const summed = ['requests', 'characters', 'audio_ms', 'charged_micros', 'refunded_micros', 'free'] as const

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
