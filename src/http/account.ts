/** `GET /v1/me` and `GET /v1/usage` (docs/api.md 5). */
import type { Caller } from '../domain/account.ts'
import type { Clock } from '../domain/time.ts'
import type { Accounts, Ledger } from '../service/ports.ts'
import { meDetail, usageDetail } from './openapi/routes.ts'
import { endpoints } from './endpoint.ts'
import { json, type Route } from './exchange.ts'
import type { Gate } from './gate.ts'
import { usagePage } from './usage.ts'

export interface AccountLimits {
  maxInputChars: number
  maxClipBytes: number
  requestsPerMinute: number
  speechPerMinute: number
  speechConcurrency: number
  maxTranscriptionBytes: number
  maxTranscriptionSeconds: number
  transcriptionsPerMinute: number
  transcriptionConcurrency: number
  operationsPerMinute: number
  maxVoices: number
  freeClones: number
  cloneMicros: number
}

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
        return json(accountRecord(caller, await parts.accounts.countVoices(caller.account.id), parts.limits))
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

function accountRecord({ account, key }: Caller, voices: number, limits: AccountLimits) {
  const isAdmin = account.role === 'admin'
  const own = account.limits
  return {
    object: 'account',
    id: account.id,
    user_id: account.id,
    name: account.name,
    email: null,
    role: account.role,
    is_admin: isAdmin,
    created_at: seconds(account.createdAtMs),
    key: {
      object: 'api_key',
      id: key.id,
      name: key.name,
      prefix: key.prefix,
      unrestricted: key.scopes === null,
      scopes: key.scopes,
      created_at: seconds(key.createdAtMs),
      expires_at: key.expiresAtMs === null ? null : seconds(key.expiresAtMs),
      last_used_at: key.lastUsedAtMs === null ? null : seconds(key.lastUsedAtMs),
    },
    currency: 'usd',
    balance_micros: account.balanceMicros,
    voices: { owned: voices, limit: isAdmin ? null : limits.maxVoices },
    clones: {
      used: voices,
      free_allowance: limits.freeClones,
      free_remaining: Math.max(0, limits.freeClones - voices),
      price_micros: isAdmin ? 0 : limits.cloneMicros,
    },
    limits: {
      max_input_chars: limits.maxInputChars,
      max_clip_bytes: limits.maxClipBytes,
      requests_per_minute: own.requestsPerMinute ?? limits.requestsPerMinute,
      speech_requests_per_minute: own.speechPerMinute ?? limits.speechPerMinute,
      speech_concurrency: own.speechConcurrency ?? limits.speechConcurrency,
      max_transcription_bytes: limits.maxTranscriptionBytes,
      max_transcription_seconds: limits.maxTranscriptionSeconds,
      transcription_requests_per_minute: own.transcriptionsPerMinute ?? limits.transcriptionsPerMinute,
      transcription_concurrency: own.transcriptionConcurrency ?? limits.transcriptionConcurrency,
      operation_requests_per_minute: limits.operationsPerMinute,
    },
  }
}

const seconds = (ms: number): number => Math.floor(ms / 1000)
