/**
 * The wall clock of the database, in a box whose own may be wrong: times that boxes compare must come from one clock.
 * How far it is ahead is measured now and then; between measurements the box's monotonic clock carries it on. A
 * question that was asked again after a lost answer takes seconds, and says little: it only corrects what cannot be
 * true.
 */
import type { Clock } from '../../domain/time.ts'
import type { Sql } from '../database.ts'

export class DatabaseClock implements Clock {
  readonly #clock: Clock
  readonly #sql: Sql
  /** Wall time less monotonic time. */
  #offsetMs: number
  /** How long the question took by whose answer the offset is known. */
  #tripMs = Infinity

  private constructor(clock: Clock, sql: Sql) {
    this.#clock = clock
    this.#sql = sql
    this.#offsetMs = clock.nowMs() - clock.monotonicMs()
  }

  static async open(clock: Clock, sql: Sql): Promise<DatabaseClock> {
    const made = new DatabaseClock(clock, sql)
    // The first question may have to open a connection; the second is quick.
    await made.measure()
    await made.measure()
    return made
  }

  /** Exact to half the time that the quickest of the recent questions took. */
  async measure(): Promise<void> {
    const askedMs = this.#clock.monotonicMs()
    const row = await this.#sql.get<{ now: number }>('SELECT myna_now_ms() AS now')
    if (row === null) return
    const answeredMs = this.#clock.monotonicMs()
    const [least, most] = [row.now - answeredMs, row.now - askedMs]
    if (most - least <= 2 * this.#tripMs) {
      this.#offsetMs = (least + most) / 2
      this.#tripMs = most - least
    } else this.#offsetMs = Math.min(Math.max(this.#offsetMs, least), most)
  }

  nowMs(): number {
    return Math.round(this.#clock.monotonicMs() + this.#offsetMs)
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs()
  }
}
