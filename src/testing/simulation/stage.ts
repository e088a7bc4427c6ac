/**
 * The stage of one run: the folder, the clock, the running process, its clients, and the two judges. After each act it
 * lets everything happen that needs no time, asks the model what must have happened, and audits.
 */
import type { Database } from 'bun:sqlite'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brokenRules, type Row } from '../../audit/rules.ts'
import { Auditor, booksOf, readBooks, type Snapshot } from './auditor.ts'
import { CloneAuditor, type CloneBooks, readClones } from './clone-auditor.ts'
import { ListeningAuditor, type ListeningBooks, readListenings } from './listening-auditor.ts'
import { ManualClock } from '../manual-clock.ts'
import { Seeded } from '../seeded.ts'
import { type Client, Watched } from './client.ts'
import { Door } from './door.ts'
import type { Listener } from './listening.ts'
import { Model } from './model.ts'
import { emptyBooks, readingConnection, SimulatedProcess } from './process.ts'
import { clipHeardOf, drawSettings, learningOf, soundOf } from './workload.ts'
import type { KnownAccount, KnownKey, Settings } from './facts.ts'

/** Longer than the longest pause between two attempts to write a settlement. */
const writtenAgainMs = 5000

let empty: Uint8Array | undefined

export class Stage {
  readonly settings: Settings
  readonly clock = new ManualClock()
  readonly model: Model
  readonly door = new Door(this.clock)
  readonly accounts: KnownAccount[] = []
  readonly keys: KnownKey[] = []
  /** How often each kind of event happened. */
  readonly seen = new Map<string, number>()
  readonly trace: string[]
  readonly #folder: string
  readonly #random: Seeded
  readonly #auditor: Auditor
  readonly #cloneAuditor: CloneAuditor
  readonly #listeningAuditor: ListeningAuditor
  #process: SimulatedProcess | null = null
  #connection: Database | null = null
  books: Snapshot = { operations: new Map(), entries: [], usage: [], accounts: [] }
  cloneBooks: CloneBooks = { ...this.books, voices: new Map(), folders: new Map() }
  #listeningBooks: ListeningBooks = { running: new Map(), ended: new Map(), endedCount: 0 }
  clients: Client[] = []
  listeners: Listener[] = []
  /** Number of the next transcription request, which determines its clip. */
  nextRequest: number
  disk: 'free' | 'tight' | 'full' = 'free'
  /** Monotonic time from which every ending must be written. */
  #writtenByMs = 0

  constructor(seed: number, folder: string, trace: string[]) {
    this.#folder = folder
    this.trace = trace
    this.nextRequest = 1000 * seed
    this.settings = drawSettings(new Seeded(seed ^ 0x5e77))
    this.#random = new Seeded(seed ^ 0x1d5)
    this.model = new Model(this.settings, this.clock)
    this.#auditor = new Auditor(this.model, this.accounts)
    this.#cloneAuditor = new CloneAuditor(this.model.clones, this.accounts, this.settings)
    this.#listeningAuditor = new ListeningAuditor(this.model.listenings)
  }

  async open(): Promise<void> {
    if (empty === undefined) {
      const nursery = join(this.#folder, 'empty')
      mkdirSync(nursery)
      empty = await emptyBooks(nursery)
    }
    writeFileSync(join(this.#folder, 'myna.db'), empty)
    await this.#start()
    await this.#invite('ada', this.#random.whole(0, 20_000), [null, ['tts'], ['usage']])
    await this.#invite('bob', null, [null, null])
    await this.#invite('cyd', this.#random.whole(0, 3000), [['tts', 'voices', 'usage']], '12h')
    await this.#invite('dan', this.#random.whole(0, 3000), [null], null, 'admin')
    await this.follow(() => {})
  }

  close(): void {
    this.#connection?.close()
    this.#process?.kill()
  }

  get process(): SimulatedProcess {
    if (this.#process === null) throw new Error('no process was started')
    return this.#process
  }

  /**
   * Waits until the process is quiet.
   * @param apply passes the act to the model; the database is read before it is called
   */
  async follow(apply: () => void): Promise<void> {
    await this.process.settled()
    this.#judge(apply)
  }

  /** Deadline by deadline, so that each one meets the state that the one before left. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0 && !this.process.dead;) {
      const { clones, listenings } = this.model
      const hopMs = Math.min(left, ...[this.model, clones, listenings].map((model) => model.nextDueMs() ?? left))
      if (hopMs <= 0) this.fail('a deadline had no effect')
      this.clock.advance(hopMs)
      left -= hopMs
      await this.follow(() => {
        this.model.deadlines()
        clones.deadlines()
        listenings.deadlines()
      })
    }
  }

  async fillDisk(whole: boolean): Promise<void> {
    await this.process.fillDisk(whole)
    this.disk = whole ? 'full' : 'tight'
  }

  async freeDisk(): Promise<void> {
    await this.process.freeDisk()
    this.disk = 'free'
    this.#writtenByMs = this.clock.monotonicMs() + writtenAgainMs
  }

  /** The process shuts down in order, and the next one starts. */
  async stop(): Promise<void> {
    const stopped = new Watched(this.process.stop())
    await this.follow(() => {
      this.model.shutDown()
      this.model.clones.shutDown()
      this.model.listenings.shutDown()
    })
    if (this.process.dead && stopped.state === 'pending') return
    this.compare('stop', stopped.code, 'value')
    await this.#restart()
    this.#judge(() => {})
  }

  /** The process dies on the spot, and the next one starts with its files. */
  async crash(): Promise<void> {
    this.process.kill()
    this.#leaveHalfFiles()
    await this.#restart()
    this.#judge(() => {
      this.model.crashed()
      this.model.clones.crashed()
      this.model.listenings.crashed()
    })
  }

  /**
   * Leaves the files of a half-written voice and of a half-deleted one, because deaths here never happen in the middle
   * of those.
   */
  #leaveHalfFiles(): void {
    for (const name of ['.new-half', '.gone-half']) {
      const half = join(this.#folder, 'voices', name)
      mkdirSync(half, { recursive: true })
      writeFileSync(join(half, 'clip'), 'half')
    }
  }

  /** The product's own audit, which does not know the model: `myna audit`. */
  async auditAlone(): Promise<void> {
    const faults = await brokenRules(async (sql) => this.#opened().query<Row, []>(sql).all())
    if (faults.length > 0) this.fail(faults.map(({ rule, words }) => `${rule}: ${words}`).join('\n'))
  }

  compare(what: string, is: unknown, due: unknown): void {
    if (is !== due) this.fail(`${what}: ${is}, not ${due}`)
  }

  fail(what: string): never {
    throw new Error(what)
  }

  note(what: string): void {
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1)
  }

  #judge(apply: () => void): void {
    const books = readBooks(this.#opened())
    this.books = booksOf('speech', books)
    this.cloneBooks = readClones(booksOf('clone', books), this.#opened(), this.#folder)
    this.model.rows = this.books.operations
    this.model.clones.rows = this.cloneBooks.operations
    this.model.marks = this.process.dead ? 'unknown' : this.disk === 'free' ? 'foreseen' : 'looked up'
    this.model.clones.marks = this.model.marks
    this.#listeningBooks = readListenings(this.#opened())
    this.model.listenings.rows = this.#listeningBooks
    this.model.listenings.marks = this.model.marks
    this.model.listenings.draining = this.model.draining
    apply()
    if (!this.process.dead) this.#audit()
  }

  #audit(): void {
    const mayLag = this.disk !== 'free' || this.clock.monotonicMs() < this.#writtenByMs
    const before = this.model.unsettled
    const clonesBefore = this.model.clones.unsettled
    const listeningsBefore = this.model.listenings.unsettled
    const faults = [
      // This comes first, because balances depend on which endings of clones the database has.
      ...this.#cloneAuditor.faults(this.cloneBooks, mayLag, this.clock.nowMs()),
      ...this.#auditor.faults(this.books, mayLag, this.clock.nowMs()),
      ...this.clients.flatMap((client) => client.faults(mayLag, this.clock.monotonicMs())),
      ...this.#listeningAuditor.faults(this.#listeningBooks, mayLag, this.clock.nowMs()),
      ...this.listeners.flatMap((listener) => listener.faults()),
      ...this.#leaks(),
    ]
    for (const { id, ending, settledMs } of before) {
      if (settledMs === null || ending === null) continue
      this.note(
        `ended: ${[ending.outcome, ending.code, ending.chargedMicros > 0 && 'charged'].filter(Boolean).join(' ')}`,
      )
      this.trace.push(`  ${id} ended ${JSON.stringify(ending)}`)
    }
    for (const { id, ending, settledMs, priceMicros } of clonesBefore) {
      if (settledMs === null || ending === null) continue
      const price = priceMicros > 0 ? 'priced' : null
      this.note(`cloned: ${[ending.outcome, ending.code, price].filter(Boolean).join(' ')}`)
      this.trace.push(`  ${id} ended ${JSON.stringify(ending)}`)
    }
    for (const { id, ending, isSettled } of listeningsBefore) {
      if (!isSettled || ending === null) continue
      this.note(`listened: ${[ending.outcome, ending.code].filter(Boolean).join(' ')}`)
      this.trace.push(`  ${id} ended ${JSON.stringify(ending)}`)
    }
    if (faults.length > 0) this.fail(faults.join('\n'))
  }

  /** What the process still holds for finished work. */
  #leaks(): string[] {
    const { speech, queue } = this.process
    const { unsettled, live, unwritten } = this.model
    const is = [speech.liveCount, queue.running, queue.depth, speech.unwrittenCount]
    const due = [unsettled.length, live.length, 0, unwritten.length]
    const faults =
      is.join() === due.join() ? [] : [`live, running, waiting, unwritten: ${is.join()}, not ${due.join()}`]
    return [...faults, ...this.#cloneLeaks(), ...this.#listeningLeaks()]
  }

  #cloneLeaks(): string[] {
    const { clones, cloneQueue } = this.process
    const { live, unwritten, lingering } = this.model.clones
    const waiting = live.filter(({ stage }) => stage === 'waiting').length
    const is = [cloneQueue.running, cloneQueue.depth, lingering ? 0 : clones.unwrittenCount]
    const due = [live.length - waiting, waiting, lingering ? 0 : unwritten.length]
    return is.join() === due.join() ? [] : [`clones running, waiting, unwritten: ${is.join()}, not ${due.join()}`]
  }

  #listeningLeaks(): string[] {
    const { transcriptions, listenQueue } = this.process
    const { live, unsettled, unwritten } = this.model.listenings
    const waiting = live.filter(({ stage }) => stage === 'waiting').length
    const is = [transcriptions.liveCount, listenQueue.running, listenQueue.depth, transcriptions.unwrittenCount]
    const due = [unsettled.length, live.length - waiting, waiting, unwritten.length]
    return is.join() === due.join() ? [] : [`transcriptions: ${is.join()}, not ${due.join()}`]
  }

  async #invite(
    name: string,
    balanceMicros: number | null,
    keys: (string[] | null)[],
    expires: string | null = null,
    role: 'user' | 'admin' = 'user',
  ) {
    const { verbs } = this.process
    const { id } = await verbs.createAccount({ name, role, balanceMicros })
    const admin = role === 'admin'
    const creditedMicros = balanceMicros ?? 0
    const account = { id, name, admin, prepaid: balanceMicros !== null, creditedMicros, disabled: false }
    this.accounts.push(account)
    for (const scopes of keys) {
      const { key, secret } = await verbs.createKey({ account: name, name: 'simulated', scopes, expires })
      const expiresMs = expires === null ? null : this.clock.nowMs() + 12 * 3_600_000
      this.keys.push({ id: key.id, secret, account, scopes, expiresMs, revoked: false })
    }
  }

  async #restart(): Promise<void> {
    this.#opened().close()
    for (const client of this.clients) client.done = true
    this.clients = []
    this.listeners = []
    this.model.draining = false
    this.door.reopened()
    this.disk = 'free'
    this.#writtenByMs = 0
    await this.#start()
    const pending = [...readBooks(this.#opened()).operations.values()].filter((row) => row.outcome === null)
    if (pending.length > 0) this.fail(`${pending.map(({ id }) => id).join()} is pending after the start`)
  }

  async #start(): Promise<void> {
    const { clock, settings } = this
    this.#process = await SimulatedProcess.start({
      folder: this.#folder,
      clock,
      settings,
      random: this.#random.fill,
      soundOf,
      learningOf,
      clipHeardOf,
    })
    this.#connection = readingConnection(this.#folder)
  }

  #opened(): Database {
    if (this.#connection === null) throw new Error('the books are not open')
    return this.#connection
  }
}
