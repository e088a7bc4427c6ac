/** Operations as they are looked up and listed: those that are not expired. */
import type { Operation } from '../domain/operation.ts'
import type { OperationQuery } from '../service/ports/records.ts'
import type { Parameters, Sql } from './database.ts'
import { isExpired } from './ledger/admit.ts'
import { operationOf } from './rows.ts'
import type { OperationRow } from './rows.ts'

export async function findOperation(
  sql: Sql,
  accountId: string | null,
  operationId: string,
  nowMs: number,
): Promise<Operation | null> {
  const row = await sql.get<OperationRow>('SELECT * FROM operations WHERE id = $operationId', { operationId })
  const operation = row === null ? null : operationOf(row)
  if (operation === null || (accountId !== null && operation.accountId !== accountId)) return null
  return isExpired(operation, nowMs) ? null : operation
}

/** Ids grow with time, so they are the order; a page that is far down costs what the first does. */
export async function recentOperations(sql: Sql, query: OperationQuery, nowMs: number): Promise<Operation[]> {
  const { limit } = query
  const conditions: [string, Parameters][] = [
    ['(expires_at_ms IS NULL OR expires_at_ms > $nowMs)', { nowMs }],
    ...asked('account_id = $accountId', { accountId: query.accountId }),
    ...asked('id < $before', { before: query.before }),
    ...asked('type = $type', { type: query.type }),
    ...asked('outcome = $outcome', { outcome: query.outcome }),
    ...asked('model = $model', { model: query.model }),
    ...asked('created_at_ms >= $startMs', { startMs: query.startMs }),
    ...asked('created_at_ms < $endMs', { endMs: query.endMs }),
    ...(query.state === null ? [] : [stateIs[query.state]]),
  ]
  const rows = await sql.all<OperationRow>(
    `SELECT * FROM operations WHERE ${conditions.map(([words]) => words).join(' AND ')} ORDER BY id DESC LIMIT $limit`,
    Object.assign({ limit }, ...conditions.map(([, parameters]) => parameters)) as Parameters,
  )
  return rows.map(operationOf)
}

const asked = (words: string, parameter: Parameters): [string, Parameters][] =>
  Object.values(parameter).includes(null) ? [] : [[words, parameter]]

const stateIs: Readonly<Record<'pending' | 'terminal', [string, Parameters]>> = {
  pending: ['outcome IS NULL', {}],
  terminal: ['outcome IS NOT NULL', {}],
}
