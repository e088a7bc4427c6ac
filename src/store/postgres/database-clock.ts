/**
 * The wall clock of the database, in a box whose own may be wrong: times that boxes compare must come from one clock.
 * How far it is ahead is measured now and then; between measurements the box's monotonic clock carries it on.
 */
import type { Clock } from '../../domain/time.ts'
import type { Sql } from '../database.ts'

export class DatabaseClock implements Clock {
  readonly #clock: Clock
  readonly #sql: Sql
  /** Wall time less monotonic time. */
  #offsetMs: number

  private constructor(clock: Clock, sql: Sql) {
    this.#clock = clock
    this.#sql = sql
    this.#offsetMs = clock.nowMs() - clock.monotonicMs()
  }

  static async open(clock: Clock, sql: Sql): Promise<DatabaseClock> {
    const made = new DatabaseClock(clock, sql)
    await made.measure()
    return made
  }

  /** Exact to half the time that the question takes. */
  async measure(): Promise<void> {
    const askedMs = this.#clock.monotonicMs()
    const row = await this.#sql.get<{ now: number }>('SELECT myna_now_ms() AS now')
    const midMs = (askedMs + this.#clock.monotonicMs()) / 2
    if (row !== null) this.#offsetMs = row.now - midMs
  }

  nowMs(): number {
    return Math.round(this.#clock.monotonicMs() + this.#offsetMs)
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs()
  }
}
