/**
 * `/v1/realtime`: transcription over a WebSocket, in the shape of OpenAI's realtime API, and `POST
 * /v1/realtime/client_secrets`. Clients without access are refused before the upgrade. The sessions themselves are in
 * `realtime/`.
 */
import { Elysia } from 'elysia'
import { MynaError } from '../domain/error.ts'
import type { Clock } from '../domain/time.ts'
import { SessionConfig } from '../realtime/config.ts'
import type { Opening, RealtimeParts } from '../realtime/parts.ts'
import { RealtimeSession } from '../realtime/session.ts'
import type { ClientSecrets } from '../service/client-secrets.ts'
import { newId } from '../domain/id.ts'
import { PerAccount } from '../service/concurrency.ts'
import { type BodyLimits, readJson } from './body.ts'
import { endpoints } from './endpoint.ts'
import { type Action, type Exchange, json, type Route } from './exchange.ts'
import { parseFields, parseQuery } from './fields/field.ts'
import { openAiDialect } from './fields/refusals.ts'
import type { Gate } from './gate.ts'
import { clientSecretsDetail, realtimeDetail } from './openapi/realtime.ts'
import { lifeFields, realtimeQuery, secretAnswer, secretFields } from './realtime-fields.ts'

export interface RealtimeRoutesParts {
  gate: Gate
  secrets: ClientSecrets
  realtime: RealtimeParts & { clock: Clock }
  bodyLimits: BodyLimits
  /** Sockets that an account may have open. */
  sessionsMax: number
  draining: () => boolean
}

/**
 * For `new Elysia({ websocket })`: options of a single route have no effect. An `append` may carry 15 MiB of audio,
 * which is 20 MiB in base64. Base64 of audio hardly compresses.
 */
export const socketLimits = {
  maxPayloadLength: 24 * 1024 * 1024,
  idleTimeout: 120,
  perMessageDeflate: false,
  backpressureLimit: 1024 * 1024,
  closeOnBackpressureLimit: false,
} as const

interface Admitted {
  opening: Opening
  accountId: string
}

export function realtimeRoutes(route: Route, parts: RealtimeRoutesParts) {
  const admitted = new WeakMap<Request, Admitted>()
  const sessions = new Map<string, { session: RealtimeSession; leave: () => void }>()
  const perAccount = new PerAccount(parts.sessionsMax, 'realtime sessions')
  const admit = route('/v1/realtime', async (exchange) => {
    admitted.set(exchange.request, await admission(exchange, parts, perAccount))
    return new Response(null, { status: 101 })
  })
  const plain: Action = async (exchange) => {
    await parts.gate.enter(exchange, 'tts', 'requests')
    throw new MynaError(
      'upgrade_required',
      'This address is for WebSockets: wss://.../v1/realtime. A proxy has to pass on the header Upgrade.',
    )
  }
  const sockets = new Elysia().ws('/v1/realtime', {
    detail: { hide: true },
    // A list: Elysia runs a single function twice.
    beforeHandle: [
      async (context) => {
        const response = await admit(context)
        if (!admitted.has(context.request)) return response
        context.set.headers['x-request-id'] = response.headers.get('x-request-id') ?? ''
      },
    ],
    open(ws) {
      const come = admitted.get(ws.data.request)
      if (come === undefined) return void ws.close(1011, 'The session cannot be opened.')
      // Counted only here: a handshake that fails opens no socket, so nothing would close it.
      const leave = placeOf(come.accountId, perAccount)
      if (leave === null) return void ws.close(1013, 'This account has as many sockets open as it may have.')
      const wire = {
        send: (text: string) => ws.raw.send(text),
        close: (code: number, reason: string) => void ws.close(code, reason),
      }
      sessions.set(ws.id, { session: new RealtimeSession(parts.realtime, come.opening, wire), leave })
    },
    message: (ws, message) => sessions.get(ws.id)?.session.receive(message),
    drain: (ws) => sessions.get(ws.id)?.session.drained(),
    close(ws) {
      const open = sessions.get(ws.id)
      sessions.delete(ws.id)
      open?.session.closed()
      open?.leave()
    },
  })
  return endpoints(route, [
    ['GET /v1/realtime', realtimeDetail, plain],
    ['POST /v1/realtime/client_secrets', clientSecretsDetail, (exchange) => issueSecret(exchange, parts)],
  ]).use(sockets)
}

/** @returns how to leave it; null: there is none */
function placeOf(accountId: string, perAccount: PerAccount): (() => void) | null {
  try {
    return perAccount.enter(accountId)
  } catch {
    return null
  }
}

async function admission(
  exchange: Exchange,
  { gate, secrets, realtime, draining }: RealtimeRoutesParts,
  perAccount: PerAccount,
): Promise<Admitted> {
  const { caller, again, session } = await gate.enterForLong(exchange, 'tts', 'requests', secrets)
  if (draining()) throw new MynaError('server_shutting_down', 'The server is shutting down.', { retryAfterMs: 5000 })
  realtime.transcriptions.requireModel()
  const { model } = parseQuery(realtimeQuery, exchange.url.searchParams)
  const { id: accountId } = caller.account
  // A refusal before the upgrade has a status; of several handshakes at once, `open` decides.
  perAccount.enter(accountId)()
  return { opening: { access: again, model, session }, accountId }
}

async function issueSecret(exchange: Exchange, parts: RealtimeRoutesParts): Promise<Response> {
  const caller = await parts.gate.enter(exchange, 'tts', 'requests')
  const body = await readJson(exchange.request, parts.bodyLimits)
  const { expires_after: life, session } = parseFields(secretFields, body, openAiDialect)
  const { seconds } = parseFields(lifeFields, life, openAiDialect)
  const { value, expiresAtS } = await parts.secrets.issue(caller, seconds, session)
  const { clock, random } = parts.realtime
  const config = new SessionConfig({ id: newId('sess', clock.nowMs(), random), expiresAtS, model: null })
  config.update(session)
  return json(secretAnswer.of({ value, expiresAtS, session: config }))
}
