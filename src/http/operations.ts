/**
 * Lists, inspects and cancels operations (docs/api.md 6). Inspecting and cancelling share a rate limit of their own.
 */
import { expiresAtMs, type Operation } from '../domain/operation.ts'
import { type Cancellable, cancelOperation, inspectOperation } from '../service/operations.ts'
import type { Ledger } from '../service/ports.ts'
import type { OperationQuery } from '../service/ports/records.ts'
import { operationQueryOf, parseOperationQuery } from './operation-query.ts'
import { cancelDetail, operationDetail, operationsDetail } from './openapi/routes.ts'
import { endpoints } from './endpoint.ts'
import { json, type Route } from './exchange.ts'
import type { Gate } from './gate.ts'

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
        return json({ object: 'list', data: operations.map(listedOperation), has_more: hasMore })
      },
    ],
    [
      'GET /v1/operations/{operation_id}',
      operationDetail,
      async (exchange) => {
        const caller = await gate.enter(exchange, null, 'operations')
        return json(operationRecord(await inspectOperation(caller, exchange.params.operation_id ?? '', ledger)))
      },
    ],
    [
      'POST /v1/operations/{operation_id}/cancel',
      cancelDetail,
      async (exchange) => {
        const caller = await gate.enter(exchange, null, 'operations')
        return json({ ok: await cancelOperation(caller, exchange.params.operation_id ?? '', ledger, running) })
      },
    ],
  ])

/** One page, and whether older ones exist. */
export async function pageOf(query: OperationQuery, ledger: Ledger) {
  const found = await ledger.recent({ ...query, limit: query.limit + 1 })
  return { operations: found.slice(0, query.limit), hasMore: found.length > query.limit }
}

/** With what lists are read for: the model, the key, and the amount of work. */
export const listedOperation = (operation: Operation) => ({
  ...operationRecord(operation),
  model: operation.model,
  input_chars: operation.inputChars,
  price_micros: operation.priceMicros,
  key_id: operation.keyId,
})

export function operationRecord(operation: Operation) {
  const { type, outcome, completionBytes } = operation
  return {
    id: operation.id,
    object: 'operation',
    type,
    state: outcome === null ? 'pending' : 'terminal',
    outcome,
    charged_micros: operation.chargedMicros,
    ...(type === 'speech' && outcome === 'completed' ? { completion_bytes: completionBytes } : {}),
    created_at: seconds(operation.createdAtMs),
    settled_at: secondsOrNull(operation.settledAtMs),
    expires_at: secondsOrNull(expiresAtMs(operation)),
    voice_id: operation.voiceId,
    error: operation.error,
  }
}

const seconds = (ms: number): number => Math.floor(ms / 1000)
const secondsOrNull = (ms: number | null): number | null => (ms === null ? null : seconds(ms))
