/** Signing in to the console: a key goes in once, and what comes back is a cookie that no script can read. */
import { Elysia } from 'elysia'
import { type Caller, hashSecret } from '../../domain/account.ts'
import { MynaError } from '../../domain/error.ts'
import type { Authenticator, Credential } from '../../service/authenticate.ts'
import { type Body, type BodyLimits, readJson } from '../body.ts'
import { codes } from '../error-codes.ts'
import { type Exchange, json, type Route } from '../exchange.ts'
import type { Gate } from '../gate.ts'
import { type OwnNames, requireOwnName } from '../own-names.ts'
import { clearCookie, isFromHere, type Sessions, setCookie, tokenOf } from './sessions.ts'
import type { SignInLinks } from './sign-in-links.ts'

export interface ConsoleSessionParts {
  gate: Gate
  sessions: Sessions
  links: SignInLinks
  authenticator: Authenticator
  bodyLimits: BodyLimits
  names: OwnNames
}

/** The caller is still unknown: read a key, without holding the connection open. */
const strangersBody = { maxJsonBytes: 16_384, totalMs: 10_000 }

const path = '/console/api/session'

export function consoleSessionRoutes(route: Route, parts: ConsoleSessionParts) {
  const { gate, sessions, links, authenticator, bodyLimits, names } = parts
  const open = route(path, async (exchange) => {
    gate.countPublic(exchange)
    exchange.headers.set('cache-control', 'no-store')
    requireFromHere(exchange.request, names)
    const body = await readJson(exchange.request, { ...bodyLimits, ...strangersBody })
    const credential = credentialOf(body, links)
    const caller = await authenticator.authenticate(credential, exchange.address)
    const token = await sessions.open(
      credential.kind === 'session' ? credential.secretHash : hashSecret(credential.secret),
    )
    exchange.headers.set('set-cookie', setCookie(token, exchange.origin.startsWith('https:')))
    return json(who(caller))
  })
  // Not being signed in is not an error: browsers would show one in their console.
  const look = route(path, async (exchange) => json(await whoIsIn(exchange, gate)))
  const close = route(path, async (exchange) => {
    requireFromHere(exchange.request, names)
    const token = tokenOf(exchange.request.headers)
    if (token !== null) await sessions.close(token)
    exchange.headers.set('set-cookie', clearCookie)
    return new Response(null, { status: 204 })
  })
  const hidden = { detail: { hide: true } }
  return new Elysia()
    .post(path, open, { parse: 'none', ...hidden })
    .get(path, look, hidden)
    .delete(path, close, { parse: 'none', ...hidden })
}

/** A key, or the token of a link. @throws MynaError `missing_api_key`, `invalid_api_key` */
function credentialOf(
  { api_key: key, link }: Body,
  links: SignInLinks,
): Extract<Credential, { kind: 'secret' | 'session' }> {
  if (typeof link === 'string') {
    const secretHash = links.take(link)
    if (secretHash !== null) return { kind: 'session', secretHash }
    throw new MynaError(
      'invalid_api_key',
      'This sign-in link was used already, or is older than ten minutes. Sign in with a key instead.',
    )
  }
  const secret = typeof key === 'string' ? key.trim() : ''
  if (secret === '') throw new MynaError('missing_api_key', 'No API key was given.')
  return { kind: 'secret', secret }
}

/** Another page could sign a visitor in with a key of its own, or out. @throws MynaError `foreign_origin` */
function requireFromHere(request: Request, names: OwnNames): void {
  if (isFromHere(request, names)) return
  if (request.headers.get('sec-fetch-site') === null) requireOwnName(request, names)
  throw new MynaError('foreign_origin', 'Only a page of this server may do that.')
}

async function whoIsIn(exchange: Exchange, gate: Gate) {
  try {
    return who(await gate.enter(exchange, null, 'requests'))
  } catch (error) {
    if (error instanceof MynaError && codes[error.code].status === 401) return null
    throw error
  }
}

const who = ({ account, key }: Caller) => ({
  account: {
    id: account.id,
    name: account.name,
    is_admin: account.role === 'admin',
    balance_micros: account.balanceMicros,
  },
  key: { id: key.id, name: key.name, prefix: key.prefix, scopes: key.scopes },
})
