/**
 * Settlement: an operation goes from pending to terminal once. The functions here run inside one transaction of
 * `ledger` and await nothing.
 */
import { expiresAtMs, releasesKey, settleCrashed } from '../../domain/operation.ts'
import type { Operation, OperationError, Outcome, Settlement } from '../../domain/operation.ts'
import type { Sql } from '../database.ts'
import { book } from './entries.ts'
import { operationOf } from '../rows.ts'
import type { OperationRow } from '../rows.ts'

/** When, and who writes it: unique to one settlement of one operation; null on a box that is alone. */
export interface SettledBy {
  nowMs: number
  by: string | null
}

/**
 * Writes the outcome, refunds what was reserved in excess, counts the usage and frees the key if the domain says so. A
 * clone's voice ends with it, so that it cannot be left as processing.
 * @param voiceError why the voice failed, if its owner should see another reason than the operation's error
 * @returns whether this settlement counts: false if no such operation was pending; then nothing was written
 */
export async function settleOperation(
  sql: Sql,
  operationId: string,
  settlement: Settlement,
  { nowMs, by }: SettledBy,
  voiceError = settlement.error,
): Promise<boolean> {
  await lockAccountOf(sql, operationId)
  const row = await sql.get<OperationRow>('SELECT * FROM operations WHERE id = $operationId AND outcome IS NULL', {
    operationId,
  })
  if (row === null) return isSettledBy(sql, operationId, by)
  const operation = operationOf(row)
  // The compare-and-set, which holds without any lock.
  if ((await end(sql, operation, settlement, { nowMs, by })) === 0) return isSettledBy(sql, operationId, by)
  const refundMicros = operation.priceMicros - settlement.chargedMicros
  if (refundMicros > 0) {
    await book(sql, {
      accountId: operation.accountId,
      operationId,
      kind: 'refund',
      amountMicros: -refundMicros,
      nowMs,
    })
  }
  if (operation.type === 'clone') await endVoice(sql, operationId, settlement.outcome, voiceError, nowMs)
  if (counts(operation, settlement)) await countUse(sql, row, settlement, nowMs)
  return true
}

/**
 * Whether an operation was ended by this very attempt. The answer to its COMMIT may have been lost, and a repeated
 * attempt must not mistake its own work for another's.
 */
export async function isSettledBy(sql: Sql, operationId: string, by: string | null): Promise<boolean> {
  if (by === null) return false
  const own = 'SELECT 1 AS found FROM operations WHERE id = $operationId AND settled_by = $by'
  return (await sql.get(own, { operationId, by })) !== null
}

/** Like `lockAccount`, by the operation: it never changes its account. */
async function lockAccountOf(sql: Sql, operationId: string): Promise<void> {
  const { forUpdate } = sql.dialect
  if (forUpdate === '') return
  const account = 'SELECT account_id FROM operations WHERE id = $operationId'
  await sql.get(`SELECT id FROM accounts WHERE id = (${account})${forUpdate}`, { operationId })
}

/** Work that delivered or cost something; for clones also refunds, because they are charged in advance. */
const counts = (operation: Operation, settlement: Settlement): boolean =>
  settlement.outcome === 'completed' ||
  settlement.chargedMicros > 0 ||
  (operation.type === 'clone' && operation.priceMicros > 0)

async function end(sql: Sql, operation: Operation, settlement: Settlement, { nowMs, by }: SettledBy): Promise<number> {
  // To name the column would rewrite its index, also where nothing is released.
  const release = releasesKey(settlement) ? ', idempotency_hash = NULL' : ''
  return sql.run(
    `UPDATE operations SET outcome = $outcome, charged_micros = $chargedMicros, completion_bytes = $completionBytes,
       error_code = $errorCode, error_message = $errorMessage, settled_at_ms = $nowMs, expires_at_ms = $expiresAtMs,
       settled_by = $by${release}
     WHERE id = $id AND outcome IS NULL`,
    {
      id: operation.id,
      outcome: settlement.outcome,
      chargedMicros: settlement.chargedMicros,
      completionBytes: settlement.completionBytes,
      errorCode: settlement.error?.code ?? null,
      errorMessage: settlement.error?.message ?? null,
      nowMs,
      by,
      expiresAtMs: expiresAtMs({ ...operation, settledAtMs: nowMs }),
    },
  )
}

async function countUse(sql: Sql, row: OperationRow, settlement: Settlement, nowMs: number): Promise<void> {
  await sql.run(
    `INSERT INTO usage (account_id, key_id, operation_id, type, model, characters, audio_ms, charged_micros,
       refunded_micros, free, settled_at_ms)
     VALUES ($accountId, $keyId, $operationId, $type, $model, $characters, $audioMs, $chargedMicros,
       $refundedMicros, $free, $nowMs)`,
    {
      accountId: row.account_id,
      keyId: row.key_id,
      operationId: row.id,
      type: row.type,
      model: row.model,
      characters: settlement.usedChars,
      audioMs: settlement.audioMs,
      chargedMicros: settlement.chargedMicros,
      refundedMicros: row.price_micros - settlement.chargedMicros,
      free: row.free,
      nowMs,
    },
  )
}

/** A failed voice gives its aliases up: the owner will want them for the next attempt. */
async function endVoice(
  sql: Sql,
  operationId: string,
  outcome: Outcome,
  error: OperationError | null,
  nowMs: number,
): Promise<void> {
  const failure = outcome === 'completed' ? null : (error ?? { code: outcome, message: 'The voice was not made.' })
  await sql.run(
    `UPDATE voices SET status = $status, error_code = $errorCode, error_message = $errorMessage, updated_at_ms = $nowMs
     WHERE operation_id = $operationId`,
    {
      operationId,
      status: failure === null ? 'ready' : 'failed',
      errorCode: failure?.code ?? null,
      errorMessage: failure?.message ?? null,
      nowMs,
    },
  )
  if (failure === null) return
  await sql.run(
    'DELETE FROM voice_aliases WHERE voice_id = (SELECT id FROM voices WHERE operation_id = $operationId)',
    {
      operationId,
    },
  )
}

/**
 * Settles every pending operation as what a dead server left behind.
 * @param beforeId only those older than this one
 * @returns how many
 */
export async function settleLeftovers(sql: Sql, nowMs: number, beforeId = '~'): Promise<number> {
  const pending = 'SELECT * FROM operations WHERE outcome IS NULL AND id < $beforeId'
  const rows = await sql.all<OperationRow>(pending, { beforeId })
  for (const row of rows) {
    const settlement = settleCrashed(operationOf(row))
    await settleOperation(sql, row.id, settlement, { nowMs, by: null }, voiceErrorAfterCrash(settlement))
  }
  return rows.length
}

export const voiceErrorAfterCrash = (settlement: Settlement): OperationError => ({
  code: settlement.outcome === 'not_accepted' ? 'not_started' : 'engine_failed',
  message: `${settlement.error?.message ?? ''} Clone the clip again.`.trimStart(),
})
