/**
 * Watches the storage: every two seconds a look, and in the background a check of every page at the start, after the
 * files changed, and when a statement met damage. What it finds is in `/readyz` and the metrics, and in the log once
 * when it begins and once when it ends. While the database is damaged nothing is read from it or written to it: a
 * refusal is better than a wrong answer.
 */
import type { Clock, Timer } from '../domain/time.ts'
import type { DatabaseLook, DatabaseState, DiskState, Standing, Storage } from './ports/storage.ts'

export interface StorageFacts {
  disk: DiskState
  database: DatabaseState
  uploads: 'ok' | 'failed'
}

export interface StorageWatchParts {
  storage: Storage
  clock: Clock
  timer: Timer
  log: { warn(message: string): void; info(message: string): void }
}

/** Twice within the five seconds after which a fault must be seen. */
const lookEveryMs = 2000
/** The share of one processor that a check may use: after each step it rests for this many times as long. */
const restFactor = 50
/** Rot does not change a file's time, so every page is read this often in any case. */
const checkAtLeastEveryMs = 3_600_000

export class StorageWatch {
  readonly #parts: StorageWatchParts
  readonly #said = new Map<string, string>()
  #facts: StorageFacts = { disk: 'ok', database: 'ok', uploads: 'ok' }
  #look: DatabaseLook = { state: 'ok', words: null, isSuspect: false, version: '' }
  #damage: string | null = null
  #checking: Promise<void> | null = null
  #checked: { version: string; endedMs: number; tookMs: number } | null = null
  #cancel = () => {}
  #stopped = false

  constructor(parts: StorageWatchParts) {
    this.#parts = parts
  }

  get facts(): StorageFacts {
    return this.#facts
  }

  /** Looks once before it resolves; the check of every page runs in the background. */
  async start(): Promise<void> {
    await this.#tick()
  }

  /** Resolves when no check is running. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancel()
    await this.#checking
  }

  async #tick(): Promise<void> {
    const { storage, timer } = this.#parts
    const [disk, uploads, look] = await Promise.all([
      this.#inTime(storage.probeDisk(), { state: 'failed' as DiskState, words: 'the disk does not answer' }),
      this.#inTime(storage.lookAtUploads(), { state: 'failed' as const, words: 'the disk does not answer' }),
      storage
        .lookAtDatabase()
        .catch((error: unknown) => ({ ...this.#look, state: 'failed' as const, words: say(error) })),
    ])
    this.#look = look
    this.#facts = { ...this.#facts, disk: disk.state, uploads: uploads.state }
    this.#tell('disk', disk.words)
    this.#tell('uploads', uploads.words)
    this.#judgeDatabase()
    if (this.#stopped) return
    if (this.#isCheckDue()) this.#checking ??= this.#check().finally(() => (this.#checking = null))
    this.#cancel = timer.after(lookEveryMs, () => void this.#tick())
  }

  #isCheckDue(): boolean {
    const { state, isSuspect, version } = this.#look
    // A check opens the database anew, which must not happen while its log is gone.
    if (state !== 'ok') return false
    if (this.#checked === null || isSuspect) return true
    const restedMs = this.#parts.clock.monotonicMs() - this.#checked.endedMs
    const isRested = restedMs >= this.#checked.tookMs * restFactor
    return restedMs >= checkAtLeastEveryMs || (isRested && (version !== this.#checked.version || this.#damage !== null))
  }

  async #check(): Promise<void> {
    const { storage, clock } = this.#parts
    const { version } = this.#look
    const beganMs = clock.monotonicMs()
    let damage = this.#damage
    try {
      damage = await storage.checkDatabase()
      this.#tell('check of the database', null)
    } catch (error) {
      // A check that could not run does not count as damage: it is tried again.
      this.#tell('check of the database', say(error))
    }
    const endedMs = clock.monotonicMs()
    this.#checked = { version, endedMs, tookMs: endedMs - beganMs }
    if (this.#stopped) return
    this.#damage = damage
    storage.refuse(damage)
    this.#look = { ...this.#look, isSuspect: false }
    this.#judgeDatabase()
  }

  #judgeDatabase(): void {
    const { state, words, isSuspect } = this.#look
    const damaged = this.#damage !== null || isSuspect
    this.#facts = { ...this.#facts, database: damaged ? 'damaged' : state }
    const met = isSuspect ? 'a statement hit damage; every page is being checked' : null
    const damage =
      this.#damage === null ? met : `it is damaged, and nothing is read from it or written to it: ${this.#damage}`
    this.#tell('database', damage ?? words)
  }

  /** Once when it begins or changes, and once when it is over. */
  #tell(what: string, words: string | null): void {
    const { log } = this.#parts
    const before = this.#said.get(what) ?? null
    if (words === before) return
    if (words === null) {
      this.#said.delete(what)
      log.info(`storage: ${what}: healthy again`)
      return
    }
    this.#said.set(what, words)
    log.warn(`storage: ${what}: ${words}`)
  }

  /** A disk that hangs is a fault too, and must not stop the looking. */
  async #inTime<State>(look: Promise<Standing<State>>, late: Standing<State>): Promise<Standing<State>> {
    const { promise, resolve } = Promise.withResolvers<Standing<State>>()
    const cancel = this.#parts.timer.after(lookEveryMs, () => resolve(late))
    const failed = (error: unknown): Standing<State> => ({ ...late, words: say(error) })
    return Promise.race([look.catch(failed), promise]).finally(cancel)
  }
}

const say = (error: unknown): string => (error instanceof Error ? error.message : String(error))
