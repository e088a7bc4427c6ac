/**
 * The boxes of one database: their leases, their notifications, and settling for dead ones. All times are the
 * database's, because the clocks of boxes may differ.
 */
import { SQL } from 'bun'
import { endCrashedListening } from '../../domain/listening.ts'
import { settleCrashed } from '../../domain/operation.ts'
import type { Clock } from '../../domain/time.ts'
import type { BoxNews, BoxReport, Boxes, BoxStatus, OwnPending } from '../../service/ports/boxes.ts'
import type { Sql } from '../database.ts'
import { settleOperation, voiceErrorAfterCrash } from '../ledger/settle.ts'
import { operationOf, type OperationRow } from '../rows.ts'
import { endTranscription } from '../transcriptions.ts'
import type { PostgresDatabase } from './postgres.ts'

export interface BoxesOptions {
  id: string
  name: string
  url: string
  clock: Clock
  leaseMs: number
  /** After the database itself was away: how long the others have to come back. */
  graceMs: number
}

const channel = 'myna'
/** PostgreSQL takes 8000 bytes. */
const maxNewsBytes = 7000
const batch = 500
/** How long a dead box is still shown. */
const forgottenMs = 3_600_000

/** Whether the lease of the box in `box_id` is free: it has run out, or was given back, or never existed. */
const isLost = `NOT EXISTS (
  SELECT 1 FROM boxes WHERE boxes.id = box_id AND lease_until_ms > myna_now_ms()
)`

/** A database that was away has renewed no lease; who is alive comes back first. */
const isSettledIn = `extract(epoch FROM clock_timestamp() - pg_postmaster_start_time()) * 1000 > $graceMs`

export class PostgresBoxes implements Boxes {
  readonly id: string
  readonly #database: PostgresDatabase
  readonly #options: BoxesOptions

  constructor(database: PostgresDatabase, options: BoxesOptions) {
    this.id = options.id
    this.#database = database
    this.#options = options
  }

  async renew(report: BoxReport | null): Promise<void> {
    const { id, name, leaseMs } = this.#options
    await this.#database.run(
      `INSERT INTO boxes (id, name, started_at_ms, lease_until_ms, status)
       VALUES ($id, $name, myna_now_ms(), myna_now_ms() + $leaseMs, $status)
       ON CONFLICT (id) DO UPDATE SET lease_until_ms = myna_now_ms() + $leaseMs, status = $status`,
      { id, name, leaseMs, status: JSON.stringify(report ?? {}) },
    )
  }

  async settleLost(): Promise<{ operations: number; transcriptions: number }> {
    const { graceMs } = this.#options
    const settled = { operations: 0, transcriptions: 0 }
    const lost = await this.#database.all<{ id: string; box_id: string | null }>(
      `SELECT id, box_id FROM operations
       WHERE outcome IS NULL AND ${isLost} AND ${isSettledIn} ORDER BY id LIMIT $batch`,
      { graceMs, batch },
    )
    for (const { id, box_id: boxId } of lost) if (await this.#settle(id, boxId)) settled.operations++
    const unheard = await this.#database.all<{ id: string; box_id: string | null }>(
      `SELECT id, box_id FROM transcriptions WHERE ${isLost} AND ${isSettledIn} ORDER BY id LIMIT $batch`,
      { graceMs, batch },
    )
    for (const { id, box_id: boxId } of unheard) if (await this.#end(id, boxId)) settled.transcriptions++
    await this.#tidy()
    return settled
  }

  #settle(operationId: string, boxId: string | null): Promise<boolean> {
    // For this attempt only: another one of this box must not mistake it for its own.
    const by = `${this.id} settled for ${boxId ?? 'nobody'}, ${crypto.randomUUID()}`
    return this.#database.transaction(async (sql) => {
      if (await holdsLease(sql, boxId)) return false
      return this.#settleAsCrashed(sql, operationId, by)
    })
  }

  async #settleAsCrashed(sql: Sql, operationId: string, by: string): Promise<boolean> {
    const row = await sql.get<OperationRow>('SELECT * FROM operations WHERE id = $operationId', { operationId })
    if (row === null) return false
    const settlement = settleCrashed(operationOf(row))
    const when = { nowMs: this.#options.clock.nowMs(), by }
    const settled = await settleOperation(sql, operationId, settlement, when, voiceErrorAfterCrash(settlement))
    // The box may have died between its last two steps. A failed voice has no files.
    const files = 'DELETE FROM voice_files WHERE voice_id IN (SELECT id FROM voices WHERE operation_id = $operationId)'
    if (settled) await sql.run(files, { operationId })
    return settled
  }

  #end(id: string, boxId: string | null): Promise<boolean> {
    return this.#database.transaction(async (sql) => {
      if (await holdsLease(sql, boxId)) return false
      return this.#endAsCrashed(sql, id)
    })
  }

  async #endAsCrashed(sql: Sql, id: string): Promise<boolean> {
    const row = await sql.get<{ heard_ms: number }>('SELECT heard_ms FROM transcriptions WHERE id = $id', { id })
    if (row === null) return false
    return endTranscription(sql, id, endCrashedListening(row.heard_ms), this.#options.clock.nowMs())
  }

  async #tidy(): Promise<void> {
    await this.#database.run(
      `DELETE FROM boxes WHERE lease_until_ms < myna_now_ms() - $forgottenMs
         AND NOT EXISTS (SELECT 1 FROM operations WHERE box_id = boxes.id AND outcome IS NULL)`,
      { forgottenMs },
    )
  }

  ownPending(): Promise<OwnPending[]> {
    return this.#database
      .all<{ id: string; age_ms: number; asked: number }>(
        `SELECT id, myna_now_ms() - created_at_ms AS age_ms,
           CASE WHEN cancel_requested_at_ms IS NULL THEN 0 ELSE 1 END AS asked
         FROM operations WHERE box_id = $id AND outcome IS NULL
         UNION ALL
         SELECT id, myna_now_ms() - started_at_ms, 0 FROM transcriptions WHERE box_id = $id`,
        { id: this.id },
      )
      .then((rows) => rows.map(({ id, age_ms: ageMs, asked }) => ({ id, ageMs, cancelRequested: asked === 1 })))
  }

  async settleOrphan(id: string): Promise<void> {
    await this.#database.transaction((sql) =>
      id.startsWith('op_')
        ? this.#settleAsCrashed(sql, id, `${this.id} settled an orphan`)
        : this.#endAsCrashed(sql, id),
    )
  }

  async askToCancel(operationId: string): Promise<void> {
    await this.#database.transaction(async (sql) => {
      await sql.run(
        `UPDATE operations SET cancel_requested_at_ms = myna_now_ms()
         WHERE id = $operationId AND outcome IS NULL AND cancel_requested_at_ms IS NULL`,
        { operationId },
      )
      await notify(sql, this.id, { kind: 'cancel', operationId })
    })
  }

  async tell(news: BoxNews): Promise<void> {
    try {
      await notify(this.#database, this.id, news)
    } catch {
      // A box that was away reads the tables.
    }
  }

  async listen(onNews: (news: BoxNews) => void, onListening: () => void): Promise<() => Promise<void>> {
    const client = new SQL(this.#options.url, { adapter: 'postgres', max: 1, idleTimeout: 0, maxLifetime: 0 })
    const hear = (payload: string): void => {
      const { from, news } = JSON.parse(payload) as { from: string; news: BoxNews }
      if (from !== this.id) onNews(news)
    }
    await client.listen(channel, hear, onListening)
    return () => client.close({ timeout: 0 })
  }

  async list(): Promise<BoxStatus[]> {
    const rows = await this.#database.all<{
      id: string
      name: string
      started_at_ms: number
      left_ms: number
      status: string
    }>('SELECT id, name, started_at_ms, lease_until_ms - myna_now_ms() AS left_ms, status FROM boxes ORDER BY name, id')
    return rows.map((row) => ({
      id: row.id,
      name: row.name,
      isThisOne: row.id === this.id,
      startedAtMs: row.started_at_ms,
      leaseLeftMs: row.left_ms,
      report: row.status === '{}' ? null : (JSON.parse(row.status) as BoxReport),
    }))
  }

  async leave(): Promise<void> {
    await this.#database.run('DELETE FROM boxes WHERE id = $id', { id: this.id })
  }
}

/** Locks the row, so that the box cannot renew its lease while its work is settled. */
async function holdsLease(sql: Sql, boxId: string | null): Promise<boolean> {
  if (boxId === null) return false
  const row = await sql.get<{ left_ms: number }>(
    'SELECT lease_until_ms - myna_now_ms() AS left_ms FROM boxes WHERE id = $boxId FOR UPDATE',
    { boxId },
  )
  return row !== null && row.left_ms > 0
}

async function notify(sql: Sql, from: string, news: BoxNews): Promise<void> {
  const payload = JSON.stringify({ from, news })
  if (Buffer.byteLength(payload) > maxNewsBytes) throw new Error('The news are too long for one message')
  await sql.all('SELECT pg_notify($channel, $payload)', { channel, payload })
}
