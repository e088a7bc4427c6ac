/** Signing in to the console: a key goes in once, and what comes back is a cookie that no script can read. */
import { Elysia } from 'elysia'
import { type Caller, hashSecret } from '../../domain/account.ts'
import { MynaError } from '../../domain/error.ts'
import type { Authenticator } from '../../service/authenticate.ts'
import { type BodyLimits, readJson } from '../body.ts'
import { codes } from '../error-codes.ts'
import { type Exchange, json, type Route } from '../exchange.ts'
import type { Gate } from '../gate.ts'
import { type OwnNames, requireOwnName } from '../own-names.ts'
import { clearCookie, isFromHere, type Sessions, setCookie, tokenOf } from './sessions.ts'

export interface ConsoleSessionParts {
  gate: Gate
  sessions: Sessions
  authenticator: Authenticator
  bodyLimits: BodyLimits
  names: OwnNames
}

/** The caller is still unknown: read a key, without holding the connection open. */
const strangersBody = { maxJsonBytes: 16_384, totalMs: 10_000 }

const path = '/console/api/session'

export function consoleSessionRoutes(route: Route, parts: ConsoleSessionParts) {
  const { gate, sessions, authenticator, bodyLimits, names } = parts
  const open = route(path, async (exchange) => {
    gate.countPublic(exchange)
    exchange.headers.set('cache-control', 'no-store')
    requireFromHere(exchange.request, names)
    const { api_key: given } = await readJson(exchange.request, { ...bodyLimits, ...strangersBody })
    const secret = typeof given === 'string' ? given.trim() : ''
    const credential = secret === '' ? ({ kind: 'missing' } as const) : ({ kind: 'secret', secret } as const)
    const caller = await authenticator.authenticate(credential, exchange.address)
    const token = await sessions.open(hashSecret(secret))
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
