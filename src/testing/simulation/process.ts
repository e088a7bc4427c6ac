/**
 * One server process of the simulation: the real service over the real store, with the fake engine. The simulation
 * decides when the engine makes a frame, when the disk is full and between which two commits the process dies. A dead
 * process keeps its handles in memory, but it can no longer write or send anything.
 */
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { cards } from '../../catalog/cards.ts'
import { CardCatalog } from '../../catalog/catalog.ts'
import { EncoderPool } from '../../audio/encode/pool.ts'
import { AdminVerbs } from '../../service/accounts.ts'
import { Authenticator } from '../../service/authenticate.ts'
import type { Clones } from '../../service/clone.ts'
import { removeOrphans } from '../../service/housekeeping.ts'
import type { Library } from '../../service/library.ts'
import type { Ledger, PreviewFiles, SpeechAdmission, SpeechOrder, VoiceFiles, Voices } from '../../service/ports.ts'
import { Queue } from '../../service/queue.ts'
import { Speech } from '../../service/speak.ts'
import { SpeechQueue } from '../../service/speech-queue.ts'
import type { TranscriptionBooks } from '../../service/ports/transcription.ts'
import type { Transcriptions } from '../../service/transcribe.ts'
import { SqlAccounts } from '../../store/accounts.ts'
import { openSqlite, type SqliteDatabase } from '../../store/sqlite.ts'
import { FolderVoiceFiles } from '../../store/clips.ts'
import { FolderConsentFiles, SqlConsents } from '../../store/consents.ts'
import { SqlLedger } from '../../store/ledger/ledger.ts'
import { FolderPreviewFiles } from '../../store/previews.ts'
import { SqlVoices } from '../../store/voices.ts'
import { FakeEngine, type FakePlan } from '../fake-engine.ts'
import type { ManualClock } from '../manual-clock.ts'
import { Learners, voiceServices } from './cloning.ts'
import { Gate } from './gate.ts'
import { listeningServices } from './listening.ts'
import type { Clip } from './listening-model.ts'
import { Work } from './files.ts'
import type { Learning } from './clone-model.ts'
import type { Sound } from './model.ts'
import type { Settings } from './facts.ts'

/** The engine's work for one operation: one frame for each permit, unless the engine is gone. */
export class EngineStream {
  readonly #sound: Sound
  readonly #gate = new Gate()

  constructor(sound: Sound) {
    this.#sound = sound
  }

  permit(): void {
    this.#gate.permit()
  }

  vanish(): void {
    this.#gate.vanish()
  }

  get plan(): FakePlan {
    const { frames, samples, failAt } = this.#sound
    return { frames, samplesPerFrame: samples, failAt, before: (frame) => this.#gate.pass(frame) }
  }
}

/** When a process dies by itself: at which write of the ledger, and on which side of its commit. */
export interface Death {
  writes: number
  committed: boolean
}

class Life {
  dead = false
  death: Death | null = null

  /** Runs a write of the ledger; if it kills the process, it never answers. */
  async through<T>(write: () => Promise<T>): Promise<T> {
    if (this.dead) return never()
    const last = this.death !== null && --this.death.writes <= 0
    if (!last) return write()
    this.dead = true
    if (this.death?.committed) await write()
    return never()
  }
}

const never = <T>(): Promise<T> => new Promise<T>(() => {})

const encoders = new EncoderPool({ workers: 1 })

export interface ProcessWorld {
  folder: string
  clock: ManualClock
  random: (bytes: Uint8Array) => Uint8Array
  settings: Settings
  /** The engine's output for an operation. */
  soundOf: (operationId: string) => Sound
  /** Its result for a clip. */
  learningOf: (operationId: string) => Learning
  /** The clip of a request. */
  clipHeardOf: (requestId: string) => Clip
}

export class SimulatedProcess {
  readonly #life = new Life()
  readonly #database: SqliteDatabase
  readonly accounts: SqlAccounts
  readonly ledger: Ledger & TranscriptionBooks
  readonly verbs: AdminVerbs
  readonly authenticator: Authenticator
  readonly speech: Speech
  readonly queue: SpeechQueue
  readonly streams = new Map<string, EngineStream>()
  readonly voices: Voices
  readonly clones: Clones
  readonly cloneQueue: Queue
  readonly library: Library
  readonly learners: Learners
  readonly transcriptions: Transcriptions
  readonly listenQueue: Queue
  /** The work of the transcribing engine, by request. */
  readonly gates: ReadonlyMap<string, Gate>
  /** Removes expired records, as the server does every minute. */
  readonly sweep: () => Promise<void>
  readonly #files: VoiceFiles
  readonly #made: PreviewFiles
  readonly #work = new Work()
  /** Admitted but not yet sent to the engine, in that order. */
  readonly #starting: string[] = []

  /** Starts on the existing folder, and settles what its predecessor left. */
  static async start(world: ProcessWorld): Promise<SimulatedProcess> {
    const database = await openSqlite(world.folder)
    // A power failure is not simulated, and thousands of syncs would take minutes.
    await database.script('PRAGMA synchronous = OFF')
    const process = new SimulatedProcess(world, database)
    await process.ledger.settleCrashed()
    await process.ledger.endCrashedTranscriptions()
    const { voices } = process
    const presets = cards.flatMap((card) => card.voices.map(({ id }) => id))
    await removeOrphans({ voices, files: process.#files, made: process.#made }, presets)
    return process
  }

  private constructor(world: ProcessWorld, database: SqliteDatabase) {
    const { clock, settings } = world
    const life = this.#life
    const timer = { after: (ms: number, call: () => void) => clock.after(ms, () => life.dead || call()) }
    this.#database = database
    this.accounts = new SqlAccounts(database, world)
    this.learners = new Learners(world.learningOf)
    const ledger = mortal(new SqlLedger(database, world), life, ledgerWrites, (...heard) => this.#hear(...heard))
    this.ledger = ledger
    this.voices = mortal(new SqlVoices(database, world), life, ['remove', 'purgeFailed'])
    this.#files = mortal(this.#work.counted(new FolderVoiceFiles(world.folder), fileCalls), life, fileCalls)
    this.#made = mortal(this.#work.counted(new FolderPreviewFiles(world.folder), ['remove']), life, ['remove'])
    this.verbs = new AdminVerbs(this.accounts, this.ledger, {
      ...world,
      deleteVoices: (id) => this.library.removeOwned(id),
    })
    this.authenticator = new Authenticator(this.accounts, clock, () => {})
    this.queue = new SpeechQueue({
      streamsMax: settings.streams,
      waitingMax: settings.waiting,
      engines: 1,
      speedOf: () => ({ speed: Infinity, stepMs: 0 }),
      mostLeadMs: 0,
      clock,
      timer,
    })
    const engine = new FakeEngine()
    engine.plan = (order) => this.learners.previewOf(order) ?? this.#planFor(order, world)
    engine.learn = () => this.learners.learn()
    engine.hear = () => [{ startMs: 0, endMs: 2000 }]
    const meter = {
      firstByte: () => {},
      engineFirstFrame: () => {},
      settled: () => {},
      realtimeFactor: () => {},
      refusedKey: () => {},
      cloned: () => {},
      transcribed: () => {},
    }
    const parts = {
      ledger,
      catalog: new CardCatalog(cards, ({ id }) => id === 'whisper-base'),
      voices: this.voices,
      files: this.#files,
      consents: new SqlConsents(database, new FolderConsentFiles(world.folder, database), world),
      made: this.#made,
      engine,
      encoders,
      meter,
      clock,
      timer,
      random: world.random,
      report: () => {},
      roomForOthers: async () => {},
      log: { info: () => {} },
    }
    this.speech = new Speech(
      { ...parts, queue: this.queue },
      { voiceNames: { aliases: new Map(), defaultVoice: null }, maxSpeechSeconds: 900, ...settings },
    )
    this.cloneQueue = new Queue(settings.cloneStreams, settings.cloneWaiting, timer)
    const services = voiceServices({ ...parts, queue: this.cloneQueue }, settings, this.#work)
    this.clones = services.clones
    this.library = services.library
    this.sweep = services.sweep
    const listening = listeningServices({ ...parts, books: ledger }, settings, world.clipHeardOf)
    this.transcriptions = listening.transcriptions
    this.listenQueue = listening.queue
    this.gates = listening.gates
  }

  /** Everything that needs no time has happened. */
  settled(): Promise<void> {
    return this.#work.settled()
  }

  get dead(): boolean {
    return this.#life.dead
  }

  dieAt(death: Death): void {
    this.#life.death = { ...death }
  }

  /** From now on every write fails, or every write that needs another page. */
  async fillDisk(whole: boolean): Promise<void> {
    const pages = (await this.#database.get<{ page_count: number }>('PRAGMA page_count'))?.page_count ?? 1
    await this.#database.script(whole ? 'PRAGMA query_only = ON' : `PRAGMA max_page_count = ${pages}`)
  }

  async freeDisk(): Promise<void> {
    await this.#database.script('PRAGMA query_only = OFF')
    await this.#database.script('PRAGMA max_page_count = 1000000')
  }

  /** Only committed data remains. */
  async kill(): Promise<void> {
    this.#life.dead = true
    await this.#database.close()
  }

  /** New requests are refused. */
  drain(): void {
    for (const live of [this.speech, this.clones, this.transcriptions]) live.drain()
  }

  /** The orderly shutdown. */
  async stop(): Promise<void> {
    await this.speech.shutDown()
    await this.clones.shutDown()
    await this.transcriptions.shutDown()
    await this.accounts.close()
    this.#life.dead = true
    await this.#database.close()
  }

  /** Listens to calls of the ledger, so that the engine knows which operation its work belongs to. */
  #hear(call: string, given: unknown, isDone: boolean): void {
    if (call === 'markStarted' && isDone) this.learners.expect(String(given))
    if (call === 'admitSpeech' && isDone) this.#starting.push((given as SpeechAdmission).operationId)
    // Speech whose client is gone already ends before the engine hears of it.
    const at = call === 'settle' ? this.#starting.indexOf(String(given)) : -1
    if (at !== -1) this.#starting.splice(at, 1)
  }

  #planFor(order: SpeechOrder, world: ProcessWorld): FakePlan {
    const id = this.#starting.shift()
    if (id === undefined) throw new Error(`the engine was given '${order.text}' before it was admitted`)
    const stream = new EngineStream(world.soundOf(id))
    this.streams.set(id, stream)
    return stream.plan
  }
}

const ledgerWrites = [
  'admitSpeech',
  'markStarted',
  'markFirstAudio',
  'settle',
  'admitClone',
  'completeClone',
  'failClone',
  'beginTranscription',
  'noteHeard',
  'endTranscription',
] as const
const fileCalls = ['put', 'read', 'remove'] as const

/** Adds the calls at which the process may die. */
function mortal<T extends object>(
  target: T,
  life: Life,
  writes: readonly string[],
  hear: (call: string, given: unknown, isDone: boolean) => void = () => {},
): T {
  return new Proxy(target, {
    get(_, name) {
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      const call = (...given: unknown[]) => Reflect.apply(method, target, given) as Promise<unknown>
      if (!writes.some((write) => write === name)) return call
      return async (...given: unknown[]) => {
        hear(String(name), given[0], false)
        const answer = await life.through(() => call(...given))
        hear(String(name), given[0], true)
        return answer
      }
    },
  })
}

/** An empty database with the schema, as bytes, because creating one waits for the disk several times. */
export async function emptyBooks(folder: string): Promise<Uint8Array> {
  const database = await openSqlite(folder)
  await database.close()
  return Bun.file(join(folder, 'myna.db')).bytes()
}

/** A connection for the auditor alone, read-only. */
export function readingConnection(folder: string): Database {
  const connection = new Database(join(folder, 'myna.db'))
  connection.run('PRAGMA query_only = ON')
  return connection
}
