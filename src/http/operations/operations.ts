/**
 * Lists, inspects and cancels operations (docs/api.md 6). Inspecting and cancelling share a rate limit of their own.
 */
import { type Cancellable, cancelOperation, inspectOperation } from '../../service/operations.ts'
import type { Ledger } from '../../service/ports.ts'
import type { OperationQuery } from '../../service/ports/records.ts'
import { operationQueryOf, parseOperationQuery } from './query.ts'
import { cancelled, listedOperation, operationRecord } from './record.ts'
import { cancelDetail, operationDetail, operationsDetail } from '../openapi/routes.ts'
import { endpoints } from '../endpoint.ts'
import { json, type Route } from '../exchange.ts'
import type { Gate } from '../gate.ts'

export interface OperationsParts {
  gate: Gate
  ledger: Ledger
  running: Cancellable
}

export const operationsRoutes = (route: Route, { gate, ledger, running }: OperationsParts) =>
  endpoints(route, [
    [
      'GET /v1/operations',
      operationsDetail,
      async (exchange) => {
        const { account } = await gate.enter(exchange, 'usage', 'requests')
        const query = operationQueryOf(parseOperationQuery(exchange.url.searchParams), account.id)
        const { operations, hasMore } = await pageOf(query, ledger)
        return json({ object: 'list', data: operations.map(listedOperation.of), has_more: hasMore })
      },
    ],
    [
      'GET /v1/operations/{operation_id}',
      operationDetail,
      async (exchange) => {
        const caller = await gate.enter(exchange, null, 'operations')
        return json(operationRecord.of(await inspectOperation(caller, exchange.params.operation_id ?? '', ledger)))
      },
    ],
    [
      'POST /v1/operations/{operation_id}/cancel',
      cancelDetail,
      async (exchange) => {
        const caller = await gate.enter(exchange, null, 'operations')
        return json(cancelled.of(await cancelOperation(caller, exchange.params.operation_id ?? '', ledger, running)))
      },
    ],
  ])

/** One page, and whether older ones exist. */
export async function pageOf(query: OperationQuery, ledger: Ledger) {
  const found = await ledger.recent({ ...query, limit: query.limit + 1 })
  return { operations: found.slice(0, query.limit), hasMore: found.length > query.limit }
}
