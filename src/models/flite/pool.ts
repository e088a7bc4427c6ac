/**
 * The threads that speak, and the order in which they are used. First chunks go before later ones, because a client
 * waits for a first sound; chunks made ahead come last. So that a flood of new streams cannot starve the running ones,
 * after every few first chunks the oldest needed one gets its turn.
 *
 * A thread that fails, dies or takes too long for a text is ended and replaced; the text is not tried again, because it
 * may be what broke the thread.
 */
import type { FromFlite, ToFlite } from './flite-worker.ts'
import type { FliteVoice } from './voices.ts'

export type Urgency = 'first' | 'needed' | 'ahead'

export interface Order {
  voiceId: string
  /** Instead of a voice that is known by its id. */
  clone: FliteVoice | null
  text: string
  speed: number
}

/** A chunk in the pool. */
export interface Ticket {
  /** Rejects with an Error that says what went wrong. */
  readonly pcm: Promise<Float32Array>
  /** A client waits for it now. */
  need(): void
  /** It is no longer needed: it leaves the queue; a thread at work on it is ignored, and ended if it continues. */
  drop(reason: unknown): void
}

interface Entry {
  order: Order
  urgency: Urgency
  done: PromiseWithResolvers<Float32Array>
}

type Timer = ReturnType<typeof setTimeout>

interface Thread {
  worker: Worker
  ready: PromiseWithResolvers<void>
  closed: Promise<void>
  /** Loaded and without a text. */
  idle: boolean
  entry: Entry | null
  deadline: Timer | null
}

const rank: Readonly<Record<Urgency, number>> = { first: 0, needed: 1, ahead: 2 }
const firstsInARow = 4

/** How long a thread may continue with what is no longer needed: nearly every text is ready before. */
const droppedMs = 2000

export class FlitePool {
  readonly #load: ToFlite
  readonly #deadlineMs: number
  readonly #threads = new Set<Thread>()
  readonly #queue: Entry[] = []
  #firsts = 0
  #ended: Error | null = null

  /** @param deadlineMs a text that takes longer has met a fault in Flite: the slowest takes a tenth of this */
  constructor(module: WebAssembly.Module, sampleRateHz: number, deadlineMs: number) {
    this.#load = { type: 'load', module, sampleRateHz }
    this.#deadlineMs = deadlineMs
  }

  /** Threads that are alive, loaded or loading. */
  get size(): number {
    return this.#threads.size
  }

  /** Starts a thread. @returns when it has spoken its first sentence; rejects when it cannot start */
  grow(): Promise<void> {
    const worker = new Worker(new URL('./flite-worker.ts', import.meta.url).href)
    const closed = Promise.withResolvers<void>()
    const ready = Promise.withResolvers<void>()
    // The caller must not await this.
    ready.promise.catch(() => undefined)
    const thread: Thread = { worker, ready, closed: closed.promise, idle: false, entry: null, deadline: null }
    this.#threads.add(thread)
    worker.onmessage = ({ data }: MessageEvent<FromFlite>) => this.#hear(thread, data)
    worker.onerror = (event) => this.#lose(thread, event.message)
    worker.addEventListener('close', () => {
      closed.resolve()
      this.#lose(thread, 'its thread ended')
    })
    this.#limit(thread, this.#deadlineMs)
    worker.postMessage(this.#load)
    return ready.promise
  }

  submit(order: Order, urgency: Urgency): Ticket {
    const entry: Entry = { order, urgency, done: Promise.withResolvers<Float32Array>() }
    // A chunk made ahead may fail before it is requested.
    entry.done.promise.catch(() => undefined)
    if (this.#ended !== null) entry.done.reject(this.#ended)
    else this.#queue.push(entry)
    if (this.#ended === null && this.#threads.size === 0) void this.grow()
    this.#serve()
    return {
      pcm: entry.done.promise,
      need: () => {
        if (entry.urgency === 'ahead') entry.urgency = 'needed'
      },
      drop: (reason) => {
        entry.done.reject(reason)
        const at = this.#queue.indexOf(entry)
        if (at !== -1) this.#queue.splice(at, 1)
        for (const thread of this.#threads) if (thread.entry === entry) this.#limit(thread, droppedMs)
      },
    }
  }

  /** Ends all threads, also in the middle of a text. @returns when they are gone */
  async end(): Promise<void> {
    this.#ended ??= new Error('flite is unloaded')
    for (const entry of this.#queue.splice(0)) entry.done.reject(this.#ended)
    const threads = [...this.#threads]
    for (const thread of threads) this.#stop(thread, this.#ended)
    await Promise.all(threads.map((thread) => thread.closed))
  }

  #serve(): void {
    for (const thread of this.#threads) {
      if (!thread.idle) continue
      const entry = this.#next()
      if (entry === null) return
      thread.idle = false
      thread.entry = entry
      this.#limit(thread, this.#deadlineMs)
      thread.worker.postMessage({ type: 'speak', ...entry.order } satisfies ToFlite)
    }
  }

  #limit(thread: Thread, ms: number): void {
    if (thread.deadline !== null) clearTimeout(thread.deadline)
    thread.deadline = setTimeout(() => this.#lose(thread, `flite took more than ${ms} ms`), ms)
  }

  #next(): Entry | null {
    const needed = this.#queue.filter((entry) => entry.urgency !== 'ahead')
    const turn = this.#firsts >= firstsInARow ? needed[0] : undefined
    const entry = turn ?? this.#queue.toSorted((a, b) => rank[a.urgency] - rank[b.urgency])[0]
    if (entry === undefined) return null
    this.#firsts = entry.urgency === 'first' && turn === undefined ? this.#firsts + 1 : 0
    this.#queue.splice(this.#queue.indexOf(entry), 1)
    return entry
  }

  #hear(thread: Thread, message: FromFlite): void {
    if (!this.#threads.has(thread)) return
    if (message.type === 'failed') return this.#lose(thread, message.message)
    if (message.type === 'ready') thread.ready.resolve()
    if (message.type === 'spoken') thread.entry?.done.resolve(message.pcm)
    this.#free(thread)
    thread.idle = true
    this.#serve()
  }

  /**
   * The thread cannot be used any more: its text fails, and another takes its place. One that could not even load is
   * not replaced, because that would never end: waiting callers get the error, and the next text tries again.
   */
  #lose(thread: Thread, why: string): void {
    if (!this.#threads.has(thread)) return
    const loaded = thread.idle || thread.entry !== null
    const error = new Error(`the built-in voice failed: ${why}`)
    this.#stop(thread, error)
    if (loaded) void this.grow()
    else if (this.#threads.size === 0) for (const entry of this.#queue.splice(0)) entry.done.reject(error)
  }

  #stop(thread: Thread, error: Error): void {
    this.#threads.delete(thread)
    thread.entry?.done.reject(error)
    thread.ready.reject(error)
    this.#free(thread)
    thread.worker.terminate()
  }

  #free(thread: Thread): void {
    if (thread.deadline !== null) clearTimeout(thread.deadline)
    thread.deadline = null
    thread.entry = null
  }
}
