/**
 * Checks what every keyed route needs first: who is calling, with which scope, and within the rate limit
 * (docs/api.md 1.3).
 */
import { type Caller, requireScope, type Scope } from '../domain/account.ts'
import { MynaError } from '../domain/error.ts'
import type { ThrottleVerdict } from '../domain/throttle.ts'
import type { Allowance, Allowances } from '../service/allowances.ts'
import type { Authenticator, Credential } from '../service/authenticate.ts'
import type { ClientSecrets } from '../service/client-secrets.ts'
import type { HouseAccount } from '../service/house-account.ts'
import type { Cors } from './cors.ts'
import type { Exchange } from './exchange.ts'
import { type OwnNames, requireOwnPage } from './own-names.ts'
import { isFromHere, type Sessions, tokenOf } from './console/sessions.ts'

export interface GateLimits {
  acceptKeyHeaders: boolean
}

export interface GateParts {
  authenticator: Authenticator
  sessions: Sessions
  allowances: Allowances
  /** Whom a request without a credential acts as; null: it is refused. */
  anonymous: HouseAccount | null
  names: OwnNames
  cors: Cors
  onLimited: (route: string) => void
}

export class Gate {
  readonly #parts: GateParts
  readonly #limits: GateLimits

  constructor(parts: GateParts, limits: GateLimits) {
    this.#parts = parts
    this.#limits = limits
  }

  /** Authenticates, checks the scope, counts the request. @throws MynaError */
  async enter(exchange: Exchange, scope: Scope | null, allowance: Exclude<Allowance, 'public'>): Promise<Caller> {
    exchange.headers.set('cache-control', 'no-store')
    const credential = await this.#credential(exchange)
    const caller = await this.#caller(credential, exchange)
    exchange.accountId = caller.account.id
    if (scope !== null) requireScope(caller.key, scope)
    this.#count(exchange, this.#parts.allowances.take(allowance, caller.account))
    return caller
  }

  /** Like `enter`, for administrators: a key made for speaking cannot make keys. @throws MynaError `admin_required` */
  async enterAdmin(exchange: Exchange, allowance: 'requests' | 'operations' = 'requests'): Promise<Caller> {
    const caller = await this.enter(exchange, null, allowance)
    if (caller.account.role === 'admin' && caller.key.scopes === null) return caller
    throw new MynaError('admin_required', 'Only an administrator with an unrestricted key may do this.')
  }

  /**
   * Like `enter`, for a connection that stays open. Also accepts a client secret, and a key sent as the subprotocol of
   * a WebSocket, because pages cannot send headers with one.
   * @returns also how to check whether the credential is still valid, and the settings that came with a client secret
   */
  async enterForLong(
    exchange: Exchange,
    scope: Scope,
    allowance: Exclude<Allowance, 'public'>,
    secrets: ClientSecrets,
  ): Promise<{ caller: Caller; again: () => Promise<Caller>; session: unknown }> {
    const plain = await this.#credential(exchange)
    const given = plain.kind === 'missing' ? subprotocolKey(exchange.request.headers) : plain
    const opened = given.kind === 'secret' ? await secrets.open(given.secret) : null
    const credential: Credential = opened === null ? given : { kind: 'session', secretHash: opened.secretHash }
    const { anonymous, authenticator } = this.#parts
    const { address } = exchange
    // Without the exchange, which would stay in memory as long as the connection is open.
    const again = () =>
      credential.kind === 'missing' && anonymous !== null
        ? anonymous.caller()
        : authenticator.authenticate(credential, address)
    const caller = await this.#caller(credential, exchange)
    exchange.accountId = caller.account.id
    requireScope(caller.key, scope)
    this.#count(exchange, this.#parts.allowances.take(allowance, caller.account))
    return { caller, again, session: opened?.session ?? null }
  }

  /** For routes that need no key: counted by address. A credential that is sent must be valid. */
  async enterPublic(exchange: Exchange): Promise<Caller | null> {
    if ((await this.#credential(exchange)).kind !== 'missing') return this.enter(exchange, null, 'requests')
    this.countPublic(exchange)
    return null
  }

  /** Public content needs no credential and ignores any; requests are counted by address. */
  countPublic(exchange: Exchange): void {
    this.#count(exchange, this.#parts.allowances.takePublic(exchange.address))
  }

  /** A key wins over a session, so that a page can be tried with another key. */
  async #credential({ request }: Exchange): Promise<Credential> {
    const given = credentialOf(request.headers, this.#limits.acceptKeyHeaders)
    const token = given.kind === 'missing' && isFromHere(request, this.#parts.names) ? tokenOf(request.headers) : null
    const secretHash = token === null ? null : await this.#parts.sessions.use(token)
    return secretHash === null ? given : { kind: 'session', secretHash }
  }

  async #caller(credential: Credential, { request, address }: Exchange): Promise<Caller> {
    const { anonymous, authenticator, names, cors } = this.#parts
    if (credential.kind !== 'missing' || anonymous === null) return authenticator.authenticate(credential, address)
    requireOwnPage(request, names, cors)
    return anonymous.caller()
  }

  #count(exchange: Exchange, verdict: ThrottleVerdict): void {
    exchange.headers.set('x-ratelimit-limit-requests', String(verdict.limit))
    exchange.headers.set('x-ratelimit-remaining-requests', String(verdict.remaining))
    exchange.headers.set('x-ratelimit-reset-requests', duration(verdict))
    if (verdict.allowed) return
    this.#parts.onLimited(exchange.route)
    throw new MynaError('rate_limit_exceeded', 'Too many requests. Try again later.', {
      retryAfterMs: verdict.retryAfterMs,
    })
  }
}

const duration = ({ resetMs }: ThrottleVerdict): string =>
  resetMs < 1000 ? `${Math.ceil(resetMs)}ms` : `${Math.ceil(resetMs / 1000)}s`

/** An empty bearer token counts as missing, because interfaces without a configured key send it. */
export function credentialOf(headers: Headers, acceptKeyHeaders: boolean): Credential {
  const authorization = headers.get('authorization')?.trim()
  if (authorization === undefined || authorization === '') {
    const names = acceptKeyHeaders ? ['xi-api-key', 'x-api-key', 'api-key'] : []
    const secret = names.map((name) => headers.get(name)?.trim() ?? '').find((value) => value !== '')
    return secret === undefined ? { kind: 'missing' } : { kind: 'secret', secret }
  }
  const match = /^bearer(?:[ \t]+(.*))?$/i.exec(authorization)
  if (match === null) return { kind: 'malformed' }
  const secret = (match[1] ?? '').trim()
  if (secret === '') return { kind: 'missing' }
  return /\s/.test(secret) ? { kind: 'malformed' } : { kind: 'secret', secret }
}

/** OpenAI's clients in a browser put their key among the subprotocols that they offer. */
function subprotocolKey(headers: Headers): Credential {
  const offered = (headers.get('sec-websocket-protocol') ?? '').split(',').map((name) => name.trim())
  const prefix = 'openai-insecure-api-key.'
  const secret = offered.find((name) => name.startsWith(prefix))?.slice(prefix.length) ?? ''
  return secret === '' ? { kind: 'missing' } : { kind: 'secret', secret }
}
