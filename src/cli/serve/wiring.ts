/**
 * Decides what implements which port: the database, the service on top of it, and the API on top of that. Nothing here
 * listens or runs; `server.ts` does that.
 */
import { consoleFiles } from '../../embedded/console.ts'
import { samples } from '../../embedded/samples.ts'
import { version } from '../../../package.json' with { type: 'json' }
import type { Config } from '../../config.ts'
import type { Clock, Timer } from '../../domain/time.ts'
import { createApp } from '../../http/app.ts'
import { corsFor } from '../../http/cors.ts'
import { Gate } from '../../http/gate.ts'
import type { ServerStatus } from '../../http/admin-socket.ts'
import type { MachineFacts } from '../../http/console/server.ts'
import { Metrics } from '../../http/metrics.ts'
import { OwnNames } from '../../http/own-names.ts'
import { Sessions } from '../../http/console/sessions.ts'
import type { SignInLinks } from '../../http/console/sign-in-links.ts'
import { MynaError } from '../../domain/error.ts'
import { causeOf, type KeptLog, type Log } from '../../log.ts'
import type { RealtimeParts } from '../../realtime/parts.ts'
import { AdminVerbs } from '../../service/accounts.ts'
import { Allowances } from '../../service/allowances.ts'
import { Authenticator } from '../../service/authenticate.ts'
import { type CloneParts, Clones } from '../../service/clone.ts'
import { type ConsentParts, Consents } from '../../service/consents.ts'
import { ClientSecrets } from '../../service/client-secrets.ts'
import { HouseAccount } from '../../service/house-account.ts'
import { Library } from '../../service/library.ts'
import type {
  Accounts,
  Catalog,
  Encoders,
  Ledger,
  PreviewFiles,
  SpeechEngine,
  VoiceEngine,
  VoiceFiles,
  Voices,
} from '../../service/ports.ts'
import type { EngineStatus } from '../../service/ports/engines.ts'
import type { ConsentBooks } from '../../service/ports/consents.ts'
import type { Decoder, DrawVoice, Sound } from '../../service/ports/sound.ts'
import type {
  SpeechWatcher,
  StreamDecoder,
  TranscriptionBooks,
  TranscriptionEngine,
} from '../../service/ports/transcription.ts'
import type { Storage } from '../../service/ports/storage.ts'
import type { LeaseTimes } from '../../service/box-keeper.ts'
import { StorageWatch } from '../../service/storage-watch.ts'
import type { BoxNews } from '../../service/ports/boxes.ts'
import type { SessionStore } from '../../service/ports/sessions.ts'
import type { ModelKeeper } from '../../service/ports/models.ts'
import { Previews } from '../../service/previews.ts'
import { Queue } from '../../service/queue.ts'
import { SpeechQueue } from '../../service/speech-queue.ts'
import type { Speeds } from '../../service/speeds.ts'
import { Speech } from '../../service/speak.ts'
import { type TranscribeParts, Transcriptions } from '../../service/transcribe.ts'
import { Failure } from '../terminal/terminal.ts'
import { logRequest } from './request-log.ts'

/** The parts that a test may replace: time, chance and the engines. */
export interface World {
  clock: Clock
  timer: Timer
  random: (bytes: Uint8Array) => Uint8Array
  catalog: Catalog
  engine: SpeechEngine & VoiceEngine
  transcriber: TranscriptionEngine & SpeechWatcher
  /** Processes that speak: each has a device of its own. */
  speechEngines: number
  speeds: Pick<Speeds, 'of' | 'all'>
  encoders: Encoders
  decoder: Decoder
  streamDecoder: StreamDecoder
  sound: Sound
  draw: DrawVoice
  /** Times of a box among others; absent: the usual ones. */
  lease?: LeaseTimes
  log: KeptLog
}

export interface Books {
  accounts: Accounts
  ledger: Ledger & TranscriptionBooks
  voices: Voices
  files: VoiceFiles
  consents: ConsentBooks
  made: PreviewFiles
  /** Folder for uploads while they are read. */
  uploads: string
  storage: Storage
  sessions: SessionStore
}

/** Notifies the other servers on the same database; does nothing without one. */
export type Tell = (news: BoxNews) => void

export type Report = (message: string, cause: unknown) => void

const reportTo =
  (log: Log): Report =>
  (message, cause) =>
    log.warn(message, { cause: isTold(cause) ? cause.message : causeOf(cause) })

/** Its words say everything: the place in the program where it was thrown helps no one. */
const isTold = (error: unknown): error is MynaError => error instanceof MynaError && error.cause === undefined

export interface Service {
  speech: Speech
  clones: Clones
  consents: Consents
  transcriptions: Transcriptions
  library: Library
  previews: Previews
  queue: SpeechQueue
  metrics: Metrics
  allowances: Allowances
  administration: AdminVerbs
  /** Not started yet. */
  storage: StorageWatch
  report: Report
}

/** @throws Failure when a setting makes no sense */
export function createService(config: Config, world: World, books: Books, tell: Tell): Service {
  const { accounts, ledger } = books
  const metrics = new Metrics()
  const { speeds } = world
  const queue = new SpeechQueue({
    ...world,
    streamsMax: config.speechStreams || Infinity,
    waitingMax: config.speechQueue,
    engines: world.speechEngines,
    speedOf: (model, format) => speeds.of(model, format),
  })
  const report = reportTo(world.log)
  const roomForOthers = (signal: AbortSignal) => queue.roomForOthers(signal)
  const parts = { ...world, ...books, meter: metrics, report, roomForOthers }
  const speech = new Speech(
    { ...parts, queue },
    {
      microsPerChar: config.speechMicrosPerChar,
      voiceNames: { aliases: aliasesOf(config), defaultVoice: config.defaultVoice || null },
      concurrency: config.speechConcurrency,
      maxSpeechSeconds: maxSpeechSeconds(config),
      queueWaitMs: config.queueWaitMs,
      unreadMs: config.unreadMs,
    },
  )
  const transcriptions = createTranscriptions(config, world, books, parts)
  const previews = new Previews({ ...parts, version })
  const otherBoxes = (voiceId: string) => tell({ kind: 'voice removed', voiceId })
  const remade = async (voiceId: string) => {
    await previews.forget(voiceId)
    otherBoxes(voiceId)
  }
  const { clones, consents } = createClones(config, world, { ...parts, remade, books: books.consents })
  const library = new Library({
    ...parts,
    previews,
    clones: toldOf(clones, tell),
    removed: otherBoxes,
  })
  const storage = new StorageWatch({ ...world, storage: books.storage })
  metrics.observe(version, {
    storage: () => storage.facts,
    speech: () => queue.facts,
    speeds: () => speeds.all,
    pendingOperations: () => ledger.pendingCount(),
    engines: () => enginesOf(world),
  })
  const deleteVoices = async (accountId: string) => {
    await books.consents.removeOwned(accountId)
    return library.removeOwned(accountId)
  }
  const administration = new AdminVerbs(accounts, ledger, { ...world, deleteVoices })
  const allowances = new Allowances(config, world.clock)
  const verbs = { speech, clones, consents, transcriptions, library, previews, administration }
  return { ...verbs, queue, metrics, allowances, storage, report }
}

/** A clone whose voice was deleted here may be running on another box. */
const toldOf = (clones: Clones, tell: Tell) => ({
  cancel: (operationId: string) => {
    clones.cancel(operationId)
    tell({ kind: 'cancel', operationId })
  },
})

/** null: this machine has no model for it, so nothing needs supervision. */
export const transcriptionEngines = async (world: World): Promise<readonly EngineStatus[] | null> =>
  world.catalog.best('automatic-speech-recognition') === null ? null : world.transcriber.engines()

/** Tasks that have a model. */
async function enginesOf(world: World): Promise<EngineStatus[]> {
  const engines = await Promise.all([world.engine.engines(), transcriptionEngines(world)])
  return engines.flatMap((ofTask) => ofTask ?? [])
}

function createClones(config: Config, { timer }: World, parts: Omit<CloneParts & ConsentParts, 'queue' | 'consents'>) {
  if (config.minClipSeconds > config.maxClipSeconds) {
    throw new Failure(
      'MYNA_MIN_CLIP_SECONDS is above MYNA_MAX_CLIP_SECONDS, so every clip would be rejected',
      'bad_setting',
    )
  }
  // One for both, because both decode recordings.
  const queue = new Queue(config.cloneStreams, config.cloneQueue, timer)
  const limits = { ...config, concurrency: config.cloneConcurrency }
  const consents = new Consents({ ...parts, queue }, limits)
  return { consents, clones: new Clones({ ...parts, queue, consents }, limits) }
}

function createTranscriptions(
  config: Config,
  { transcriber: engine, streamDecoder: decoder, ...world }: World,
  { ledger: books }: Books,
  shared: Pick<TranscribeParts, 'meter' | 'report' | 'roomForOthers'>,
): Transcriptions {
  const queue = new Queue(config.transcriptionStreams, config.transcriptionQueue, world.timer)
  const limits = {
    concurrency: config.transcriptionConcurrency,
    maxSeconds: config.maxTranscriptionSeconds,
    queueWaitMs: config.transcriptionWaitMs,
    unreadMs: config.unreadMs,
  }
  return new Transcriptions({ ...world, ...shared, engine, decoder, books, queue }, limits)
}

/** What only a running server knows about itself. */
export interface Running {
  status: () => Promise<ServerStatus>
  models: ModelKeeper
  machine: () => Promise<MachineFacts>
  /** Whether it has been asked to stop. */
  draining: () => boolean
  /** What signs in to the console without a key. */
  links: SignInLinks
  /** Stops an operation, whichever server works on it. */
  cancel: (operationId: string) => Promise<void>
}

export async function createApi(
  config: Config,
  world: World,
  { accounts, ledger, uploads, sessions: kept }: Books,
  service: Service,
  { status, models, machine, draining, links, cancel }: Running,
) {
  const { speech, clones, consents, transcriptions, library, previews, metrics, allowances, administration, report } =
    service
  const { clock, timer, random, catalog, log } = world
  const limits = { ...config, maxSpeechSeconds: maxSpeechSeconds(config) }
  const authenticator = new Authenticator(accounts, clock, (code) => metrics.authFailure(code))
  const anonymous = config.allowAnonymous ? await HouseAccount.open(accounts, administration, anonymousAccount) : null
  const sessions = new Sessions(kept, random)
  const onLimited = (route: string) => metrics.rateLimited(route)
  const names = new OwnNames(config)
  const cors = corsFor(config.corsOrigins)
  const gate = new Gate({ authenticator, sessions, allowances, anonymous, names, cors, onLimited }, config)
  const bodyLimits = { maxJsonBytes: config.maxJsonBytes, timer }
  const formLimits = { maxFileBytes: config.maxClipBytes, timer, dir: uploads }
  const signIn = { sessions, links, names, authenticator, accounts, administration }
  const recordings = { ...formLimits, maxFileBytes: config.maxTranscriptionBytes }
  return createApp({
    exchange: {
      clock,
      random,
      metrics,
      cors,
      idleConnectionS: config.idleConnectionS,
      trustedProxies: new Set(config.trustedProxies),
      publicOrigin: config.publicUrl || null,
      log: (fields) => logRequest(log, fields),
      report,
    },
    speech: { gate, speech, timer, bodyLimits, limits },
    transcriptions: { gate, transcriptions, formLimits: recordings, limits },
    realtime: {
      gate,
      bodyLimits,
      draining,
      sessionsMax: config.realtimeSessions,
      secrets: new ClientSecrets(accounts, clock),
      realtime: realtimeParts(world, service),
    },
    operations: { gate, ledger, running: { cancel } },
    voices: { gate, library, clones, consents, previews, bodyLimits, formLimits, limits },
    models: { gate, catalog, keeper: models, timer, limits },
    account: { gate, accounts, ledger, clock, limits },
    admin: { gate, accounts, ledger, clock, running: { cancel } },
    console: { ...signIn, version, gate, bodyLimits, status, models, machine, log, samples, webFiles: consoleFiles },
    health: {
      version,
      clock,
      ledger,
      catalog,
      metrics,
      metricsToken: config.metricsToken,
      ...healthFacts(world, service),
      draining,
    },
    docs: { version, limits },
    isTls: config.tlsCert !== '',
  })
}

const healthFacts = (world: World, { speech, clones, transcriptions, storage }: Service) => ({
  speechEngines: () => world.engine.engines(),
  transcriptionEngines: () => transcriptionEngines(world),
  storage: () => storage.facts,
  diskFull: () => [speech, clones, transcriptions].some(({ unwrittenCount }) => unwrittenCount > 0),
})

/** Four times what that many characters of prose take: digits alone reach it. */
const maxSpeechSeconds = ({ maxSpeechSeconds, maxInputChars }: Config): number =>
  maxSpeechSeconds || Math.max(60, Math.round((900 / 4096) * maxInputChars))

const realtimeParts = (world: World, { transcriptions, report }: Service): RealtimeParts => ({
  ...world,
  transcriptions,
  report,
  watcher: world.transcriber,
  log: (fields) => world.log.debug('realtime', fields),
})

const aliasesOf = ({ voiceAliases }: Config): ReadonlyMap<string, string> =>
  new Map(voiceAliases.map((pair) => pair.split('=')).map(([name = '', voice = '']) => [name.toLowerCase(), voice]))

/** Of requests without a credential, where those are allowed. */
const anonymousAccount = { name: 'anonymous', label: 'anonymous' }
