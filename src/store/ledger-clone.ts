/**
 * Clones in the ledger: a pending operation and a processing voice are written together, and end together. The
 * functions here run inside one transaction of `ledger` or `voices`.
 */
import { MynaError } from '../domain/error.ts'
import { settleClone } from '../domain/operation.ts'
import type { Operation, OperationError } from '../domain/operation.ts'
import type { CloneAdmission } from '../service/ports.ts'
import type { Sql } from './database.ts'
import { admitted, bookOperation, lockAccount, requirePlace, takeKey } from './ledger-admit.ts'
import { isSettledBy, type SettledBy, settleOperation } from './ledger-settle.ts'
import { requireFreeAliases, setAliases } from './voice-aliases.ts'
import { countOwned, describedColumns } from './voice-rows.ts'

/**
 * @throws MynaError `duplicate_request`, `validation_error` (an alias), `voice_limit_reached`, `insufficient_balance`
 * (in this order)
 */
export async function admitClone(
  sql: Sql,
  admission: CloneAdmission & { boxId: string | null },
  nowMs: number,
  again: boolean,
): Promise<Operation> {
  const { operationId, accountId, keyId, model, voiceId, keyHash, isAdmin } = admission
  await lockAccount(sql, accountId)
  const done = again ? await admitted(sql, operationId) : null
  if (done !== null) return done
  await takeKey(sql, { accountId, type: 'clone', keyHash, fingerprint: null }, nowMs)
  const { boxId } = admission
  const places = { boxId, maxPending: admission.maxPending ?? Infinity }
  await requirePlace(sql, { accountId, type: 'clone', ...places }, 'clones')
  await requireFreeAliases(sql, accountId, admission.aliases, voiceId)
  const owned = await countOwned(sql, accountId)
  if (!isAdmin && owned >= admission.maxVoices) throw full(owned, admission.maxVoices)
  const isFree = !isAdmin && owned < admission.freeClones
  const order = { operationId, accountId, keyId, model, voiceId, keyHash, isFree, ...places, type: 'clone' as const }
  const priceMicros = isAdmin || isFree ? 0 : admission.priceMicros
  const operation = await bookOperation(sql, { ...order, priceMicros, inputChars: 0, fingerprint: null }, nowMs)
  await insertVoice(sql, admission, nowMs)
  await setAliases(sql, accountId, admission.aliases, voiceId)
  return operation
}

const full = (owned: number, limit: number): MynaError =>
  new MynaError('voice_limit_reached', `This account owns ${owned} voices; its limit is ${limit}.`, {
    extras: { limit, owned },
  })

async function insertVoice(sql: Sql, admission: CloneAdmission, nowMs: number): Promise<void> {
  const { voiceId, accountId, keyId, consent, isPublic, model, fidelity, operationId, clip } = admission
  await sql.run(
    `INSERT INTO voices (id, account_id, key_id, consent, public, name, folded_name, search_text, description, labels,
       language, category, model, fidelity, status, operation_id, clip_name, clip_mime, clip_bytes, clip_ms, clip_hash,
       created_at_ms, updated_at_ms)
     VALUES ($voiceId, $accountId, $keyId, $consent, $isPublic, $name, $foldedName, $searchText, $description, $labels,
       $language, 'cloned', $model, $fidelity, 'processing', $operationId, $fileName, $mimeType, $sizeBytes,
       $durationMs, $hash, $nowMs, $nowMs)`,
    {
      ...describedColumns({ ...admission, id: voiceId }),
      ...clip,
      voiceId,
      accountId,
      keyId,
      consent,
      model,
      fidelity,
      operationId,
      nowMs,
      isPublic: isPublic ? 1 : 0,
    },
  )
}

/** @param error null: the voice is ready @returns as `settleOperation` */
export async function endClone(
  sql: Sql,
  operationId: string,
  outcome: 'completed' | 'failed' | 'not_accepted' | 'cancelled',
  error: OperationError | null,
  { nowMs, by }: SettledBy,
): Promise<boolean> {
  const pending = await sql.get<{ price_micros: number }>(
    "SELECT price_micros FROM operations WHERE id = $operationId AND type = 'clone' AND outcome IS NULL",
    { operationId },
  )
  if (pending === null) return isSettledBy(sql, operationId, by)
  return settleOperation(sql, operationId, settleClone(outcome, pending.price_micros, error), { nowMs, by })
}
