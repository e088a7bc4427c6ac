/**
 * Keeps this server as one box among others: it renews the lease, settles what dead boxes left, stops what was
 * cancelled elsewhere, and accepts no new work once the database has been away for too long. Notifications between
 * boxes may be lost, so everything they say is also in the tables and is read again after every gap.
 */
import { MynaError } from '../domain/error.ts'
import type { Clock, Timer } from '../domain/time.ts'
import type { BoxNews, BoxReport, Boxes, BoxStatus } from './ports/boxes.ts'

/** A box at work: what it is running, and how that is stopped. */
export interface BoxWork {
  /** Operations and transcriptions, by id. */
  ids(): ReadonlySet<string>
  /** Those among them of which the database has a row. */
  recordedIds(): ReadonlySet<string>
  cancel(id: string): void
}

export interface BoxKeeperParts {
  boxes: Boxes
  lease: Lease
  timer: Timer
  /** Measures how far the database's clock is ahead. */
  measureClock: () => Promise<void>
  work: () => BoxWork
  report: () => Promise<BoxReport | null>
  onNews: (news: BoxNews) => void
  log: { warn(message: string, fields?: Record<string, unknown>): void; info(message: string): void }
}

export interface LeaseTimes {
  leaseMs: number
  renewMs: number
  /** Without the database for this long, a box accepts no new work: well before its lease runs out. */
  admitMs: number
}

export const usualLease: LeaseTimes = { leaseMs: 90_000, renewMs: 15_000, admitMs: 30_000 }

/** A row may be pending without its work for as long as its admission takes. */
const orphanMs = 60_000

/** Whether this box may still accept new work in its own name. */
export class Lease {
  readonly boxId: string
  readonly #clock: Clock
  readonly #times: LeaseTimes
  #renewedMs: number

  constructor(boxId: string, clock: Clock, times: LeaseTimes) {
    this.boxId = boxId
    this.#clock = clock
    this.#times = times
    this.#renewedMs = -Infinity
  }

  get times(): LeaseTimes {
    return this.#times
  }

  /** @param askedMs monotonic time before the database was asked: the lease is at least that long */
  renewed(askedMs: number): void {
    this.#renewedMs = askedMs
  }

  /** Upper bound for the time since the database last answered. */
  get silentMs(): number {
    return this.#clock.monotonicMs() - this.#renewedMs
  }

  get isHeld(): boolean {
    return this.silentMs < this.#times.admitMs
  }

  /** @throws MynaError `database_unavailable` */
  requireHeld(): void {
    if (this.isHeld) return
    throw new MynaError('database_unavailable', 'The database does not answer, so this server takes no new work.', {
      retryAfterMs: 5000,
    })
  }
}

export class BoxKeeper {
  readonly #parts: BoxKeeperParts
  readonly #clock: Clock
  #cancelTimer = () => {}
  #stopListening: (() => Promise<void>) | null = null
  #isStopped = false
  #isAway = false
  #others: BoxStatus[] = []
  #ticking: Promise<void> = Promise.resolve()

  constructor(parts: BoxKeeperParts, clock: Clock) {
    this.#parts = parts
    this.#clock = clock
  }

  /** Names of the others that are alive and have the model, as they last said. */
  elsewhere(model: string): string[] {
    return this.#others.filter((box) => box.report?.models.includes(model)).map(({ name }) => name)
  }

  async #lookAround(): Promise<void> {
    const boxes = await this.#parts.boxes.list()
    this.#others = boxes.filter(({ isThisOne, leaseLeftMs }) => !isThisOne && leaseLeftMs > 0)
  }

  /** Takes the lease and settles work without a living owner. @throws MynaError `database_unavailable` */
  async open(): Promise<{ operations: number; transcriptions: number }> {
    await this.#renew()
    await this.#lookAround()
    return this.#parts.boxes.settleLost()
  }

  /** Runs by itself from now on. */
  async start(): Promise<void> {
    this.#schedule()
    await this.#listen()
  }

  /** Gives the lease back. Everything that this box worked on must have been settled. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelTimer()
    await this.#ticking
    await this.#stopListening?.()
    // The rest is settled once the lease has run out.
    await this.#parts.boxes.leave().catch(() => {})
  }

  /** Renews, settles, reconciles. Never rejects. */
  tick(): Promise<void> {
    this.#ticking = this.#tick()
    return this.#ticking
  }

  #schedule(): void {
    this.#cancelTimer = this.#parts.timer.after(this.#parts.lease.times.renewMs, async () => {
      await this.tick()
      if (!this.#isStopped) this.#schedule()
    })
  }

  async #tick(): Promise<void> {
    const { boxes, lease, log, measureClock } = this.#parts
    // A box that was away itself lets the others come back before it settles anything for them.
    const wasHere = lease.silentMs < lease.times.leaseMs
    try {
      await this.#renew()
      await measureClock()
      await this.#lookAround()
      await this.reconcile()
      if (wasHere) {
        const { operations, transcriptions } = await boxes.settleLost()
        if (operations + transcriptions > 0) log.warn('settled what another box left', { operations, transcriptions })
      }
      if (this.#stopListening === null) await this.#listen()
      if (this.#isAway) log.info('the database answers again')
      this.#isAway = false
    } catch (error) {
      if (!this.#isAway) log.warn('the database does not answer', { cause: String(error) })
      this.#isAway = true
    }
  }

  async #renew(): Promise<void> {
    const { boxes, lease, report } = this.#parts
    const askedMs = this.#clock.monotonicMs()
    await boxes.renew(await report())
    lease.renewed(askedMs)
  }

  async #listen(): Promise<void> {
    const { boxes, onNews, log } = this.#parts
    try {
      this.#stopListening = await boxes.listen(onNews, () => void this.reconcile().catch(() => {}))
    } catch (error) {
      log.warn('other boxes cannot be heard; their wishes are read from the tables', { cause: String(error) })
    }
  }

  /**
   * Compares what runs here with what is pending in this box's name. Work whose row is terminal was settled by another
   * box or its voice deleted there; a row without work is what an admission left whose answer was lost.
   */
  async reconcile(): Promise<void> {
    const { boxes, work } = this.#parts
    const before = work()
    const pending = await boxes.ownPending()
    const rows = new Map(pending.map((row) => [row.id, row]))
    for (const id of before.recordedIds()) {
      const row = rows.get(id)
      if (row === undefined || row.cancelRequested) before.cancel(id)
    }
    const now = work().ids()
    for (const { id, ageMs } of pending) {
      if (ageMs > orphanMs && !now.has(id) && !before.ids().has(id)) await boxes.settleOrphan(id)
    }
  }
}
