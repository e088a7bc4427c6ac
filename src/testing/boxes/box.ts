/**
 * One box of the simulation: the real store over a connection that can be lost, with its own clock, which may be wrong.
 * It works on operations as a server does and remembers the answers, so that an auditor can compare.
 */
import type { Clock } from '../../domain/time.ts'
import { systemTimer } from '../../domain/time.ts'
import type { Settlement } from '../../domain/operation.ts'
import { BoxKeeper, Lease } from '../../service/box-keeper.ts'
import { SqlAccounts } from '../../store/accounts.ts'
import { SqlLedger } from '../../store/ledger/ledger.ts'
import { PostgresBoxes } from '../../store/postgres/boxes.ts'
import { DatabaseClock } from '../../store/postgres/database-clock.ts'
import { openPostgres, type PostgresDatabase } from '../../store/postgres/postgres.ts'
import { SqlVoices } from '../../store/voices.ts'
import { Relay } from '../relay.ts'
import type { Seeded } from '../seeded.ts'

/** Short, so that many leases expire in a run. */
export const leaseTimes = { leaseMs: 1500, renewMs: 250, admitMs: 700 }

/** What all boxes were answered, by operation. */
export interface Told {
  /** The admission was answered. */
  admitted: Set<string>
  /** Certainly refused: no row may exist. */
  refused: Set<string>
  settled: Map<string, { settlement: Settlement | 'clone'; won: boolean }>
  /** The answer never arrived, so the result is unknown. */
  creditedMicros: Map<string, { sure: number; maybe: number }>
  /** When each renewal was requested and answered, by the database's clock as the box knew it. */
  renewals: Map<string, { askedMs: number; answeredMs: number }[]>
  /** When each box that ended properly began to give its lease back, by its database clock. */
  leftMs: Map<string, number>
  /** Failures that a client must never see. */
  errors: string[]
}

/** Before anything happened. */
export const nobodyTold = (accountIds: readonly string[]): Told => ({
  admitted: new Set(),
  refused: new Set(),
  settled: new Map(),
  creditedMicros: new Map(accountIds.map((id) => [id, { sure: 0, maybe: 0 }])),
  renewals: new Map(),
  leftMs: new Map(),
  errors: [],
})

/** The address of the database server, and the cable to it. */
export interface Wire {
  host: string
  port: number
  cable: number
}

export class SimulatedBox {
  readonly id: string
  readonly relay: Relay
  readonly cable: number
  readonly ledger: SqlLedger
  readonly voices: SqlVoices
  readonly accounts: SqlAccounts
  readonly keeper: BoxKeeper
  readonly boxes: PostgresBoxes
  readonly clock: DatabaseClock
  /** The operations it works on, and whether it was asked to stop. */
  readonly working = new Map<string, { isCancelled: boolean }>()
  readonly #database: PostgresDatabase
  isDead = false

  private constructor(parts: {
    id: string
    relay: Relay
    database: PostgresDatabase
    clock: DatabaseClock
    told: Told
    random: Seeded
    cable: number
  }) {
    const { id, relay, database, clock, told, random } = parts
    const lease = new Lease(id, clock, leaseTimes)
    const options = { clock, random: random.fill, box: lease }
    this.id = id
    this.relay = relay
    this.cable = parts.cable
    this.clock = clock
    this.#database = database
    this.ledger = new SqlLedger(database, options)
    this.voices = new SqlVoices(database, options)
    this.accounts = new SqlAccounts(database, options)
    const url = urlOf(relay.port, parts.database)
    this.boxes = new PostgresBoxes(database, { id, name: id, url, clock, leaseMs: leaseTimes.leaseMs, graceMs: 0 })
    const renew = this.boxes.renew.bind(this.boxes)
    const renewals: { askedMs: number; answeredMs: number }[] = []
    told.renewals.set(id, renewals)
    this.boxes.renew = async (report) => {
      const askedMs = clock.nowMs()
      await renew(report)
      renewals.push({ askedMs, answeredMs: clock.nowMs() })
    }
    const leave = this.boxes.leave.bind(this.boxes)
    this.boxes.leave = () => {
      told.leftMs.set(id, clock.nowMs())
      return leave()
    }
    this.keeper = new BoxKeeper(
      {
        boxes: this.boxes,
        lease,
        timer: systemTimer,
        measureClock: () => clock.measure(),
        work: () => {
          const ids = new Set(this.working.keys())
          return { ids: () => ids, recordedIds: () => ids, cancel: (one) => this.cancel(one) }
        },
        report: async () => null,
        onNews: (news) => (news.kind === 'cancel' ? this.cancel(news.operationId) : undefined),
        log: { warn: () => {}, info: () => {} },
      },
      clock,
    )
  }

  static async start(id: string, database: string, wire: Wire, told: Told, random: Seeded): Promise<SimulatedBox> {
    const relay = await Relay.open(wire.port, wire.host)
    const url = `postgres://myna@127.0.0.1:${relay.port}/${database}`
    const opened = await openPostgres(url, { connections: 4, deadlineMs: 600, patienceMs: 1500 })
    const skewMs = random.whole(-60_000, 60_000)
    const own: Clock = { nowMs: () => Date.now() + skewMs, monotonicMs: () => performance.now() }
    const clock = await DatabaseClock.open(own, opened)
    names.set(opened, database)
    const box = new SimulatedBox({ id, relay, database: opened, clock, told, random, cable: wire.cable })
    await box.keeper.open()
    await box.keeper.start()
    return box
  }

  cancel(id: string): void {
    const work = this.working.get(id)
    if (work !== undefined) work.isCancelled = true
  }

  /** Like SIGKILL: all its work stops, and nothing is reported. */
  async kill(): Promise<void> {
    this.isDead = true
    this.relay.cut()
    this.boxes.leave = async () => {}
    await this.keeper.stop()
    await this.#database.close()
    this.relay.close()
  }

  /** Shuts down properly. */
  async stop(): Promise<void> {
    this.relay.mend()
    await this.keeper.stop()
    await this.#database.close()
    this.relay.close()
    this.isDead = true
  }
}

const names = new WeakMap<PostgresDatabase, string>()
const urlOf = (port: number, database: PostgresDatabase): string =>
  `postgres://myna@127.0.0.1:${port}/${names.get(database)}`
