/**
 * Admission: the idempotency verdict, the hold of the price and the pending row. The functions here run inside one
 * transaction of `ledger`. Speech and clones differ only in what they ask for, not in how it is
 * booked.
 */
import { MynaError } from '../../domain/error.ts'
import { refuseReuse } from '../../domain/idempotency.ts'
import { expiresAtMs } from '../../domain/operation.ts'
import type { Operation, OperationType } from '../../domain/operation.ts'
import { concurrencyExceeded } from '../../service/concurrency.ts'
import type { Sql } from '../database.ts'
import { book } from './entries.ts'
import { operationOf } from '../rows.ts'
import type { OperationRow } from '../rows.ts'

/** The place of an idempotency key: one live operation of the account and type may hold it. */
export interface KeyClaim {
  accountId: string
  type: OperationType
  keyHash: string
  /** null for a clone, whose body is never compared. */
  fingerprint: string | null
}

export interface OperationOrder {
  operationId: string
  accountId: string
  keyId: string
  type: OperationType
  model: string
  voiceId: string | null
  inputChars: number
  priceMicros: number
  /** null: the client sent no idempotency key. */
  keyHash: string | null
  fingerprint: string | null
  /** A clone within the allowance. */
  isFree: boolean
  /** The box that works on it; null: there is only one. */
  boxId: string | null
  maxPending?: number
}

/**
 * @param again whether it may have been done already
 * @throws MynaError `duplicate_request`, `idempotency_conflict`, `concurrency_limit_exceeded`,
 * `insufficient_balance` (in this order)
 */
export async function admitOperation(
  sql: Sql,
  order: OperationOrder,
  nowMs: number,
  again: boolean,
): Promise<Operation> {
  await lockAccount(sql, order.accountId)
  const done = again ? await admitted(sql, order.operationId) : null
  if (done !== null) return done
  await takeKey(sql, order, nowMs)
  await requirePlace(sql, order, 'speech requests')
  return bookOperation(sql, order, nowMs)
}

/**
 * Everything that admission and settlement read and write belongs to one account: who holds its row is alone with it.
 * Always the first lock of a transaction, so that no two wait for each other.
 */
export async function lockAccount(sql: Sql, accountId: string): Promise<void> {
  const { forUpdate } = sql.dialect
  if (forUpdate !== '') await sql.get(`SELECT id FROM accounts WHERE id = $accountId${forUpdate}`, { accountId })
}

/**
 * For what stays after the request. An account is closed first when it is removed, and then loses what it has: nothing
 * may be added afterwards by a request that began before. Only after `lockAccount`.
 * @throws MynaError `account_disabled`
 */
export async function requireActive(sql: Sql, accountId: string): Promise<void> {
  const active = 'SELECT 1 AS found FROM accounts WHERE id = $accountId AND disabled_at_ms IS NULL'
  if ((await sql.get(active, { accountId })) !== null) return
  throw new MynaError('account_disabled', 'This account is disabled.')
}

/** One box counts its own work itself; the work of others is in the table. */
export async function requirePlace(
  sql: Sql,
  {
    accountId,
    type,
    boxId,
    maxPending = Infinity,
  }: Pick<OperationOrder, 'accountId' | 'type' | 'boxId' | 'maxPending'>,
  what: string,
): Promise<void> {
  if (boxId === null) return
  const row = await sql.get<{ n: number }>(
    'SELECT count(*) AS n FROM operations WHERE account_id = $accountId AND type = $type AND outcome IS NULL',
    { accountId, type },
  )
  const count = row?.n ?? 0
  if (count >= maxPending) throw concurrencyExceeded(count, what)
}

/** What an earlier run of the same admission has written; null: nothing. */
export async function admitted(sql: Sql, operationId: string): Promise<Operation | null> {
  const row = await sql.get<OperationRow>('SELECT * FROM operations WHERE id = $operationId', { operationId })
  return row === null ? null : operationOf(row)
}

/** The rest of an admission, once nothing else forbids it. @throws MynaError `insufficient_balance` */
export async function bookOperation(sql: Sql, order: OperationOrder, nowMs: number): Promise<Operation> {
  await hold(sql, order, nowMs)
  return insert(sql, order, nowMs)
}

/** @throws MynaError when a record that is not expired holds the key */
export async function refuseHeldKey(sql: Sql, claim: KeyClaim, nowMs: number): Promise<void> {
  const holder = await holderOf(sql, claim)
  if (holder !== null && !isExpired(holder, nowMs)) throw refuseReuse(holder, claim.fingerprint)
}

/** Like `refuseHeldKey`, and makes room: the sweep may lag, but an expired record must not be in the way. */
export async function takeKey(
  sql: Sql,
  claim: Omit<KeyClaim, 'keyHash'> & { keyHash: string | null },
  nowMs: number,
): Promise<void> {
  const { keyHash } = claim
  if (keyHash === null) return
  const holder = await holderOf(sql, { ...claim, keyHash })
  if (holder === null) return
  if (!isExpired(holder, nowMs)) throw refuseReuse(holder, claim.fingerprint)
  await sql.run('DELETE FROM operations WHERE id = $id', { id: holder.id })
}

async function holderOf(sql: Sql, claim: KeyClaim): Promise<(Operation & { fingerprint: string | null }) | null> {
  const row = await sql.get<OperationRow>(
    'SELECT * FROM operations WHERE account_id = $accountId AND type = $type AND idempotency_hash = $keyHash',
    { accountId: claim.accountId, type: claim.type, keyHash: claim.keyHash },
  )
  return row === null ? null : { ...operationOf(row), fingerprint: row.fingerprint }
}

export function isExpired(operation: Operation, nowMs: number): boolean {
  const endMs = expiresAtMs(operation)
  return endMs !== null && endMs <= nowMs
}

async function hold(sql: Sql, order: OperationOrder, nowMs: number): Promise<void> {
  const { accountId, operationId, priceMicros } = order
  const account = await sql.get<{ balance_micros: number | null }>(
    'SELECT balance_micros FROM accounts WHERE id = $accountId',
    { accountId },
  )
  if (account === null) throw new Error(`There is no account ${accountId}`)
  const balanceMicros = account.balance_micros
  if (balanceMicros !== null && balanceMicros < priceMicros) throw insufficient(priceMicros, balanceMicros)
  if (priceMicros > 0) await book(sql, { accountId, operationId, kind: 'hold', amountMicros: priceMicros, nowMs })
}

const insufficient = (requiredMicros: number, balanceMicros: number): MynaError =>
  new MynaError(
    'insufficient_balance',
    `This request costs ${requiredMicros} micro-dollars; the balance is ${balanceMicros}.`,
    { extras: { required_micros: requiredMicros, balance_micros: balanceMicros } },
  )

/** Speech has its turn before it is admitted, so its work begins with the record; a clone waits for it afterwards. */
async function insert(sql: Sql, order: OperationOrder, nowMs: number): Promise<Operation> {
  const startedAtMs = order.type === 'speech' ? nowMs : null
  const row = await sql.get<OperationRow>(
    `INSERT INTO operations (id, account_id, key_id, type, model, voice_id, input_chars, price_micros, charged_micros,
       key_supplied, idempotency_hash, fingerprint, free, box_id, created_at_ms, started_at_ms)
     VALUES ($operationId, $accountId, $keyId, $type, $model, $voiceId, $inputChars, $priceMicros, $priceMicros,
       $keySupplied, $keyHash, $fingerprint, $isFree, $boxId, $nowMs, $startedAtMs)
     RETURNING *`,
    { ...order, keySupplied: order.keyHash === null ? 0 : 1, isFree: order.isFree ? 1 : 0, nowMs, startedAtMs },
  )
  if (row === null) throw new Error('The pending row was not written')
  return operationOf(row)
}
