/**
 * Shows administrators all accounts (docs/api.md 10): operations, one of them in detail, and usage. An account's own
 * are under `/v1/operations` and `/v1/usage`.
 */
import type { Account } from '../domain/account.ts'
import { MynaError } from '../domain/error.ts'
import type { Operation } from '../domain/operation.ts'
import type { Clock } from '../domain/time.ts'
import { type Cancellable, operationOfAnyone } from '../service/operations.ts'
import type { Accounts, Ledger } from '../service/ports.ts'
import { endpoints } from './endpoint.ts'
import { json, type Route } from './exchange.ts'
import { parseQuery } from './fields/field.ts'
import type { Gate } from './gate.ts'
import { adminCancelDetail, adminOperationDetail, adminOperationsDetail, adminUsageDetail } from './openapi/admin.ts'
import { adminOperationListFields, operationQueryOf } from './operations/query.ts'
import { adminOperation, cancelled } from './operations/record.ts'
import { pageOf } from './operations/operations.ts'
import { adminUsageFields, usageReport } from './usage.ts'

export interface AdminParts {
  gate: Gate
  accounts: Accounts
  ledger: Ledger
  running: Cancellable
  clock: Clock
}

export const adminRoutes = (route: Route, { gate, accounts, ledger, running, clock }: AdminParts) =>
  endpoints(route, [
    [
      'GET /v1/admin/operations',
      adminOperationsDetail,
      async (exchange) => {
        await gate.enterAdmin(exchange)
        const given = parseQuery(adminOperationListFields, exchange.url.searchParams)
        const account = await named(given.account, accounts)
        const { operations, hasMore } = await pageOf(operationQueryOf(given, account?.id ?? null), ledger)
        const data = await recordsOf(operations, accounts)
        return json({ object: 'list', data, has_more: hasMore })
      },
    ],
    [
      'GET /v1/admin/operations/{operation_id}',
      adminOperationDetail,
      async (exchange) => {
        await gate.enterAdmin(exchange, 'operations')
        const operation = await operationOfAnyone(exchange.params.operation_id ?? '', ledger)
        return json((await recordsOf([operation], accounts))[0])
      },
    ],
    [
      'POST /v1/admin/operations/{operation_id}/cancel',
      adminCancelDetail,
      async (exchange) => {
        await gate.enterAdmin(exchange, 'operations')
        const { id, outcome } = await operationOfAnyone(exchange.params.operation_id ?? '', ledger)
        if (outcome === null) await running.cancel(id)
        return json(cancelled.of(outcome === null))
      },
    ],
    [
      'GET /v1/admin/usage',
      adminUsageDetail,
      async (exchange) => {
        await gate.enterAdmin(exchange)
        const given = parseQuery(adminUsageFields, exchange.url.searchParams)
        return json(await usageReport(await named(given.account, accounts), given, ledger, clock))
      },
    ],
  ])

/** @throws MynaError `validation_error` */
async function named(name: string | null, accounts: Accounts): Promise<Account | null> {
  if (name === null) return null
  const account = await accounts.findByName(name)
  if (account !== null) return account
  const message = `There is no account '${name}'.`
  const details = [{ loc: ['query', 'account'], msg: message, type: 'value_error' }]
  throw new MynaError('validation_error', message, { param: 'account', extras: { details } })
}

/** With the names behind the ids. */
async function recordsOf(operations: readonly Operation[], accounts: Accounts) {
  const names = new Map((await accounts.list()).map(({ id, name }) => [id, name]))
  const keys = new Map((await accounts.listKeys(null)).map((key) => [key.id, key]))
  return operations.map((operation) =>
    adminOperation.of({
      ...operation,
      account: names.get(operation.accountId) ?? operation.accountId,
      key: keys.get(operation.keyId)?.name ?? operation.keyId,
    }),
  )
}
