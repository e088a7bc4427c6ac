/**
 * The local socket through which the command line talks to the running server: a socket file in the data folder that
 * speaks JSON over HTTP, one `POST /<verb>` per verb. Its permissions (0600) are the authentication, exactly as for the
 * database beside it. Both ends are this program, so records travel unchanged. Paths longer than a socket address are
 * fine: Bun then binds and connects through /proc/self/fd.
 */
import { chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { MynaError } from '../domain/error.ts'
import type { Administration } from '../service/accounts.ts'
import type { ModelTrouble } from '../domain/model-trouble.ts'
import type { BoxStatus } from '../service/ports/boxes.ts'
import type { EngineStatus } from '../service/ports/engines.ts'
import type { SpeechFacts } from '../service/speech-queue.ts'
import type { Readiness } from './readiness.ts'

/** What `ps` and `doctor` show about a running server. */
export interface ServerStatus {
  version: string
  pid: number
  /** The address it listens on. */
  url: string
  uptimeMs: number
  /** As in `/readyz`. */
  readiness: Readiness['status']
  /** The running speech streams, the waiting ones, and what they need of the machine. */
  queue: SpeechFacts
  pendingOperations: number
  engines: readonly EngineStatus[]
  /** Models that are installed but cannot be used. */
  troubles: readonly ModelTrouble[]
  /** All servers on the same database; absent: it is not shared. */
  boxes?: readonly BoxStatus[]
}

/** What a command needs to call the API as a client. */
export interface ClientAccess {
  /** Without `/v1`. */
  url: string
  apiKey: string
}

export interface LocalVerbs extends Administration {
  status(): Promise<ServerStatus>
  clientAccess(): Promise<ClientAccess>
  /** Stops listening, here and on the network, because another server takes over. Running requests continue. */
  handOver(): Promise<void>
  /** A model's files were added, changed or removed: engines release what they loaded from them once it is unused. */
  dismissModel(argument: { model: string }): Promise<void>
}

export type LocalVerb = keyof LocalVerbs

/** A table rather than a list, so that the compiler reports a missing verb. */
const verbs: Readonly<Record<LocalVerb, true>> = {
  createAccount: true,
  listAccounts: true,
  credit: true,
  setMetering: true,
  setLimits: true,
  disableAccount: true,
  enableAccount: true,
  renameAccount: true,
  setRole: true,
  removeAccount: true,
  createKey: true,
  listKeys: true,
  revokeKey: true,
  usage: true,
  status: true,
  clientAccess: true,
  handOver: true,
  dismissModel: true,
}
const isVerb = (name: string): name is LocalVerb => Object.hasOwn(verbs, name)

/** The response: the verb's result, or its error in words. */
export type LocalAnswer = { result: unknown } | { error: { code: string; message: string } }

export interface LocalOptions {
  /** For a data folder whose lock the caller holds: a socket file found there belongs to a dead server. */
  dataDir: string
  administration: Administration
  status: () => Promise<ServerStatus>
  clientAccess: () => Promise<ClientAccess>
  handOver: () => Promise<void>
  /** `GET /metrics`, for Prometheus' own scraper on this machine. */
  metrics: () => Promise<Response>
  dismissModel: (model: string) => void
  /** Called with errors other than MynaError; the caller at the socket gets `internal_error` and the message. */
  onError: (error: unknown) => void
}

export interface LocalServer {
  path: string
  /** Lets running verbs finish, then removes the socket file. */
  stop(): Promise<void>
}

export const localSocketPath = (dataDir: string): string => join(dataDir, 'myna.sock')

/** @throws what the operating system reports if the socket cannot be created */
export function startLocal(options: LocalOptions): LocalServer {
  const path = localSocketPath(options.dataDir)
  rmSync(path, { force: true })
  // The file must not be open to others between its creation and chmod; nothing else runs in between.
  const umask = process.umask(0o177)
  try {
    const server = Bun.serve({ unix: path, maxRequestBodySize: 65536, fetch: (request) => answer(request, options) })
    chmodSync(path, 0o600)
    return { path, stop: () => server.stop(false) }
  } finally {
    process.umask(umask)
  }
}

async function answer(request: Request, options: LocalOptions): Promise<Response> {
  const verb = new URL(request.url).pathname.slice(1)
  if (request.method === 'GET' && verb === 'metrics') return options.metrics()
  if (request.method !== 'POST' || !isVerb(verb)) {
    return refuse(404, 'unknown_url', 'The running server does not know this command; it may be another version.')
  }
  const body: unknown = await request.json().catch(() => null)
  if (typeof body !== 'object' || body === null) return refuse(400, 'invalid_json', 'The arguments must be an object.')
  try {
    return Response.json({ result: (await call(verb, body, options)) ?? null } satisfies LocalAnswer)
  } catch (error) {
    if (error instanceof MynaError) return refuse(400, error.code, error.message)
    options.onError(error)
    return refuse(500, 'internal_error', error instanceof Error ? error.message : String(error))
  }
}

async function call(verb: LocalVerb, body: object, options: LocalOptions): Promise<unknown> {
  const { administration, status, clientAccess, handOver, dismissModel } = options
  if (verb === 'status') return status()
  if (verb === 'clientAccess') return clientAccess()
  if (verb === 'handOver') return handOver()
  if (verb === 'dismissModel') {
    if ('model' in body && typeof body.model === 'string') return dismissModel(body.model)
    throw new MynaError('validation_error', 'model: expected the id of a model')
  }
  // Each verb checks its own input, because anything may arrive at the socket.
  const run = administration[verb].bind(administration) as (argument: object) => Promise<unknown>
  return run(body)
}

const refuse = (status: number, code: string, message: string): Response =>
  Response.json({ error: { code, message } } satisfies LocalAnswer, { status })
