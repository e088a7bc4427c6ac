/**
 * Clones in the ledger: a pending operation and a processing voice are written together, and end together. The
 * functions here run inside one transaction of `ledger` or `voices`.
 */
import { MynaError } from '../../domain/error.ts'
import { settleClone } from '../../domain/operation.ts'
import type { Operation, OperationError } from '../../domain/operation.ts'
import type { Fidelity } from '../../domain/voice.ts'
import type { CloneAdmission, RemakeAdmission } from '../../service/ports.ts'
import { notReady, unknownVoice } from '../../service/voice-refusals.ts'
import type { Sql } from '../database.ts'
import { admitted, bookOperation, lockAccount, requireActive, requirePlace, takeKey } from './admit.ts'
import { isSettledBy, type SettledBy, settleOperation } from './settle.ts'
import { requireFreeAliases, setAliases } from '../voice-aliases.ts'
import { countOwned, describedColumns } from '../voice-rows.ts'

/**
 * @throws MynaError `account_disabled`, `duplicate_request`, `validation_error` (an alias), `voice_limit_reached`,
 * `insufficient_balance` (in this order)
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
  await requireActive(sql, accountId)
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

/** @throws MynaError `concurrency_limit_exceeded`, `voice_not_found`, `voice_not_ready` (in this order) */
export async function admitRemake(
  sql: Sql,
  admission: RemakeAdmission & { boxId: string | null },
  nowMs: number,
  again: boolean,
): Promise<Operation> {
  const { operationId, accountId, voiceId } = admission
  await lockAccount(sql, accountId)
  const done = again ? await admitted(sql, operationId) : null
  if (done !== null) return done
  await requirePlace(sql, { ...admission, type: 'clone' }, 'clones')
  const voice = await sql.get<{ status: string }>(
    'SELECT status FROM voices WHERE id = $voiceId AND account_id = $accountId',
    { voiceId, accountId },
  )
  if (voice === null) throw unknownVoice(voiceId, 'voice_id')
  if (voice.status !== 'ready' || (await cloneOn(sql, voiceId)) !== null) throw notReady('voice_id')
  const rest = { priceMicros: 0, inputChars: 0, fingerprint: null, keyHash: null, isFree: false }
  return bookOperation(sql, { ...admission, ...rest, type: 'clone' }, nowMs)
}

/** The pending clone that works on a voice; null: none. */
export async function cloneOn(sql: Sql, voiceId: string): Promise<string | null> {
  const pending = "SELECT id FROM operations WHERE voice_id = $voiceId AND type = 'clone' AND outcome IS NULL"
  return (await sql.get<{ id: string }>(pending, { voiceId }))?.id ?? null
}

/** @returns as `settleOperation` */
export async function completeRemake(
  sql: Sql,
  operationId: string,
  fidelity: Fidelity,
  { nowMs, by }: SettledBy,
): Promise<boolean> {
  if (!(await settleOperation(sql, operationId, settleClone('completed', 0, null), { nowMs, by }))) return false
  // Again after a lost answer, it finds the voice as it should be.
  await sql.run(
    `UPDATE voices SET model = (SELECT model FROM operations WHERE id = $operationId), fidelity = $fidelity,
       operation_id = $operationId, updated_at_ms = $nowMs
     WHERE id = (SELECT voice_id FROM operations WHERE id = $operationId)
       AND (operation_id IS NULL OR operation_id <> $operationId)`,
    { operationId, fidelity, nowMs },
  )
  return true
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
