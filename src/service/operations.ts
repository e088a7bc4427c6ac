/** Inspects and cancels operations. Callers see only their own; only administrators see those of others. */
import { type Caller, requireScope } from '../domain/account.ts'
import { MynaError } from '../domain/error.ts'
import type { Operation } from '../domain/operation.ts'
import type { Ledger } from './ports.ts'

/** Running work that can be cancelled, by operation id. */
export interface Cancellable {
  cancel(operationId: string): void | Promise<void>
}

/** @throws MynaError `operation_not_found` first, then `insufficient_scope` */
export async function inspectOperation(caller: Caller, id: string, ledger: Ledger): Promise<Operation> {
  const operation = await find(caller.account.id, id, ledger)
  requireScope(caller.key, operation.type === 'speech' ? 'tts' : 'voices')
  return operation
}

/** For administrators. @throws MynaError `operation_not_found` */
export const operationOfAnyone = (id: string, ledger: Ledger): Promise<Operation> => find(null, id, ledger)

async function find(accountId: string | null, id: string, ledger: Ledger): Promise<Operation> {
  const operation = /^op_[0-9A-HJKMNP-TV-Z]{26}$/.test(id) ? await ledger.find(accountId, id) : null
  if (operation !== null) return operation
  throw new MynaError('operation_not_found', 'No such operation.', { param: 'operation_id' })
}

/**
 * Signals running work and does not wait for it to settle.
 * @returns whether there was anything to signal: false for a terminal operation
 */
export async function cancelOperation(
  caller: Caller,
  id: string,
  ledger: Ledger,
  running: Cancellable,
): Promise<boolean> {
  const operation = await inspectOperation(caller, id, ledger)
  if (operation.outcome !== null) return false
  await running.cancel(id)
  return true
}
