/**
 * Decides when the child is given up (server side). It may owe audio to a stream, text of a clip or an answer to a
 * query. No child is killed for being slow: while it shows life, a piece of work has many times the time that its size
 * needs at the measured speed, and only a piece that takes longer is ended. A child that shows no life is asked to end
 * its work, and killed if it does not, because nothing else ends a native call.
 *
 * Loading a model is such a call too, and may rightly take minutes. It has a deadline of its own, and while it lasts no
 * time passes for what the child owes. None passes either while the server itself stands still.
 */
import type { Timers } from './timers.ts'

/** A piece of work that the child was given. */
export interface Debt {
  readonly kind: 'stream' | 'query' | 'transcription'
  /** That it uses; null: only what every engine has. */
  readonly model: string | null
  /** Since when (`Deadlines.nowMs`) the child owes something; null: it does not. */
  owedSinceMs: number | null
  /** No caller waits for it any more; the child has still to report that it stopped. */
  isCancelled: boolean
  /** Longest wait for the next piece while the child shows life, by its size; null or absent: unknown. */
  readonly patienceMs?: number | null
  /** The caller gets a failure, and the child may stop. @param why continues «The engine failed: » */
  giveUp(why: string): void
}

/**
 * Why the child or its work was ended: it showed no life, one piece took too long, a cancelled run did not stop, or a
 * model took too long to load.
 */
export type StallCause = 'silent' | 'slow' | 'deaf' | 'loading'

const owed: Readonly<Record<Debt['kind'], string>> = { stream: 'audio', query: 'an answer', transcription: 'text' }

/** In units of `stallMs`: how long a child that shows signs of life may take to stop cancelled work. */
const cancelledPatience = 3
/** The same for a piece of work whose size is unknown. */
const unknownPatience = 20
/** In units of `stallMs`: how long a silent child has to end its work. */
const endingPatience = 1 / 4

export interface DeadlinesOptions {
  timers: Timers
  stallMs: number
  /** Longest time in which a model is loaded. */
  loadMs: number
  debts(): Iterable<Debt>
  /** @param reason continues «the engine ...» @param why continues «The engine failed: » */
  kill(reason: string, why: string): void
  log(line: string): void
}

export class Deadlines {
  readonly #options: DeadlinesOptions
  #isStopped = false
  #cancelTimer: (() => void) | null = null
  /** When the next look at debts and loads is due; null: nothing is watched. */
  #dueMs: number | null = null
  #lastProgressMs = 0
  /** By model, since when it is being loaded. */
  readonly #loads = new Map<string, number>()
  /** When the clock was stopped; null: it is running. */
  #stillSinceMs: number | null = null
  #stoodStillMs = 0
  /** When it last showed that it is computing. */
  #aliveMs = -Infinity
  /** Since when a silent child has been ending its work; null: it is not silent. */
  #endingSinceMs: number | null = null
  readonly #stalls: Record<StallCause, number> = { silent: 0, slow: 0, deaf: 0, loading: 0 }

  constructor(options: DeadlinesOptions) {
    this.#options = options
  }

  /**
   * The clock that deadlines are measured by: monotonic, and stopped while the child loads a model or the server does
   * not run.
   */
  nowMs(): number {
    this.#leaveOut()
    return (this.#stillSinceMs ?? this.#options.timers.monotonicMs()) - this.#stoodStillMs
  }

  /** How often each kind of stall happened. */
  get stalls(): Readonly<Record<StallCause, number>> {
    return this.#stalls
  }

  /** The child did something that it owed. @returns the time */
  noteProgress(): number {
    this.#lastProgressMs = this.nowMs()
    this.#endingSinceMs = null
    return this.#lastProgressMs
  }

  /**
   * Graphs are running, for one of the requests. A long run on a busy machine must not fail a request. Cancelled work
   * ends at the next node of its graph, which may also take long on such a machine, but not forever.
   */
  noteAlive(): void {
    this.#aliveMs = this.noteProgress()
  }

  /** The child begins to load a model, or has finished loading it. */
  noteLoading(model: string, isOver: boolean): void {
    this.#leaveOut()
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
    this.#endingSinceMs = null
    this.#loads.clear()
    this.#goOn()
  }

  /** Looks at debts and loads a few times within each deadline, for as long as there are any. */
  watch(): void {
    if (this.#isStopped || this.#cancelTimer !== null) return
    const { timers, debts } = this.#options
    this.#dueMs = timers.monotonicMs() + this.#everyMs
    this.#cancelTimer = timers.after(this.#everyMs, () => {
      this.#cancelTimer = null
      this.#leaveOut()
      this.#dueMs = null
      this.#checkLoads()
      this.#checkDebts()
      if ([...debts()].length > 0 || this.#loads.size > 0 || this.#endingSinceMs !== null) this.watch()
    })
  }

  /**
   * Nothing is owed any more, for good: a child that still reports a load must not keep the server's process alive.
   */
  stop(): void {
    this.#isStopped = true
    this.#cancelTimer?.()
    this.#cancelTimer = null
    this.#dueMs = null
  }

  #checkDebts(): void {
    const { stallMs, debts, log } = this.#options
    const nowMs = this.nowMs()
    if (this.#endingSinceMs !== null) {
      if (nowMs - this.#endingSinceMs >= endingPatience * stallMs)
        this.#kill('silent', `it sent nothing for ${seconds(stallMs)}`)
      return
    }
    const all = Array.from(debts())
    for (const debt of all.filter((one) => this.#isLate(one, nowMs, all.length))) {
      const what = owed[debt.kind].replace(/^an /, '')
      if (this.#lastProgressMs <= nowMs - stallMs) return this.#endAll(all)
      if (debt.isCancelled)
        return this.#kill('deaf', `it did not stop a cancelled ${debt.kind} within ${seconds(stallMs)}`)
      const forMs = nowMs - (debt.owedSinceMs ?? nowMs)
      this.#stalls.slow++
      log(`a ${debt.kind} got no ${what} for ${seconds(forMs)} and was given up: too long for its size here`)
      debt.giveUp(`no ${what} came for ${seconds(forMs)}`)
    }
  }

  /**
   * Signs of life count for as long as the work may take. While other work runs, it may only be waiting for its turn.
   */
  #isLate(debt: Debt, nowMs: number, count: number): boolean {
    const { owedSinceMs, isCancelled } = debt
    if (owedSinceMs === null) return false
    const { stallMs } = this.#options
    const patienceMs = debt.patienceMs ?? unknownPatience * stallMs
    const limitMs = isCancelled ? cancelledPatience * stallMs : patienceMs * count
    return Math.max(owedSinceMs, Math.min(this.#aliveMs, owedSinceMs + limitMs)) <= nowMs - stallMs
  }

  /** The child shows no sign of life: everything that it owes fails now, and it is notified. */
  #endAll(debts: readonly Debt[]): void {
    const { stallMs, log } = this.#options
    this.#endingSinceMs = this.nowMs()
    log(`the engine sent nothing for ${seconds(stallMs)}: what it computes is ended`)
    for (const debt of debts) {
      if (!debt.isCancelled && debt.owedSinceMs !== null) debt.giveUp(`it sent nothing for ${seconds(stallMs)}`)
    }
  }

  #kill(cause: StallCause, why: string): void {
    this.#stalls[cause]++
    this.#options.kill(`was killed: ${why}`, why)
  }

  #goOn(): void {
    if (this.#stillSinceMs === null) return
    this.#stoodStillMs += this.#options.timers.monotonicMs() - this.#stillSinceMs
    this.#stillSinceMs = null
    this.noteProgress()
  }

  get #everyMs(): number {
    const { stallMs, loadMs } = this.#options
    return Math.min(stallMs, loadMs) / 8
  }

  /**
   * A look that is long overdue: the server itself did not run, because it was stopped, or its container was paused.
   * What the child sent meanwhile has not been read yet.
   */
  #leaveOut(): void {
    const realMs = this.#options.timers.monotonicMs()
    const awayMs = realMs - (this.#dueMs ?? realMs)
    if (awayMs <= this.#everyMs) return
    this.#dueMs = realMs
    for (const [model, sinceMs] of this.#loads) this.#loads.set(model, sinceMs + awayMs)
    if (this.#stillSinceMs === null) this.#stoodStillMs += awayMs
  }

  #checkLoads(): void {
    const { timers, loadMs } = this.#options
    const beforeMs = timers.monotonicMs() - loadMs
    const late = [...this.#loads].find(([, sinceMs]) => sinceMs <= beforeMs)
    if (late !== undefined) this.#kill('loading', `it did not load ${late[0]} within ${seconds(loadMs)}`)
  }
}

const seconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`
