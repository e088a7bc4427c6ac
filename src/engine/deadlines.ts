/**
 * When the child is given up (server side). It may owe audio to a stream or an answer to a query; one that owes and
 * says nothing is killed, for there is no other way out of a native call.
 */
import type { Timers } from './timers.ts'

/** A piece of work that the child was given. */
export interface Debt {
  readonly kind: 'stream' | 'query'
  /** Since when the child owes something; null: it does not. */
  owedSinceMs: number | null
  /** Nobody waits for it any more; the child has still to say that it stopped. */
  isCancelled: boolean
  /** Whoever waits is told that it failed, and the child that it may stop. */
  giveUp(): void
}

const owed: Readonly<Record<Debt['kind'], string>> = { stream: 'audio', query: 'an answer' }

export interface DeadlinesOptions {
  timers: Timers
  stallMs: number
  debts(): Iterable<Debt>
  /** @param reason continues «the engine ...» */
  kill(reason: string): void
  log(line: string): void
}

export class Deadlines {
  readonly #options: DeadlinesOptions
  #cancelTimer: (() => void) | null = null
  #lastProgressMs = 0

  constructor(options: DeadlinesOptions) {
    this.#options = options
  }

  /** The child did something that it owed. @returns the time */
  noteProgress(): number {
    this.#lastProgressMs = this.#options.timers.monotonicMs()
    return this.#lastProgressMs
  }

  /** Looks at the debts a few times within each deadline, for as long as there are any. */
  watch(): void {
    const { timers, stallMs, debts } = this.#options
    this.#cancelTimer ??= timers.after(stallMs / 8, () => {
      this.#cancelTimer = null
      this.#check()
      if ([...debts()].length > 0) this.watch()
    })
  }

  /** Nobody is owed anything any more. */
  stop(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = null
  }

  /**
   * Silence of the whole child, or a cancel that it does not obey, kills it. Work that alone is late may only be
   * waiting for its turn on a busy machine, so it fails alone, and the rest goes on.
   */
  #check(): void {
    const { timers, stallMs, debts, kill, log } = this.#options
    const beforeMs = timers.monotonicMs() - stallMs
    for (const debt of [...debts()]) {
      if (debt.owedSinceMs === null || debt.owedSinceMs > beforeMs) continue
      const what = owed[debt.kind]
      if (this.#lastProgressMs <= beforeMs)
        return kill(`was killed: it owed ${what} and said nothing for ${stallMs} ms`)
      if (debt.isCancelled) return kill(`was killed: it did not stop a cancelled ${debt.kind} within ${stallMs} ms`)
      log(`a ${debt.kind} got no ${what.replace(/^an /, '')} for ${stallMs} ms and was given up`)
      debt.giveUp()
    }
  }
}
