/**
 * What the console shows of the signed-in account and no other API tells: its recent operations in one list, and the
 * names of its keys, so that usage by key can be read. For everything else the page asks the versioned API.
 */
import { Elysia } from 'elysia'
import type { Key } from '../../domain/account.ts'
import type { Operation } from '../../domain/operation.ts'
import type { Accounts, Ledger } from '../../service/ports.ts'
import { json, type Route } from '../exchange.ts'
import type { Gate } from '../gate.ts'
import { invalidInput } from '../invalid.ts'
import { operationRecord } from '../operations.ts'

export interface ConsoleRecordsParts {
  gate: Gate
  accounts: Accounts
  ledger: Ledger
}

const maxLimit = 200

export function consoleRecordsRoutes(route: Route, { gate, accounts, ledger }: ConsoleRecordsParts) {
  const hidden = { detail: { hide: true } }
  const operations = route('/console/api/operations', async (exchange) => {
    const { account } = await gate.enter(exchange, 'usage', 'requests')
    const { searchParams } = exchange.url
    const limit = Number(searchParams.get('limit') ?? 50)
    if (!Number.isInteger(limit) || limit < 1 || limit > maxLimit) {
      const msg = `input should be a whole number from 1 to ${maxLimit}`
      throw invalidInput(['query', 'limit'], msg, 'int_parsing')
    }
    const found = await ledger.recent(account.id, { before: searchParams.get('before'), limit: limit + 1 })
    const data = found.slice(0, limit).map(listedOperation)
    return json({ object: 'list', data, has_more: found.length > limit })
  })
  const keys = route('/console/api/keys', async (exchange) => {
    const { account } = await gate.enter(exchange, 'usage', 'requests')
    const data = (await accounts.listKeys(account.id)).map(keyRecord)
    return json({ object: 'list', data })
  })
  return new Elysia().get('/console/api/operations', operations, hidden).get('/console/api/keys', keys, hidden)
}

const listedOperation = (operation: Operation) => ({
  ...operationRecord(operation),
  model: operation.model,
  input_chars: operation.inputChars,
  price_micros: operation.priceMicros,
  key_id: operation.keyId,
})

export const keyRecord = (key: Key) => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  scopes: key.scopes,
  created_at: seconds(key.createdAtMs),
  expires_at: secondsOrNull(key.expiresAtMs),
  revoked_at: secondsOrNull(key.revokedAtMs),
  last_used_at: secondsOrNull(key.lastUsedAtMs),
})

export const seconds = (ms: number): number => Math.floor(ms / 1000)
export const secondsOrNull = (ms: number | null): number | null => (ms === null ? null : seconds(ms))
