/**
 * Keeps one engine alive (server side): starts it on demand, waits until it says that it is ready, starts it again
 * after a crash with growing pauses, gives up on one that cannot start, and ends it in order.
 */
import { Child, describeEnding } from './child.ts'
import type { FromEngine, ToEngine } from './protocol.ts'
import type { EngineState } from '../service/ports/engines.ts'
import { atMost, wait, type Timers } from './timers.ts'

const pauseMsMin = 250
const pauseMsMax = 30_000
/** An engine that ran for this long restarts without a growing pause. */
const healthyMs = 60_000
/** Starts that may fail in a row before the engine counts as failed: 250 + 500 + 1,000 + 2,000 ms of pauses. */
const failedStartsMax = 5
/** A pause longer than this is not waited for: the caller is better refused. */
const patienceMs = 2000
/** Time from the stop message to SIGKILL. */
const stopMs = 5000

/** Starts a child. */
export interface Launch {
  command: readonly string[]
  env: Readonly<Record<string, string>>
}

export interface SupervisorOptions extends Launch {
  /**
   * Started instead of a child that could not start, such as one that needs no graphics card; once that has ended, the
   * first is tried again. Absent: nothing.
   * @param reason in the child's own last words
   */
  fallBack?(reason: string): Launch
  /** Longest silence of a starting engine; anything that it prints renews it. */
  readyMs: number
  timers: Timers
  /** Lines that the engine printed, and what became of it. */
  log(line: string): void
  /** All but `ready`. */
  onMessage(message: FromEngine): void
  /** The engine is gone, whatever the reason. */
  onEnd(): void
}

export interface SupervisorStatus {
  state: EngineState
  pid: number | null
  device: string
  deviceReason: string | null
  /** Crashes that were followed by a new start or will be. */
  restarts: number
  lastError: string | null
}

/** The engine cannot take work now; the message is for logs. */
export class EngineDown extends Error {
  constructor(
    reason: string,
    /** Time until a new start may be tried; null: never again. */
    readonly waitMs: number | null,
  ) {
    super(reason)
    this.name = 'EngineDown'
  }
}

type Ready = FromEngine & { type: 'ready' }

export class Supervisor {
  readonly #options: SupervisorOptions
  #state: EngineState = 'stopped'
  #child: Child | null = null
  /** What the last ready child reported about itself. */
  #ready: Ready | null = null
  #readyAtMs = 0
  /** The current start, shared by all who wait for it. */
  #starting: Promise<void> | null = null
  /** The current orderly shutdown. */
  #stopping: Promise<void> | null = null
  #isClosed = false
  #killedFor: string | null = null
  #failedStarts = 0
  #crashes = 0
  #restarts = 0
  #nextStartMs = 0
  #lastError: string | null = null
  /** Started instead, once. */
  #otherLaunch: Launch | null = null

  constructor(options: SupervisorOptions) {
    this.#options = options
  }

  /**
   * Resolves once the engine can take work; starts it where needed.
   * @param first what it does first: a child that starts now finds it there, and need not wait for the server's turn
   * @throws EngineDown
   */
  async ready(first: ToEngine | null = null): Promise<void> {
    if (this.#isClosed) throw new EngineDown('the engine was stopped', null)
    if (this.#isUsable) {
      if (first !== null) this.send(first)
      return
    }
    const pauseMs = this.#nextStartMs - this.#options.timers.monotonicMs()
    if (pauseMs > (this.#state === 'failed' ? 0 : patienceMs)) {
      throw new EngineDown(this.#lastError ?? 'the engine is being restarted', pauseMs)
    }
    return this.#begin(first)
  }

  /** @returns false if there is no ready engine to receive it */
  send(message: ToEngine): boolean {
    return this.#isUsable && this.#child !== null && this.#child.send(message)
  }

  /** Ends a stuck engine; it is started again. @param reason continues «the engine ...» */
  kill(reason: string): void {
    if (this.#child === null) return
    this.#killedFor ??= reason
    this.#child.kill()
  }

  /** Ends an unused engine in order; the next `ready` starts it again. Kills it if it does not obey. */
  stop(): Promise<void> {
    const child = this.#child
    if (child === null) return this.#stopping ?? Promise.resolve()
    this.#stopping ??= this.#end(child).finally(() => {
      this.#stopping = null
    })
    return this.#stopping
  }

  /** The last stop: no start follows. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.stop()
  }

  status(): SupervisorStatus {
    return {
      state: this.#state,
      pid: this.#child?.pid ?? null,
      device: this.#ready?.device ?? 'unknown',
      deviceReason: this.#ready?.deviceReason ?? null,
      restarts: this.#restarts,
      lastError: this.#lastError,
    }
  }

  get #isUsable(): boolean {
    return this.#state === 'ready' && this.#stopping === null && this.#killedFor === null
  }

  #begin(first: ToEngine | null): Promise<void> {
    if (this.#starting !== null) return this.#starting.then(() => void (first !== null && this.send(first)))
    this.#starting = this.#startEither(first).finally(() => {
      this.#starting = null
    })
    return this.#starting
  }

  async #startEither(first: ToEngine | null): Promise<void> {
    try {
      await this.#start(first)
    } catch (error) {
      if (this.#otherLaunch === null || this.#isClosed) throw error
      await this.#start(first)
    }
  }

  async #start(first: ToEngine | null): Promise<void> {
    const { timers } = this.#options
    await this.#stopping
    await this.#lastEnd()
    await wait(timers, this.#nextStartMs - timers.monotonicMs())
    if (this.#isClosed) throw new EngineDown('the engine was stopped', null)
    this.#state = 'starting'
    const readiness = Promise.withResolvers<void>()
    const silence = this.#watchSilence()
    try {
      const launch = this.#otherLaunch ?? this.#options
      const child = new Child({
        timers,
        command: launch.command,
        env: launch.env,
        onLine: (line) => {
          silence.renew()
          this.#options.log(line)
        },
        onMessage: (message) => {
          if (message.type !== 'ready') return this.#options.onMessage(message)
          this.#becomeReady(message)
          readiness.resolve()
        },
      })
      this.#child = child
      if (first !== null) child.send(first)
      void child.ended.then((ending) => {
        this.#afterEnd(describeEnding(ending, this.#killedFor), ending.tail)
        readiness.reject(new EngineDown(this.#lastError ?? 'the engine was stopped', pauseMsMin))
      })
    } catch (error) {
      const reason = `the engine could not be started: ${error instanceof Error ? error.message : String(error)}`
      this.#afterEnd(reason, '')
      readiness.reject(new EngineDown(reason, pauseMsMin))
    }
    return readiness.promise.finally(silence.end)
  }

  /** A killed process that hangs in a driver does not end: it is not waited for forever. */
  async #lastEnd(): Promise<void> {
    const last = this.#child
    if (last === null) return
    await atMost(this.#options.timers, stopMs, last.ended)
    if (this.#child === last) throw new EngineDown('the last engine was killed and has not ended yet', stopMs)
  }

  #becomeReady(message: Ready): void {
    this.#ready = message
    this.#state = 'ready'
    this.#readyAtMs = this.#options.timers.monotonicMs()
    this.#failedStarts = 0
  }

  #watchSilence(): { renew: () => void; end: () => void } {
    const { timers, readyMs } = this.#options
    const expire = () => this.kill(`was killed: it sent nothing for ${readyMs} ms while it was starting`)
    let cancel = timers.after(readyMs, expire)
    const renew = () => {
      cancel()
      if (this.#state === 'starting') cancel = timers.after(readyMs, expire)
    }
    return { renew, end: () => cancel() }
  }

  /** The one place that decides what follows an end. */
  #afterEnd(reason: string, tail: string): void {
    const { timers, log, onEnd } = this.#options
    const wasReady = this.#state === 'ready'
    const isOther = this.#otherLaunch !== null
    this.#otherLaunch = null
    this.#child = null
    this.#state = 'stopped'
    this.#killedFor = null
    onEnd()
    if (this.#stopping !== null || this.#isClosed) return
    if (!wasReady && !isOther && this.#options.fallBack !== undefined) {
      const words = tail.slice(tail.lastIndexOf('\n') + 1) || reason
      this.#options.log(`${reason}: ${words}`)
      this.#otherLaunch = this.#options.fallBack(words)
      this.#state = 'starting'
      return
    }
    const nowMs = timers.monotonicMs()
    if (wasReady && nowMs - this.#readyAtMs >= healthyMs) this.#crashes = 0
    if (!wasReady) this.#failedStarts++
    const pauseMs = Math.min(pauseMsMax, pauseMsMin * 2 ** this.#crashes++)
    this.#nextStartMs = nowMs + pauseMs
    this.#lastError = tail === '' ? reason : `${reason}: ${tail}`
    log(reason)
    if (this.#failedStarts >= failedStartsMax) {
      this.#state = 'failed'
      return
    }
    this.#restarts++
    this.#state = 'starting'
    void this.#restart(this.#starting)
  }

  /** @param failing the start that has just failed: only once it is settled can another begin */
  async #restart(failing: Promise<void> | null): Promise<void> {
    try {
      await failing
    } catch {
      // Called by #afterEnd, as the end of the next one would be.
    }
    await this.#begin(null).catch(() => {})
  }

  async #end(child: Child): Promise<void> {
    if (this.#state === 'ready') child.send({ type: 'stop' })
    else child.kill()
    const cancel = this.#options.timers.after(stopMs, () => child.kill())
    await child.ended
    cancel()
  }
}
