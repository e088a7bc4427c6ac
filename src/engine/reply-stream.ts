/**
 * The engine's replies to an order, as its reader sees them (server side): frames of speech or parts of a transcript in
 * order, then the end or an error. Not a generator, because a waiting generator notices neither `return` nor an abort
 * until something arrives.
 */
type Result<T> = IteratorResult<T, undefined>

export interface ReplyStreamOptions<T> {
  /** Begins the work: called once, by the first `next`. */
  start(stream: ReplyStream<T>): void
  /** The reader has taken one. */
  onTaken(): void
  /** The reader wants no more: abort or `return`. Called at most once, and only between start and finish. */
  onCancel(): void
}

export class ReplyStream<T> implements AsyncIterableIterator<T> {
  readonly #options: ReplyStreamOptions<T>
  readonly #signal: AbortSignal
  readonly #unread: T[] = []
  #waiting: PromiseWithResolvers<Result<T>> | null = null
  #state: 'new' | 'open' | 'finished' = 'new'
  /** The error that ends the iteration; null: an ordinary end. */
  #error: { reason: unknown } | null = null
  readonly #onAbort = () => this.#cancel({ reason: this.#signal.reason })

  constructor(signal: AbortSignal, options: ReplyStreamOptions<T>) {
    this.#signal = signal
    this.#options = options
  }

  /** Replies that arrived but were not taken yet. */
  get unreadCount(): number {
    return this.#unread.length
  }

  get isFinished(): boolean {
    return this.#state === 'finished'
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Result<T>> {
    if (this.#state === 'new') this.#begin()
    const [reply] = this.#unread.splice(0, 1)
    if (reply !== undefined) {
      this.#options.onTaken()
      return Promise.resolve({ done: false, value: reply })
    }
    if (this.#state === 'finished') return this.#last()
    this.#waiting ??= Promise.withResolvers<Result<T>>()
    return this.#waiting.promise
  }

  return(): Promise<Result<T>> {
    this.#cancel(null)
    return Promise.resolve({ done: true, value: undefined })
  }

  push(reply: T): void {
    if (this.#state === 'finished') return
    const waiting = this.#waiting
    if (waiting === null) {
      this.#unread.push(reply)
      return
    }
    this.#waiting = null
    this.#options.onTaken()
    waiting.resolve({ done: false, value: reply })
  }

  /** Nothing more comes. Replies that came before are still read. */
  finish(error: { reason: unknown } | null): void {
    if (this.#state === 'finished') return
    this.#state = 'finished'
    this.#error = error
    this.#signal.removeEventListener('abort', this.#onAbort)
    const waiting = this.#waiting
    this.#waiting = null
    if (waiting !== null) this.#last().then(waiting.resolve, waiting.reject)
  }

  #begin(): void {
    if (this.#signal.aborted) return this.finish({ reason: this.#signal.reason })
    this.#state = 'open'
    this.#signal.addEventListener('abort', this.#onAbort, { once: true })
    this.#options.start(this)
  }

  #cancel(error: { reason: unknown } | null): void {
    this.#unread.length = 0
    const wasOpen = this.#state === 'open'
    this.finish(error)
    if (wasOpen) this.#options.onCancel()
  }

  /** An error is thrown once; after that the iteration is simply over. */
  #last(): Promise<Result<T>> {
    const error = this.#error
    this.#error = null
    return error === null ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(error.reason)
  }
}
