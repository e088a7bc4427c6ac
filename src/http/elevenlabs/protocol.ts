/**
 * Decides who speaks ElevenLabs' protocol, and words errors for them. Its clients send their key as `xi-api-key`, and
 * OpenAI's never do, so that header alone decides; whether the key is good is for the gate.
 */
import type { ErrorCode, MynaError } from '../../domain/error.ts'

export const speaksElevenLabs = ({ headers }: Request): boolean =>
  (headers.get('authorization') ?? '').trim() === '' && (headers.get('xi-api-key') ?? '').trim() !== ''

/** Codes that its clients know by other names. */
const theirNames: Readonly<Partial<Record<ErrorCode, string>>> = {
  missing_api_key: 'needs_authorization',
  insufficient_balance: 'quota_exceeded',
  insufficient_scope: 'missing_permissions',
  concurrency_limit_exceeded: 'too_many_concurrent_requests',
  engine_overloaded: 'system_busy',
}

/** What its clients read instead of our `error`; a 422 has FastAPI's list in its place. */
export const errorDetail = ({ code, message }: MynaError) => ({ status: theirNames[code] ?? code, message })
