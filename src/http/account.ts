/** `GET /v1/me` and `GET /v1/usage` (docs/api.md 5). */
import type { Clock } from '../domain/time.ts'
import type { Accounts, Ledger } from '../service/ports.ts'
import { type AccountLimits, accountRecord } from './account-record.ts'
import { meDetail, usageDetail } from './openapi/routes.ts'
import { endpoints } from './endpoint.ts'
import { json, type Route } from './exchange.ts'
import type { Gate } from './gate.ts'
import { usagePage } from './usage.ts'

export interface AccountParts {
  gate: Gate
  accounts: Accounts
  ledger: Ledger
  clock: Clock
  limits: AccountLimits
}

export const accountRoutes = (route: Route, parts: AccountParts) =>
  endpoints(route, [
    [
      'GET /v1/me',
      meDetail,
      async (exchange) => {
        const caller = await parts.gate.enter(exchange, 'usage', 'requests')
        const voices = await parts.accounts.countVoices(caller.account.id)
        return json(accountRecord.of({ ...caller, voices, limits: parts.limits }))
      },
    ],
    [
      'GET /v1/usage',
      usageDetail,
      async (exchange) => {
        const { account } = await parts.gate.enter(exchange, 'usage', 'requests')
        return json(await usagePage(account, exchange.url.searchParams, parts.ledger, parts.clock))
      },
    ],
  ])
