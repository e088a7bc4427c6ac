/**
 * Authenticates callers. A valid key always passes, even from an address that is throttled for its failures (a shared
 * proxy): the key is looked up first, and only the failing answer is slowed down.
 */
import { type Caller, hashSecret, keyPrefix } from '../domain/account.ts'
import { MynaError } from '../domain/error.ts'
import { Bucket } from '../domain/throttle.ts'
import type { Clock } from '../domain/time.ts'
import type { Accounts } from './ports.ts'

/** What the request carried: nothing, a malformed credential, a secret, or a session that was opened with one. */
export type Credential =
  | { kind: 'missing' }
  | { kind: 'malformed' }
  | { kind: 'secret'; secret: string }
  | { kind: 'session'; secretHash: string }

const failuresAtOnce = 10
const failureRefillMs = 6000

export class Authenticator {
  readonly #accounts: Accounts
  readonly #clock: Clock
  readonly #failures = new Bucket(failuresAtOnce, failureRefillMs)
  readonly #onFailure: (code: string) => void

  constructor(accounts: Accounts, clock: Clock, onFailure: (code: string) => void) {
    this.#accounts = accounts
    this.#clock = clock
    this.#onFailure = onFailure
  }

  /**
   * @param from the client's address, which failed attempts are counted by
   * @throws MynaError `missing_api_key`, `invalid_authorization_header`, `invalid_api_key`, `expired_api_key`,
   * `account_disabled`, `too_many_failed_attempts`
   */
  async authenticate(credential: Credential, from: string): Promise<Caller> {
    if (credential.kind === 'missing') {
      throw new MynaError('missing_api_key', 'No API key was given. Send it as: Authorization: Bearer <key>')
    }
    if (credential.kind === 'malformed') {
      throw this.#failed(from, 'invalid_authorization_header', "The Authorization header must be 'Bearer <key>'.")
    }
    const isSession = credential.kind === 'session'
    const caller = await this.#accounts.findByKey(isSession ? credential.secretHash : hashSecret(credential.secret))
    if (caller === null || caller.key.revokedAtMs !== null) {
      const why = isSession ? 'The key of this session is gone.' : incorrect(credential.secret)
      throw this.#failed(from, 'invalid_api_key', why)
    }
    if (caller.key.expiresAtMs !== null && caller.key.expiresAtMs <= this.#clock.nowMs()) {
      throw this.#failed(from, 'expired_api_key', 'This API key has expired.')
    }
    if (caller.account.disabledAtMs !== null) {
      throw this.#failed(from, 'account_disabled', 'This account is disabled.')
    }
    this.#accounts.touchKey(caller.key.id)
    return caller
  }

  #failed(from: string, code: FailureCode, message: string): MynaError {
    this.#onFailure(code)
    const waitMs = this.#failures.take(from, this.#clock.monotonicMs())
    if (waitMs === 0) return new MynaError(code, message)
    return new MynaError('too_many_failed_attempts', 'Too many failed authentication attempts. Try again later.', {
      retryAfterMs: waitMs,
    })
  }
}

type FailureCode = 'invalid_authorization_header' | 'invalid_api_key' | 'expired_api_key' | 'account_disabled'

/** Also for those who send the key of another service. */
function incorrect(secret: string): string {
  const hint = secret.startsWith(keyPrefix) ? '' : ` Keys made by this server begin with ${keyPrefix}.`
  return `Incorrect API key provided: ${masked(secret)}.${hint}`
}

/** At most a prefix and the last four characters of what was sent; nothing of a short secret. */
const masked = (secret: string): string =>
  secret.length < 20 ? '****' : `${secret.slice(0, 8)}****${secret.slice(-4)}`.replace(/[^\x21-\x7e]/g, '?')
