/**
 * One request and its answer: the request id, the client's address, the headers of every answer, the log line and the
 * counters. Routes are functions from an exchange to a `Response`; whatever they throw becomes the envelope here, in
 * one place.
 */
import { MynaError } from '../domain/error.ts'
import { newId } from '../domain/id.ts'
import type { Clock } from '../domain/time.ts'
import type { Cors } from './cors.ts'
import { speaksElevenLabs } from './elevenlabs/protocol.ts'
import { errorResponse } from './errors.ts'
import type { Metrics } from './metrics.ts'
import { hostOf } from './own-names.ts'

export interface Exchange {
  readonly request: Request
  readonly url: URL
  readonly params: Readonly<Record<string, string>>
  /** The route's template, for metrics; never the raw path. */
  readonly route: string
  /** Whether it speaks ElevenLabs' protocol, which changes routes and errors. */
  readonly isElevenLabs: boolean
  /** The client's address. */
  readonly address: string
  /** The origin of this server as the client reaches it: `https://voice.example`. */
  readonly origin: string
  /** `req_...`, or the operation's id once there is one. */
  requestId: string
  accountId: string | null
  /** Headers of the answer, whether it succeeds or fails. */
  readonly headers: Headers
  /** Stops Bun from closing this connection while it waits for the engine: until its answer, or the end of a stream. */
  keepOpen(): void
  /** Has Bun close it again once it is unused, where it was kept open. */
  letClose(): void
  /** Whether the answer is a stream, which lets the connection close itself. */
  isStreaming: boolean
  /** Has Bun close it some seconds after the answer, whatever still comes; another request on it ends that. */
  closeSoon(): void
}

export type Action = (exchange: Exchange) => Response | Promise<Response>

export interface ExchangeParts {
  clock: Clock
  random: (bytes: Uint8Array) => Uint8Array
  metrics: Metrics
  cors: Cors
  /** How long unused connections are kept, in seconds. Some clients pool theirs for 120. */
  idleConnectionS: number
  trustedProxies: ReadonlySet<string>
  /** The origin under which clients reach this server; null: what each request says. */
  publicOrigin: string | null
  log: (line: Record<string, unknown>) => void
  report: (message: string, cause: unknown) => void
}

/** What Elysia and Bun pass to a route. */
export interface Incoming {
  request: Request
  params?: Record<string, string> | undefined
  server?:
    | {
        requestIP(request: Request): { address: string } | null
        timeout(request: Request, seconds: number): void
      }
    | null
    | undefined
}

export type Route = (template: string, action: Action) => (incoming: Incoming) => Promise<Response>

export const routeWith =
  (parts: ExchangeParts): Route =>
  (template, action) =>
  // Elysia reads in the handler's text what to prepare. A whole context would mean cookies, headers and query as well.
  async ({ request, params, server }) => {
    const beganMs = parts.clock.monotonicMs()
    const exchange = newExchange(parts, template, { request, params, server })
    let response: Response
    try {
      if (hostOf(request) === null && !probes.has(template)) throw unreadableHost()
      response = await action(exchange)
    } catch (error) {
      response = failed(parts, exchange, error)
    }
    return sent(parts, exchange, response, beganMs)
  }

function newExchange(parts: ExchangeParts, route: string, incoming: Incoming): Exchange {
  const { request, server } = incoming
  const peer = plainAddress(server?.requestIP(request)?.address ?? 'unknown')
  let url: URL | null = null
  let requestId: string | null = null
  let isKeptOpen = false
  return {
    request,
    // Speech needs none of these three.
    get url() {
      return (url ??= urlOf(request))
    },
    get origin() {
      return parts.publicOrigin ?? `${schemeOf(request, this.url, peer, parts.trustedProxies)}://${this.url.host}`
    },
    get requestId() {
      return (requestId ??= newId('req', parts.clock.nowMs(), parts.random))
    },
    set requestId(id) {
      requestId = id
    },
    params: incoming.params ?? {},
    route,
    isElevenLabs: speaksElevenLabs(request),
    address: clientAddress(request, peer, parts.trustedProxies),
    accountId: null,
    headers: new Headers({ 'x-content-type-options': 'nosniff' }),
    isStreaming: false,
    keepOpen() {
      isKeptOpen = true
      server?.timeout(request, 0)
    },
    letClose: () => isKeptOpen && server?.timeout(request, parts.idleConnectionS),
    closeSoon: () => server?.timeout(request, lingerS),
  }
}

/** Load balancers probe by HTTP/1.0, without a host. */
const probes: ReadonlySet<string> = new Set(['/health', '/healthz', '/livez', '/readyz'])

const unreadableHost = (): MynaError =>
  new MynaError('invalid_host', 'The request must have one Host header with a name or an address.')

/** Without a readable host Bun gives only the path, or an address that cannot be parsed. */
function urlOf({ url }: Request): URL {
  const path = () => url.replace(/^http:\/\/[^/]*/, '')
  return URL.parse(url) ?? URL.parse(path(), 'http://localhost') ?? new URL('http://localhost')
}

function failed(parts: ExchangeParts, exchange: Exchange, error: unknown): Response {
  if (!(error instanceof MynaError)) parts.report(`${exchange.request.method} ${exchange.route}`, error)
  const known =
    error instanceof MynaError ? error : new MynaError('internal_error', 'Internal server error.', { cause: error })
  if (known.operationId !== undefined) exchange.requestId = known.operationId
  return errorResponse(known, exchange.requestId, exchange.isElevenLabs)
}

function sent(parts: ExchangeParts, exchange: Exchange, response: Response, beganMs: number): Response {
  const { request, headers } = exchange
  headers.set('x-request-id', exchange.requestId)
  const clientId = request.headers.get('x-client-request-id')
  if (clientId !== null && clientId.length <= 512) headers.set('x-client-request-id', clientId)
  parts.cors.apply(request, headers)
  for (const [name, value] of headers) if (!response.headers.has(name)) response.headers.set(name, value)
  const seconds = (parts.clock.monotonicMs() - beganMs) / 1000
  parts.metrics.request(request.method, exchange.route, response.status, seconds)
  if (!exchange.isStreaming) exchange.letClose()
  if (exchange.accountId === null && isStillSending(request, response)) exchange.closeSoon()
  parts.log({
    event: 'request',
    id: exchange.requestId,
    method: request.method,
    route: exchange.route,
    status: response.status,
    ms: Math.round(seconds * 1000),
    ...(exchange.accountId === null ? {} : { account: exchange.accountId }),
    ...(clientId === null ? {} : { client_request_id: clientId.slice(0, 512) }),
  })
  return response
}

/** How long an unauthenticated client may keep sending after the answer. */
const lingerS = 10

/** Whether there may be a body that nothing reads: a connection would be held open as long as it drips. */
function isStillSending({ method, headers }: Request, { status }: Response): boolean {
  const hasBody = headers.has('transfer-encoding') || Number(headers.get('content-length') ?? 0) > 0
  return hasBody && (status >= 400 || method === 'GET' || method === 'HEAD')
}

/** A dual-stack socket reports IPv4 addresses as `::ffff:10.0.0.1`; people and settings write 10.0.0.1. */
const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '')

/** The last address that a trusted proxy reports. */
function clientAddress(request: Request, peer: string, trusted: ReadonlySet<string>): string {
  if (!trusted.has(peer)) return peer
  const hops = (request.headers.get('x-forwarded-for') ?? '').split(',').map((hop) => plainAddress(hop.trim()))
  return hops.reverse().find((hop) => hop !== '' && !trusted.has(hop)) ?? peer
}

function schemeOf(request: Request, { protocol }: URL, peer: string, trusted: ReadonlySet<string>): 'http' | 'https' {
  if (protocol === 'https:') return 'https'
  const [forwarded] = (request.headers.get('x-forwarded-proto') ?? '').split(',')
  return trusted.has(peer) && forwarded?.trim().toLowerCase() === 'https' ? 'https' : 'http'
}

export const json = (body: unknown, status = 200): Response => jsonText(JSON.stringify(body), status)

/** @param text is JSON already */
export const jsonText = (text: string, status = 200): Response =>
  new Response(text, { status, headers: { 'content-type': 'application/json; charset=utf-8' } })
