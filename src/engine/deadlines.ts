/**
 * When the child is given up (server side). It may owe audio to a stream, text of a clip or an answer to a query; one
 * that owes and sends nothing is killed, because there is no other way out of a native call.
 *
 * Loading a model is such a call too, and may rightly take minutes. It has a deadline of its own, and while it lasts no
 * time passes for what the child owes.
 */
import type { Timers } from './timers.ts'

/** A piece of work that the child was given. */
export interface Debt {
  readonly kind: 'stream' | 'query' | 'transcription'
  /** Since when (`Deadlines.nowMs`) the child owes something; null: it does not. */
  owedSinceMs: number | null
  /** No caller waits for it any more; the child has still to report that it stopped. */
  isCancelled: boolean
  /** The caller gets a failure, and the child may stop. */
  giveUp(): void
}

const owed: Readonly<Record<Debt['kind'], string>> = { stream: 'audio', query: 'an answer', transcription: 'text' }

/** In units of `stallMs`: how long a child that shows signs of life may take to stop cancelled work. */
const cancelledPatience = 3

export interface DeadlinesOptions {
  timers: Timers
  stallMs: number
  /** Longest time in which a model is loaded. */
  loadMs: number
  debts(): Iterable<Debt>
  /** @param reason continues «the engine ...» */
  kill(reason: string): void
  log(line: string): void
}

export class Deadlines {
  readonly #options: DeadlinesOptions
  #cancelTimer: (() => void) | null = null
  #lastProgressMs = 0
  /** By model, since when it is being loaded. */
  readonly #loads = new Map<string, number>()
  /** When the clock was stopped; null: it is running. */
  #stillSinceMs: number | null = null
  #stoodStillMs = 0
  /** Since when those were cancelled that the child has not stopped yet. */
  readonly #cancelled = new WeakMap<Debt, number>()

  constructor(options: DeadlinesOptions) {
    this.#options = options
  }

  /** The clock that deadlines are measured by: monotonic, and stopped while the child loads a model. */
  nowMs(): number {
    return (this.#stillSinceMs ?? this.#options.timers.monotonicMs()) - this.#stoodStillMs
  }

  /** The child did something that it owed. @returns the time */
  noteProgress(): number {
    this.#lastProgressMs = this.nowMs()
    return this.#lastProgressMs
  }

  /**
   * Graphs are running, for one of the requests: from now on all deadlines count. A long run on a busy machine must not
   * fail a request. Cancelled work ends at the next node of its graph, which may also take long on such a machine, but
   * not for ever.
   */
  noteAlive(): void {
    const nowMs = this.noteProgress()
    for (const debt of this.#options.debts()) {
      if (debt.owedSinceMs === null) continue
      const cancelledMs = debt.isCancelled ? (this.#cancelled.get(debt) ?? debt.owedSinceMs) : nowMs
      if (debt.isCancelled) this.#cancelled.set(debt, cancelledMs)
      if (nowMs - cancelledMs < cancelledPatience * this.#options.stallMs) debt.owedSinceMs = nowMs
    }
  }

  /** The child begins to load a model, or has ended that. */
  noteLoading(model: string, isOver: boolean): void {
    const realMs = this.#options.timers.monotonicMs()
    if (isOver) this.#loads.delete(model)
    else this.#loads.set(model, realMs)
    if (this.#loads.size === 0) return this.#goOn()
    this.#stillSinceMs ??= realMs
    this.watch()
  }

  /** Models that are being loaded. */
  get loading(): string[] {
    return [...this.#loads.keys()]
  }

  /** The child is gone, and its loads with it. */
  noteEnd(): void {
    this.#loads.clear()
    this.#goOn()
  }

  /** Looks at debts and loads a few times within each deadline, for as long as there are any. */
  watch(): void {
    const { timers, stallMs, loadMs, debts } = this.#options
    this.#cancelTimer ??= timers.after(Math.min(stallMs, loadMs) / 8, () => {
      this.#cancelTimer = null
      this.#checkLoads()
      this.#checkDebts()
      if ([...debts()].length > 0 || this.#loads.size > 0) this.watch()
    })
  }

  /** Nothing is owed any more. */
  stop(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = null
  }

  /**
   * Silence of the whole child, or a cancel that it does not obey, kills it. Work that alone is late may only be
   * waiting for its turn on a busy machine, so it fails alone, and the rest continues.
   */
  #checkDebts(): void {
    const { stallMs, debts, kill, log } = this.#options
    const beforeMs = this.nowMs() - stallMs
    for (const debt of Array.from(debts())) {
      if (debt.owedSinceMs === null || debt.owedSinceMs > beforeMs) continue
      const what = owed[debt.kind]
      if (this.#lastProgressMs <= beforeMs)
        return kill(`was killed: it owed ${what} and sent nothing for ${stallMs} ms`)
      if (debt.isCancelled) return kill(`was killed: it did not stop a cancelled ${debt.kind} within ${stallMs} ms`)
      log(`a ${debt.kind} got no ${what.replace(/^an /, '')} for ${stallMs} ms and was given up`)
      debt.giveUp()
    }
  }

  #goOn(): void {
    if (this.#stillSinceMs === null) return
    this.#stoodStillMs += this.#options.timers.monotonicMs() - this.#stillSinceMs
    this.#stillSinceMs = null
    this.noteProgress()
  }

  #checkLoads(): void {
    const { timers, loadMs, kill } = this.#options
    const beforeMs = timers.monotonicMs() - loadMs
    const late = [...this.#loads].find(([, sinceMs]) => sinceMs <= beforeMs)
    if (late !== undefined) kill(`was killed: it did not load ${late[0]} within ${loadMs} ms`)
  }
}
