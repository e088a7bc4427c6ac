/**
 * The bounded queue before the engine. A place is reserved before anything is charged, so that an overloaded server
 * refuses without a trace; running streams do not count as waiting.
 */
import { MynaError } from '../domain/error.ts'
import type { Timer } from '../domain/time.ts'

export interface Place {
  /** Resolves when it is this place's turn. @throws MynaError `engine_overloaded` after maxMs; the signal's reason */
  turn(maxMs: number, signal: AbortSignal): Promise<void>
  /** Gives the place back, at whatever stage; a second call does nothing. */
  leave(): void
}

export class Queue {
  readonly #runningMax: number
  readonly #waitingMax: number
  readonly #timer: Timer
  #running = 0
  readonly #waiting = new Set<Entry>()

  constructor(runningMax: number, waitingMax: number, timer: Timer) {
    this.#runningMax = runningMax
    this.#waitingMax = waitingMax
    this.#timer = timer
  }

  get depth(): number {
    return this.#waiting.size
  }

  get running(): number {
    return this.#running
  }

  /** @throws MynaError `engine_overloaded` when no place is free */
  reserve(): Place {
    const entry: Entry = { state: 'waiting', wake: null }
    if (this.#running < this.#runningMax) this.#run(entry)
    else if (this.#waiting.size < this.#waitingMax) this.#waiting.add(entry)
    else throw overloaded(2000 + 1000 * Math.min(8, Math.floor(this.#waiting.size / this.#runningMax)))
    return { turn: (maxMs, signal) => this.#turn(entry, maxMs, signal), leave: () => this.#leave(entry) }
  }

  #turn(entry: Entry, maxMs: number, signal: AbortSignal): Promise<void> {
    if (entry.state === 'running') return Promise.resolve()
    return new Promise((resolve, reject) => {
      const stop = (error: unknown) => {
        cancel()
        signal.removeEventListener('abort', aborted)
        this.#leave(entry)
        reject(error)
      }
      const aborted = () => stop(signal.reason)
      const cancel = this.#timer.after(maxMs, () => stop(overloaded(5000)))
      signal.addEventListener('abort', aborted)
      entry.wake = () => {
        cancel()
        signal.removeEventListener('abort', aborted)
        resolve()
      }
      if (signal.aborted) aborted()
    })
  }

  #run(entry: Entry): void {
    entry.state = 'running'
    this.#running++
    entry.wake?.()
  }

  #leave(entry: Entry): void {
    if (entry.state === 'waiting') this.#waiting.delete(entry)
    if (entry.state === 'running') this.#running--
    entry.state = 'left'
    const [next] = this.#waiting
    if (next === undefined || this.#running >= this.#runningMax) return
    this.#waiting.delete(next)
    this.#run(next)
  }
}

interface Entry {
  state: 'waiting' | 'running' | 'left'
  wake: (() => void) | null
}

const overloaded = (retryAfterMs: number): MynaError =>
  new MynaError('engine_overloaded', 'The engine is busy and its queue is full. Try again later.', {
    retryAfterMs,
  })
