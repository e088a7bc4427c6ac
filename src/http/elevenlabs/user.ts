/**
 * `GET /v1/user` and `/v1/user/subscription`: the account as ElevenLabs' clients look at it, to check a key and to see
 * how many characters are left. Here characters are paid from a balance that no month resets.
 */
import { type AccountParts } from '../account.ts'
import type { AccountLimits } from '../account-record.ts'
import type { Caller } from '../../domain/account.ts'
import type { Endpoint } from '../endpoint.ts'
import { type Exchange, json } from '../exchange.ts'
import { subscriptionDetail, userDetail } from '../openapi/elevenlabs.ts'
import { type Subscriber, subscription, user } from './records.ts'

export interface UserParts extends AccountParts {
  limits: AccountLimits & { speechMicrosPerChar: number }
}

const dayMs = 86_400_000
const shownDays = 30

export function userEndpoints(parts: UserParts): readonly Endpoint[] {
  const enter = (exchange: Exchange) => parts.gate.enter(exchange, 'usage', 'requests')
  const all = async (exchange: Exchange) => json(user.of(await subscriberOf(await enter(exchange), parts)))
  const part = async (exchange: Exchange) => json(subscription.of(await subscriberOf(await enter(exchange), parts)))
  return [
    ['GET /v1/user', userDetail, all],
    ['GET /v1/user/subscription', subscriptionDetail, part],
  ]
}

async function subscriberOf(caller: Caller, { accounts, ledger, clock, limits }: UserParts): Promise<Subscriber> {
  const { account } = caller
  const endMs = clock.nowMs() + 1
  const bucketMs = shownDays * dayMs
  const rows = await ledger.usage({ accountId: account.id, startMs: endMs - bucketMs, endMs, bucketMs, groupBy: [] })
  const { balanceMicros } = account
  const isMetered = balanceMicros !== null && limits.speechMicrosPerChar > 0
  return {
    ...caller,
    spokenChars: rows.filter(({ type }) => type === 'speech').reduce((sum, { characters }) => sum + characters, 0),
    charsLeft: isMetered ? Math.floor(balanceMicros / limits.speechMicrosPerChar) : null,
    voices: await accounts.countVoices(account.id),
    maxVoices: account.role === 'admin' ? null : limits.maxVoices,
  }
}
