/** The one place where columns become fields: snake_case and flat in SQL, camelCase and nested in TypeScript. */
import type { Account, Caller, Key, OwnLimits, Role, Scope } from '../domain/account.ts'
import type { Operation, OperationType, Outcome } from '../domain/operation.ts'

export interface OperationRow {
  id: string
  account_id: string
  key_id: string
  type: OperationType
  model: string
  voice_id: string | null
  input_chars: number
  price_micros: number
  key_supplied: 0 | 1
  /** A clone within the allowance. */
  free: 0 | 1
  fingerprint: string | null
  outcome: Outcome | null
  charged_micros: number
  completion_bytes: number | null
  error_code: string | null
  error_message: string | null
  created_at_ms: number
  started_at_ms: number | null
  first_audio_at_ms: number | null
  settled_at_ms: number | null
}

export const operationOf = (row: OperationRow): Operation => ({
  id: row.id,
  accountId: row.account_id,
  keyId: row.key_id,
  type: row.type,
  model: row.model,
  voiceId: row.voice_id,
  inputChars: row.input_chars,
  priceMicros: row.price_micros,
  outcome: row.outcome,
  chargedMicros: row.charged_micros,
  completionBytes: row.completion_bytes,
  error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
  keySupplied: row.key_supplied === 1,
  createdAtMs: row.created_at_ms,
  startedAtMs: row.started_at_ms,
  firstAudioAtMs: row.first_audio_at_ms,
  settledAtMs: row.settled_at_ms,
})

interface LimitRow {
  speech_concurrency: number | null
  transcription_concurrency: number | null
  speech_per_minute: number | null
  transcriptions_per_minute: number | null
  requests_per_minute: number | null
}

const limitsOf = (row: LimitRow): OwnLimits => ({
  speechConcurrency: row.speech_concurrency,
  transcriptionConcurrency: row.transcription_concurrency,
  speechPerMinute: row.speech_per_minute,
  transcriptionsPerMinute: row.transcriptions_per_minute,
  requestsPerMinute: row.requests_per_minute,
})

export interface AccountRow extends LimitRow {
  id: string
  name: string
  role: Role
  balance_micros: number | null
  created_at_ms: number
  disabled_at_ms: number | null
}

export const accountOf = (row: AccountRow): Account => ({
  id: row.id,
  name: row.name,
  role: row.role,
  balanceMicros: row.balance_micros,
  limits: limitsOf(row),
  createdAtMs: row.created_at_ms,
  disabledAtMs: row.disabled_at_ms,
})

export interface KeyRow {
  id: string
  account_id: string
  name: string
  prefix: string
  scopes: string | null
  created_at_ms: number
  expires_at_ms: number | null
  revoked_at_ms: number | null
  last_used_at_ms: number | null
}

export const keyOf = (row: KeyRow): Key => ({
  id: row.id,
  accountId: row.account_id,
  name: row.name,
  prefix: row.prefix,
  scopes: row.scopes === null ? null : (JSON.parse(row.scopes) as Scope[]),
  createdAtMs: row.created_at_ms,
  expiresAtMs: row.expires_at_ms,
  revokedAtMs: row.revoked_at_ms,
  lastUsedAtMs: row.last_used_at_ms,
})

/** In the one order that the column allows, so that each set of scopes has only one form. */
export const scopesColumn = (scopes: readonly Scope[] | null): string | null =>
  scopes === null ? null : JSON.stringify([...new Set(scopes)].sort())

/**
 * A key joined with its account, whose columns have the prefix `account_` where a key has a column of the same name.
 */
export interface CallerRow extends KeyRow, LimitRow {
  account_name: string
  account_role: Role
  account_balance_micros: number | null
  account_created_at_ms: number
  account_disabled_at_ms: number | null
}

export const callerOf = (row: CallerRow): Caller => ({
  key: keyOf(row),
  account: {
    id: row.account_id,
    name: row.account_name,
    role: row.account_role,
    balanceMicros: row.account_balance_micros,
    limits: limitsOf(row),
    createdAtMs: row.account_created_at_ms,
    disabledAtMs: row.account_disabled_at_ms,
  },
})
