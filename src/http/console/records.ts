/**
 * Records of the signed-in account that the console shows and the versioned API does not return: the names of its keys,
 * so that usage by key can be read.
 */
import { Elysia } from 'elysia'
import type { Key } from '../../domain/account.ts'
import type { Accounts } from '../../service/ports.ts'
import { json, type Route } from '../exchange.ts'
import type { Gate } from '../gate.ts'

export interface ConsoleRecordsParts {
  gate: Gate
  accounts: Accounts
}

export function consoleRecordsRoutes(route: Route, { gate, accounts }: ConsoleRecordsParts) {
  const hidden = { detail: { hide: true } }
  const keys = route('/console/api/keys', async (exchange) => {
    const { account } = await gate.enter(exchange, 'usage', 'requests')
    const data = (await accounts.listKeys(account.id)).map(keyRecord)
    return json({ object: 'list', data })
  })
  return new Elysia().get('/console/api/keys', keys, hidden)
}

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
