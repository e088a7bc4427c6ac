/**
 * Settlement: an operation goes from pending to terminal once. The functions here run inside one transaction of
 * `ledger` and await nothing.
 */
import { expiresAtMs, releasesKey, settleCrashed } from '../domain/operation.ts'
import type { Operation, Settlement } from '../domain/operation.ts'
import type { StoreDatabase } from './database.ts'
import { book } from './entries.ts'
import { operationOf } from './rows.ts'
import type { OperationRow } from './rows.ts'

/**
 * Writes the outcome, gives back what was held in excess, counts the use and frees the key where the domain says so.
 * @returns false when there is no such pending operation; then nothing was written
 */
export function settleOperation(
  database: StoreDatabase,
  operationId: string,
  settlement: Settlement,
  nowMs: number,
): boolean {
  const row = database.get<OperationRow>('SELECT * FROM operations WHERE id = $operationId AND outcome IS NULL', {
    operationId,
  })
  if (row === null) return false
  const operation = operationOf(row)
  end(database, operation, settlement, nowMs)
  const refundMicros = operation.priceMicros - settlement.chargedMicros
  if (refundMicros > 0) {
    book(database, {
      accountId: operation.accountId,
      operationId,
      kind: 'refund',
      amountMicros: -refundMicros,
      nowMs,
    })
  }
  const used = settlement.outcome === 'completed' || settlement.chargedMicros > 0
  if (used) countUse(database, operation, settlement, nowMs)
  return true
}

function end(database: StoreDatabase, operation: Operation, settlement: Settlement, nowMs: number): void {
  database.run(
    `UPDATE operations SET outcome = $outcome, charged_micros = $chargedMicros, completion_bytes = $completionBytes,
       error_code = $errorCode, error_message = $errorMessage, settled_at_ms = $nowMs, expires_at_ms = $expiresAtMs,
       idempotency_hash = CASE WHEN $released THEN NULL ELSE idempotency_hash END
     WHERE id = $id AND outcome IS NULL`,
    {
      id: operation.id,
      outcome: settlement.outcome,
      chargedMicros: settlement.chargedMicros,
      completionBytes: settlement.completionBytes,
      errorCode: settlement.error?.code ?? null,
      errorMessage: settlement.error?.message ?? null,
      nowMs,
      expiresAtMs: expiresAtMs({ ...operation, settledAtMs: nowMs }),
      released: releasesKey(settlement) ? 1 : 0,
    },
  )
}

function countUse(database: StoreDatabase, operation: Operation, settlement: Settlement, nowMs: number): void {
  database.run(
    `INSERT INTO usage (account_id, key_id, operation_id, type, model, characters, audio_ms, charged_micros,
       refunded_micros, free, settled_at_ms)
     VALUES ($accountId, $keyId, $operationId, $type, $model, $characters, $audioMs, $chargedMicros,
       $refundedMicros, $free, $nowMs)`,
    {
      accountId: operation.accountId,
      keyId: operation.keyId,
      operationId: operation.id,
      type: operation.type,
      model: operation.model,
      characters: settlement.usedChars,
      audioMs: settlement.audioMs,
      chargedMicros: settlement.chargedMicros,
      refundedMicros: operation.priceMicros - settlement.chargedMicros,
      free: operation.type === 'clone' && operation.priceMicros === 0 ? 1 : 0,
      nowMs,
    },
  )
}

/** Settles every pending operation as what a dead server left behind. @returns how many */
export function settleLeftovers(database: StoreDatabase, nowMs: number): number {
  const rows = database.all<OperationRow>('SELECT * FROM operations WHERE outcome IS NULL')
  for (const row of rows) settleOperation(database, row.id, settleCrashed(operationOf(row)), nowMs)
  return rows.length
}
