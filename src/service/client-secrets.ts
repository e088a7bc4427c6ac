/**
 * Secrets for programs that must not hold a key, such as a page in a browser: short-lived, good for realtime sessions
 * alone, and bound to the key that they were made with. Nothing is kept of them. What a secret says is signed with the
 * hash of its key, which only the database knows: so it ends with that key, on every server that shares the database.
 */
import type { Caller } from '../domain/account.ts'
import { MynaError } from '../domain/error.ts'
import { isShortJson } from '../domain/short-json.ts'
import type { Clock } from '../domain/time.ts'
import type { Accounts } from './ports.ts'

const secretPrefix = 'ek_'
/** It travels in a header, which servers and proxies keep short. */
const maxSessionChars = 2048

interface Claims {
  keyId: string
  expiresAtS: number
  /** Settings of the session, as the client gave them; null: none. */
  session: unknown
}

export interface IssuedSecret {
  value: string
  expiresAtS: number
}

export class ClientSecrets {
  readonly #accounts: Accounts
  readonly #clock: Clock

  constructor(accounts: Accounts, clock: Clock) {
    this.#accounts = accounts
    this.#clock = clock
  }

  /** @throws MynaError `string_above_max_length` when the settings are too long for a header */
  async issue({ key }: Caller, lifeSeconds: number, session: unknown): Promise<IssuedSecret> {
    const secretHash = await this.#accounts.findSecretHash(key.id)
    if (secretHash === null) throw new MynaError('invalid_api_key', 'This key is gone.')
    if (!isShortJson(session, maxSessionChars)) {
      const message = `Invalid 'session': nested too deeply, or longer than ${maxSessionChars} characters as JSON.`
      throw new MynaError('string_above_max_length', message, { param: 'session' })
    }
    const expiresAtS = Math.floor(this.#clock.nowMs() / 1000) + lifeSeconds
    const claims: Claims = { keyId: key.id, expiresAtS, session: session ?? null }
    const body = Buffer.from(JSON.stringify(claims)).toString('base64url')
    return { value: `${secretPrefix}${body}.${signatureOf(body, secretHash)}`, expiresAtS }
  }

  /**
   * @returns the hash of the key that it stands for, which may have been revoked since, and its settings; null: it is
   * not ours
   * @throws MynaError `expired_api_key`
   */
  async open(secret: string): Promise<{ secretHash: string; session: unknown } | null> {
    if (!secret.startsWith(secretPrefix)) return null
    const [body = '', signature = ''] = secret.slice(secretPrefix.length).split('.')
    const claims = claimsOf(body)
    const secretHash = claims === null ? null : await this.#accounts.findSecretHash(claims.keyId)
    if (claims === null || secretHash === null || !isEqual(signature, signatureOf(body, secretHash))) return null
    if (claims.expiresAtS * 1000 <= this.#clock.nowMs()) {
      throw new MynaError('expired_api_key', 'This client secret has expired.')
    }
    return { secretHash, session: claims.session }
  }
}

const signatureOf = (body: string, secretHash: string): string =>
  new Bun.CryptoHasher('sha256', secretHash).update(body).digest('base64url')

/** Takes the same time wherever they differ. */
function isEqual(one: string, other: string): boolean {
  let difference = one.length ^ other.length
  for (let i = 0; i < other.length; i++) difference |= (one.charCodeAt(i) || 0) ^ other.charCodeAt(i)
  return difference === 0
}

function claimsOf(body: string): Claims | null {
  try {
    const claims: unknown = JSON.parse(Buffer.from(body, 'base64url').toString())
    if (typeof claims !== 'object' || claims === null) return null
    const { keyId, expiresAtS, session = null } = claims as Partial<Claims>
    return typeof keyId === 'string' && typeof expiresAtS === 'number' ? { keyId, expiresAtS, session } : null
  } catch {
    return null
  }
}
