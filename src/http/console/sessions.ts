/**
 * Browser sessions of the console: which key is behind a cookie, so that pages never hold a key. Only the hash of the
 * key is kept, in the database, so that a restart ends no session. Whatever ends the key ends its sessions, because
 * every request looks it up again. The cookie is HttpOnly and SameSite=Strict; requests that change anything must also
 * name this very origin.
 */
import { hostOf, type OwnNames } from '../own-names.ts'
import type { SessionStore } from '../../service/ports/sessions.ts'

const sessionCookie = 'myna_session'

/** A session without a request for this long has ended. */
export const idleSessionMs = 12 * 3_600_000
const tokenBytes = 32

/** Creates the tokens; the store keeps who is behind them. */
export class Sessions {
  readonly #store: SessionStore
  readonly #random: (bytes: Uint8Array) => Uint8Array

  constructor(store: SessionStore, random: (bytes: Uint8Array) => Uint8Array) {
    this.#store = store
    this.#random = random
  }

  /** @param secretHash of a key that was just found to be good @returns the token for the cookie */
  async open(secretHash: string): Promise<string> {
    const token = Buffer.from(this.#random(new Uint8Array(tokenBytes))).toString('base64url')
    await this.#store.open(token, secretHash)
    return token
  }

  /** The hash of the key behind the token; null: the session does not exist, or no longer. */
  use(token: string): Promise<string | null> {
    return this.#store.use(token)
  }

  close(token: string): Promise<void> {
    return this.#store.close(token)
  }
}

/** The value of our cookie, if the browser sent one. */
export function tokenOf(headers: Headers): string | null {
  const pairs = (headers.get('cookie') ?? '').split(';').map((pair) => pair.trim().split('='))
  return pairs.find(([name]) => name === sessionCookie)?.[1] ?? null
}

/**
 * Whether the browser says that the request comes from a page of this server. `Sec-Fetch-Site` refers to the address in
 * the browser and cannot be forged by a page, so it also decides behind a proxy that passes another Host. Browsers send
 * it over TLS and to localhost. Over plain http, the origin, which comes with everything but GET, must be this host,
 * and the host a name of this server (`own-names.ts`).
 */
export function isFromHere(request: Request, names: OwnNames): boolean {
  const { method, headers } = request
  const site = headers.get('sec-fetch-site')
  if (site === 'same-origin') return true
  if (site !== null && site !== 'none') return false
  const host = hostOf(request)
  if (host === null || !names.has(host)) return false
  const origin = headers.get('origin')
  if (origin === null) return method === 'GET' || method === 'HEAD'
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase()
}

/** @param secure whether the browser speaks TLS with this server */
export const setCookie = (token: string, secure: boolean): string =>
  `${sessionCookie}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${idleSessionMs / 1000}` +
  (secure ? '; Secure' : '')

export const clearCookie = `${sessionCookie}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`
