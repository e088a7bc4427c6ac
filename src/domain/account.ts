/**
 * Accounts own, keys authenticate. A key belongs to one account, is shown once and kept as a hash; its scopes say what
 * it may do. The rules of both live here; where they are kept is `store/accounts`.
 */
import { MynaError } from './error.ts'

export type Role = 'user' | 'admin'

export const scopes = ['tts', 'voices', 'usage'] as const
export type Scope = (typeof scopes)[number]

/** What an operator may limit for one account. */
export const limitNames = [
  'speechConcurrency',
  'transcriptionConcurrency',
  'speechPerMinute',
  'transcriptionsPerMinute',
  'requestsPerMinute',
] as const
export type LimitName = (typeof limitNames)[number]

/** The limits of one account alone; null: as for every account, by the server's settings. */
export type OwnLimits = Readonly<Record<LimitName, number | null>>

export const noOwnLimits: OwnLimits = {
  speechConcurrency: null,
  transcriptionConcurrency: null,
  speechPerMinute: null,
  transcriptionsPerMinute: null,
  requestsPerMinute: null,
}

export interface Account {
  id: string
  name: string
  role: Role
  /**
   * `null`: unmetered, usage is counted and no request is blocked. A number: prepaid, net of reservations, never below
   * zero.
   */
  balanceMicros: number | null
  limits: OwnLimits
  createdAtMs: number
  disabledAtMs: number | null
}

export interface Key {
  id: string
  accountId: string
  name: string
  /** The part of the secret that may be shown: `sk-myna-` and four characters. */
  prefix: string
  /** `null`: unrestricted. */
  scopes: readonly Scope[] | null
  createdAtMs: number
  expiresAtMs: number | null
  revokedAtMs: number | null
  lastUsedAtMs: number | null
}

/** The caller: the account and key, as the database had them when the request was authenticated. */
export interface Caller {
  account: Account
  key: Key
}

export const keyPrefix = 'sk-myna-'
const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** A new secret: `sk-myna-` and 43 base-62 characters (256 bits). Some clients insist on the `sk-` in front. */
export function newSecret(random: (bytes: Uint8Array) => Uint8Array): string {
  let secret = ''
  while (secret.length < 43) {
    for (const byte of random(new Uint8Array(64))) {
      // 248 = 4 x 62: bytes above would make some characters likelier than others.
      if (byte < 248 && secret.length < 43) secret += base62[byte % 62]
    }
  }
  return keyPrefix + secret
}

/** SHA-256 of the secret in hex. A secret has 256 random bits, so a slow or salted hash would add nothing. */
export const hashSecret = (secret: string): string => new Bun.CryptoHasher('sha256').update(secret).digest('hex')

export const displayPrefix = (secret: string): string => secret.slice(0, keyPrefix.length + 4)

/** @throws MynaError `insufficient_scope` */
export function requireScope(key: Key, scope: Scope): void {
  if (key.scopes === null || key.scopes.includes(scope)) return
  throw new MynaError('insufficient_scope', `This API key lacks the scope '${scope}'.`, {
    extras: { required_scope: scope },
  })
}

/** For actions that several scopes allow. @throws MynaError `insufficient_scope`, which names the first */
export function requireAnyScope(key: Key, [first, ...others]: readonly [Scope, ...Scope[]]): void {
  if (others.some((scope) => key.scopes?.includes(scope))) return
  requireScope(key, first)
}
