/**
 * A running service, started in the order in which truth demands it: own the data folder, settle what a crash left,
 * then open the port; and stopped in the reverse.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '../../../package.json' with { type: 'json' }
import { InstalledModels } from '../../catalog/installed.ts'
import { BackgroundKeeper } from '../../catalog/install/keeper.ts'
import type { Config } from '../../config.ts'
import { hashSecret } from '../../domain/account.ts'
import { MynaError } from '../../domain/error.ts'
import { newId } from '../../domain/id.ts'
import { type LocalServer, type ServerStatus, startLocal } from '../../http/admin-socket.ts'
import { SignInLinks } from '../../http/console/sign-in-links.ts'
import { readinessOf } from '../../http/readiness.ts'
import { commandLineKey } from '../../service/command-line-key.ts'
import { secretFile } from '../../store/secret-file.ts'
import { adminRemedy, type AdminVerbs, ensureFirstAdmin, type IssuedKey } from '../../service/accounts.ts'
import { modelStanding } from '../../service/model-troubles.ts'
import { removeOrphans, startSweeping } from '../../service/housekeeping.ts'
import { acquireLock, hasSuccessor, isLocked } from '../../store/lock.ts'
import { probeDisk } from '../../store/probe.ts'
import type { SqlAccounts } from '../../store/accounts.ts'
import { installationParts, modelsFolder } from '../models/local.ts'
import { cancelling, followCancels } from './cancels.ts'
import { findPredecessor, type Predecessor } from './hand-over.ts'
import { Listener } from './listener.ts'
import { machineOf } from './machine.ts'
import { createApi, createService, type Service, transcriptionEngines, type World } from './wiring.ts'
import { boxKeeper, type Describe, SharedCatalog, shareRequests } from './box.ts'
import { openRecords, type Records } from './records.ts'
import type { Address } from './address.ts'
import { openWyoming } from './wyoming.ts'
import { Failure } from '../terminal/terminal.ts'

export interface Server {
  /** Without `/v1`. */
  url: string
  port: number
  /** Address of Home Assistant's protocol; null: off. */
  wyoming: Address | null
  /** Key of an administrator created now, because the data folder was empty. */
  firstKey: IssuedKey | null
  /** Signs in to the console with that key, once, for ten minutes. */
  signInPath: string | null
  /** What to do if no active administrator exists; null: there is one. */
  adminRemedy: string | null
  /** Operations that the last run left pending. */
  settledCrashed: number
  /** Transcriptions that were running when it ended. */
  endedCrashed: number
  administration: AdminVerbs
  status(): Promise<ServerStatus>
  /** Takes certificate and key as their files are now. @throws Failure; then everything is as before */
  renewTls(): void
  /** Resolves when another server has taken over and what had begun here has ended, or DRAIN_MS are over. */
  handedOver: Promise<void>
  /** Refuses new work, lets streams finish for DRAIN_MS, settles the rest, closes the database. */
  stop(): Promise<void>
}

export interface StartHooks {
  /** The records are open: what takes another processor may begin, while the routes are made here. */
  onOpened?(): void
  /**
   * What is better done before the server that runs on the data folder stops listening; absent: this one is not to
   * take its place.
   */
  beforeListening?(): Promise<void>
}

/** A few, because the first ones are interpreted. */
const warmRequests = 5

/** About a second in all. */
const lockAttempts = 5
const lockPauseMs = 150

/** @throws StoreError, Failure with a sentence for the operator */
export async function startServer(config: Config, world: World, hooks: StartHooks = {}): Promise<Server> {
  const undo: (() => Promise<void> | void)[] = []
  const stop = once(async () => {
    for (const step of undo.splice(0).reverse()) await step()
  })
  try {
    return await start(config, world, hooks, stop, (step) => undo.push(step))
  } catch (error) {
    await stop()
    throw (await diskFailure(config, error)) ?? error
  }
}

/** A full disk has many words: those of SQLite, of the system, and our own for clients. It is called what it is. */
async function diskFailure({ dataDir }: Config, error: unknown): Promise<Failure | null> {
  if (error instanceof Failure) return null
  const { state, words } = await probeDisk(dataDir)
  if (state !== 'full' && state !== 'read_only') return null
  const remedy = state === 'full' ? 'Free some space' : 'Make it writable'
  return new Failure(`The server cannot start: ${words}. ${remedy}, then start it again.`, 'disk_full')
}

async function start(
  config: Config,
  given: World,
  hooks: StartHooks,
  stop: () => Promise<void>,
  onStop: (step: () => Promise<void> | void) => void,
): Promise<Server> {
  const former = hooks.beforeListening === undefined ? null : await findPredecessor(config.dataDir, given)
  if (former === null) onStop(await ownFolder(config, given))
  const records = await openRecords(config, given, former !== null, onStop)
  hooks.onOpened?.()
  const { books, shared } = records
  const catalog = new SharedCatalog(given.catalog)
  const world = { ...given, clock: records.clock, ...(shared === null ? {} : { catalog }) }
  const { accounts, ledger } = books
  const service = createService(config, world, books, (news) => void shared?.boxes.tell(news))
  let draining = false
  let url = ''
  const describe = describing(
    () => url,
    world,
    service,
    () => draining,
  )
  const keeper = shared === null ? null : boxKeeper(shared, world, service, describe)
  catalog.others = (model) => keeper?.elsewhere(model) ?? []
  const settled = keeper === null ? await settleAll(books, former) : await keeper.open()
  onStop(async () => keeper?.stop())
  if (await records.hasStrangeFiles()) throw strangeFolder(config)
  if (former === null) await tidyUp(books, shared, presetIds(world))
  const alone = shared?.alone ?? (<T>(work: () => Promise<T>) => work())
  const firstKey = await alone(() => firstKeyOf(config, accounts, service))
  const remedy = adminRemedy(await accounts.list())
  await service.storage.start()
  onStop(() => service.storage.stop())
  onStop(startSweeping({ ...world, ...books, ...service }))
  const status = async (): Promise<ServerStatus> => ({
    ...(await describe()),
    pendingOperations: await ledger.pendingCount(),
    ...(shared === null ? {} : { boxes: await shared.boxes.list() }),
  })
  const models = keeperFor(config, world, service, status)
  onStop(() => models.close())
  const cancel = cancelling(service, shared, former === null ? null : ledger)
  const links = new SignInLinks(world.clock, world.random)
  const machine = machineOf(config, () => url)
  const running = { status, models, machine, draining: () => draining, links, cancel }
  const app = await alone(() => createApi(config, world, books, service, running))
  if (former !== null) await warmedUp(app, hooks)
  const begun = idsOfNow(world)
  const listener = new Listener(app, config, former !== null)
  url = listener.url
  onStop(() => listener.stop())
  if (former !== null) onStop(await takeOver(former, world, shared === null ? ledger : null, begun))
  const wyoming = await openWyoming(config, world, books, service)
  onStop(async () => wyoming?.stop())
  if (shared !== null) onStop(shareRequests(shared, world, service))
  await keeper?.start()
  const stopped = () => [listener.close(), local.stop(), wyoming?.stop()]
  const hand = handing(stopped, () => followCancels(service, ledger, world.timer), config, world)
  const local = openLocal(config, world, service, accounts, status, hand.over)
  onStop(() => local.stop())
  onStop(async () => {
    draining = true
    await drain(config, world, service)
  })
  const found = { ...firstSignIn(firstKey, links), adminRemedy: remedy, ...countsOf(settled) }
  const ends = { renewTls: () => listener.renew(), handedOver: hand.ended, stop }
  return { url, port: listener.port, wyoming, ...found, administration: service.administration, status, ...ends }
}

/** The first request compiles the routes, which takes longer than a client should wait for: it is one of our own. */
async function warmedUp(app: { handle(request: Request): unknown }, hooks: StartHooks): Promise<void> {
  await hooks.beforeListening?.()
  for (let request = 0; request < warmRequests; request++) {
    await app.handle(new Request('http://localhost/v1/audio/models'))
  }
}

/** @returns as `ensureFirstAdmin` @throws Failure that names the file whose key will not do */
async function firstKeyOf(
  config: Config,
  accounts: SqlAccounts,
  { administration }: Service,
): Promise<IssuedKey | null> {
  try {
    return await ensureFirstAdmin(accounts, administration, adminKeyOf(config))
  } catch (error) {
    if (!(error instanceof MynaError) || error.code !== 'validation_error') throw error
    throw new Failure(`MYNA_ADMIN_KEY_FILE=${config.adminKeyFile}: ${error.message}`, 'bad_setting')
  }
}

const firstSignIn = (firstKey: IssuedKey | null, links: SignInLinks) => ({
  firstKey,
  signInPath: firstKey === null ? null : links.issue(hashSecret(firstKey.secret)),
})

/** A service manager hands secrets over as files. */
function adminKeyOf({ adminKeyFile }: Config): string | null {
  if (adminKeyFile === '') return null
  try {
    return readFileSync(adminKeyFile, 'utf8').trim()
  } catch (cause) {
    throw new Failure(`MYNA_ADMIN_KEY_FILE cannot be read: ${(cause as Error).message}`, 'bad_setting')
  }
}

function keeperFor(config: Config, world: World, service: Service, status: () => Promise<ServerStatus>) {
  return new BackgroundKeeper({
    cards: () => world.catalog.cards(),
    installed: new InstalledModels(modelsFolder(config)),
    clock: world.clock,
    installation: (onEvent) => installationParts(config, onEvent),
    dismiss: (id) => renew(world, service, id),
    isInUse: async (id) => (await status()).engines.some(({ inUse }) => inUse.includes(id)),
    report: service.report,
  })
}

/**
 * A model's files were added, changed or removed. Engines release what they loaded from them; if it is now the model
 * that most requests mean, it is loaded as at the start of a server, so that the first request does not wait.
 */
function renew({ catalog, engine, transcriber }: World, { report }: Service, model: string): void {
  for (const one of [engine, transcriber]) one.dismiss(model)
  const card = catalog.cards().find(({ id }) => id === model)
  if (card === undefined || catalog.best(card.task)?.id !== model) return
  const loading = (card.task === 'text-to-speech' ? engine : transcriber).start(model)
  loading.catch((error: unknown) => report(`${model} could not be loaded ahead of the first request`, error))
}

/** What the last run left: no other server can have been at work. A former server finishes its own running work. */
const settleAll = async ({ ledger }: Records['books'], former: Predecessor | null) => ({
  operations: former === null ? await ledger.settleCrashed() : 0,
  transcriptions: former === null ? await ledger.endCrashedTranscriptions() : 0,
})

async function tidyUp(books: Records['books'], shared: Records['shared'], presets: readonly string[]): Promise<void> {
  if (shared === null) {
    await removeOrphans(books, presets)
    await books.consents.removeOrphans()
  } else await books.made.removeOrphans(new Set(presets))
}

const countsOf = ({ operations, transcriptions }: Awaited<ReturnType<typeof settleAll>>) => ({
  settledCrashed: operations,
  endedCrashed: transcriptions,
})

/** Ids grow with time. */
const idsOfNow = ({ clock, random }: World) => ({
  operation: newId('op', clock.nowMs(), random),
  transcription: newId('req', clock.nowMs(), random),
})

/** How another server takes over from this one; running work then continues for DRAIN_MS at most. */
function handing(
  close: () => (Promise<void> | undefined)[],
  follow: () => () => void,
  { drainMs }: Config,
  { log, timer }: World,
) {
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  const over = async () => {
    log.info('another server takes over; what has begun here goes on to its end')
    const cancel = timer.after(drainMs, resolve)
    void ended.then(follow())
    void Promise.all(close()).finally(() => {
      cancel()
      resolve()
    })
  }
  return { over, ended }
}

/**
 * The former server stops listening; its folder is ours once it has ended, and what it could not settle is settled.
 * @param ledger null: the boxes of a shared database see to that by themselves
 * @param begun of when this server began to listen: older ones are the former's
 * @returns how to give the folder back
 */
async function takeOver(
  former: Predecessor,
  world: World,
  ledger: Records['books']['ledger'] | null,
  begun: ReturnType<typeof idsOfNow>,
): Promise<() => void> {
  await former.handOver()
  return former.inherit(async () => {
    const operations = await ledger?.settleCrashed(begun.operation)
    const transcriptions = await ledger?.endCrashedTranscriptions(begun.transcription)
    world.log.info('the former server has ended', { operations, transcriptions })
  })
}

/** A database without accounts knows no voices: cleaning up after it would delete what another database owned. */
const strangeFolder = ({ dataDir }: Config): Failure =>
  new Failure(
    `The database in ${dataDir} is empty, but there are files of voices. Put back the database that belongs to ` +
      `them, or move ${join(dataDir, 'voices')} away.`,
    'strange_folder',
  )

/** A command owns the folder for some tens of milliseconds: waited for. Another server does not let go: refused. */
async function ownFolder({ dataDir }: Config, { timer }: World): Promise<() => void> {
  for (let attempt = 1; ; attempt++) {
    try {
      const lock = acquireLock(dataDir)
      if (!hasSuccessor(dataDir)) return () => lock.release()
      lock.release()
      if (attempt === lockAttempts) throw new Failure(`Another myna serves this data folder: ${dataDir}`, 'locked')
    } catch (error) {
      if (error instanceof Failure || !isLocked(dataDir) || attempt === lockAttempts) throw error
    }
    await new Promise<void>((resolve) => timer.after(lockPauseMs, resolve))
  }
}

const presetIds = ({ catalog }: World): string[] =>
  catalog.cards().flatMap((card) => card.voices.map((voice) => voice.id))

async function drain({ drainMs }: Config, { timer }: World, service: Service): Promise<void> {
  const live = liveOf(service)
  for (const work of live) work.drain()
  const overdue = Promise.withResolvers<void>()
  const cancel = timer.after(drainMs, overdue.resolve)
  await Promise.race([Promise.all(live.map((work) => work.drained())), overdue.promise]).finally(cancel)
  await Promise.all(live.map((work) => work.shutDown()))
}

const liveOf = ({ speech, clones, transcriptions }: Service) => [speech, clones, transcriptions]

function openLocal(
  { dataDir }: Config,
  world: World,
  service: Service,
  accounts: SqlAccounts,
  status: () => Promise<ServerStatus>,
  handOver: () => Promise<void>,
): LocalServer {
  const { administration, report } = service
  const onError = (error: unknown) => report('a command through the local socket failed', error)
  const dismissModel = (model: string) => renew(world, service, model)
  const metrics = () => service.metrics.answer()
  const keyFile = secretFile(dataDir, 'command-line.key')
  const clientAccess = async () => ({
    url: (await status()).url,
    apiKey: await commandLineKey(accounts, administration, keyFile),
  })
  return startLocal({ dataDir, administration, status, clientAccess, handOver, metrics, dismissModel, onError })
}

/** What the server reports about itself without asking the database. */
function describing(url: () => string, world: World, service: Service, draining: () => boolean): Describe {
  const { queue } = service
  const beganMs = world.clock.monotonicMs()
  return async () => {
    const [speech, transcription] = await Promise.all([world.engine.engines(), transcriptionEngines(world)])
    const engines = [...speech, ...(transcription ?? [])]
    const models = modelStanding(world.catalog, engines)
    const { status } = readinessOf({
      isDraining: draining(),
      storage: service.storage.facts,
      databaseFails: false,
      isDiskFull: liveOf(service).some(({ unwrittenCount }) => unwrittenCount > 0),
      speech,
      transcription,
      models,
    })
    return {
      version,
      pid: process.pid,
      url: url(),
      uptimeMs: world.clock.monotonicMs() - beganMs,
      readiness: status,
      queue: queue.facts,
      engines,
      troubles: models.troubles,
    }
  }
}

function once(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null
  return () => (running ??= run())
}
