/**
 * The whole service, wired: the one place that knows what stands behind which port. Started in the order in which truth
 * demands it: own the data folder, settle what a crash left, then open the port.
 */
import { version } from '../../package.json' with { type: 'json' }
import type { Config } from '../config.ts'
import type { Caller } from '../domain/account.ts'
import type { Clock, Timer } from '../domain/time.ts'
import { createApp } from '../http/app.ts'
import { corsFor } from '../http/cors.ts'
import { Gate } from '../http/gate.ts'
import { type ServerStatus, startLocal } from '../http/local.ts'
import { Metrics } from '../http/metrics.ts'
import { causeOf, type Log } from '../log.ts'
import { AdminVerbs, ensureFirstAdmin, type IssuedKey } from '../service/accounts.ts'
import { Authenticator } from '../service/authenticate.ts'
import { startSweeping } from '../service/housekeeping.ts'
import type { Accounts, Catalog, Encoders, SpeechEngine } from '../service/ports.ts'
import { Queue } from '../service/queue.ts'
import { Speech } from '../service/speak.ts'
import { SqliteAccounts } from '../store/accounts.ts'
import { openDatabase } from '../store/database.ts'
import { SqliteLedger } from '../store/ledger.ts'
import { acquireLock } from '../store/lock.ts'
import { Failure } from './terminal.ts'

/** What a test may replace: time, chance and the engine. */
export interface World {
  clock: Clock
  timer: Timer
  random: (bytes: Uint8Array) => Uint8Array
  catalog: Catalog
  engine: SpeechEngine
  encoders: Encoders
  log: Log
}

export interface Server {
  url: string
  port: number
  /** Of an administrator made now, because the data folder was empty. */
  firstKey: IssuedKey | null
  /** Records that the last run left pending. */
  settledCrashed: number
  status(): Promise<ServerStatus>
  administration: AdminVerbs
  /** Stops accepting, lets streams finish for DRAIN_MS, settles the rest, closes the books. */
  stop(): Promise<void>
}

/** @throws StoreError, Failure with a sentence for whoever started it */
export async function startServer(config: Config, world: World): Promise<Server> {
  const lock = acquireLock(config.dataDir)
  try {
    return await startOwning(config, world, () => lock.release())
  } catch (error) {
    lock.release()
    throw error
  }
}

async function startOwning(config: Config, world: World, release: () => void): Promise<Server> {
  const { clock, timer, log } = world
  const report = (message: string, cause: unknown) => log.warn(message, { cause: causeOf(cause) })
  const database = await openDatabase(config.dataDir)
  const accounts = new SqliteAccounts(database, world)
  const ledger = new SqliteLedger(database, world)
  const administration = new AdminVerbs(accounts, ledger, world)
  const settledCrashed = await ledger.settleCrashed()
  const firstKey = await ensureFirstAdmin(accounts, administration)
  const metrics = new Metrics()
  const queue = new Queue(config.speechStreams, config.speechQueue, timer)
  const speech = new Speech(
    { ...world, ledger, queue, meter: metrics, report },
    {
      prices: { speechMicrosPerChar: config.speechMicrosPerChar, cloneMicros: config.cloneMicros },
      voiceNames: { aliases: aliasesOf(config), defaultVoice: config.defaultVoice || null },
      concurrency: config.speechConcurrency,
      queueWaitMs: config.queueWaitMs,
      unreadMs: config.unreadMs,
    },
  )
  const authenticator = new Authenticator(accounts, clock, (code) => metrics.authFailure(code))
  const anonymous = config.allowAnonymous ? await anonymousCaller(accounts, administration) : null
  const gate = new Gate(authenticator, clock, { ...config, anonymous }, (route) => metrics.rateLimited(route))
  let draining = false
  const app = createApp({
    exchange: {
      clock,
      random: world.random,
      metrics,
      cors: corsFor(config.corsOrigins),
      trustedProxies: new Set(config.trustedProxies),
      log: (fields) => log.debug('request', fields),
      report,
    },
    speech: {
      gate,
      speech,
      timer,
      bodyLimits: { maxJsonBytes: config.maxJsonBytes, timer },
      maxInputChars: config.maxInputChars,
    },
    operations: { gate, ledger, running: speech },
    models: {
      gate,
      catalog: world.catalog,
      listAliases: config.listModelAliases,
      maxInputChars: config.maxInputChars,
    },
    account: { gate, accounts, ledger, clock, limits: config },
    health: {
      version,
      clock,
      ledger,
      metrics,
      metricsToken: config.metricsToken,
      speechEngine: () => world.engine.status(),
      diskFull: () => speech.unwrittenCount > 0,
      draining: () => draining,
    },
    idleConnectionS: config.idleConnectionS,
  })
  metrics.observe(version, {
    queueDepth: () => queue.depth,
    pendingOperations: () => ledger.pendingCount(),
    engines: async () => [await world.engine.status()],
  })
  const port = listen(app, config)
  const url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`
  const beganMs = clock.monotonicMs()
  const status = async (): Promise<ServerStatus> => {
    const engine = await world.engine.status()
    const degraded = engine.state === 'failed' || speech.unwrittenCount > 0
    const loading = engine.state === 'starting'
    return {
      version,
      pid: process.pid,
      url,
      uptimeMs: clock.monotonicMs() - beganMs,
      readiness: draining ? 'draining' : degraded ? 'degraded' : loading ? 'loading' : 'ready',
      queue: { running: queue.running, waiting: queue.depth },
      pendingOperations: await ledger.pendingCount(),
      engines: [engine],
    }
  }
  const onError = (error: unknown) => report('a command through the local socket failed', error)
  const local = startLocal({ dataDir: config.dataDir, administration, status, onError })
  const stopSweeping = startSweeping(ledger, timer, report)
  const stop = async () => {
    draining = true
    speech.drain()
    const overdue = Promise.withResolvers<void>()
    const cancel = timer.after(config.drainMs, overdue.resolve)
    await Promise.race([speech.drained(), overdue.promise]).finally(cancel)
    await speech.shutDown()
    await app.server?.stop(true)
    await local.stop()
    stopSweeping()
    await accounts.close()
    database.close()
    release()
  }
  return { url, port, firstKey, settledCrashed, status, administration, stop: once(stop) }
}

function listen(app: ReturnType<typeof createApp>, { host, port }: Config): number {
  try {
    app.listen({ hostname: host, port })
  } catch (cause) {
    const taken = cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE'
    const why = taken ? 'it is in use; give another with --port, or 0 for any free one' : (cause as Error).message
    throw new Failure(`Cannot listen on ${host}:${port}: ${why}`, 'cannot_listen')
  }
  const bound = app.server?.port
  if (bound === undefined) throw new Failure(`Cannot listen on ${host}:${port}.`, 'cannot_listen')
  return bound
}

function aliasesOf({ voiceAliases }: Config): ReadonlyMap<string, string> {
  const pairs = voiceAliases.map((pair): [string, string] => {
    const [name, voice] = pair.split('=')
    if (name && voice) return [name.toLowerCase(), voice]
    throw new Failure(`MYNA_VOICE_ALIASES: '${pair}' is not NAME=VOICE_ID`, 'bad_setting')
  })
  return new Map(pairs)
}

/** The account that requests without a credential act as. Its key exists only so that usage has one to name. */
async function anonymousCaller(accounts: Accounts, administration: AdminVerbs): Promise<Caller> {
  const name = 'anonymous'
  const account =
    (await accounts.findByName(name)) ?? (await accounts.create({ name, role: 'user', balanceMicros: null }))
  const [known] = await accounts.listKeys(account.id)
  const key = known ?? (await administration.createKey({ account: name, name, scopes: null, expires: null })).key
  return { account, key }
}

function once(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null
  return () => (running ??= run())
}
