/**
 * One stream as its reader sees it (server side): frames in order, then the end or an error. Not a generator, for a
 * generator that waits for a frame hears neither `return` nor an abort until one comes.
 */
import type { SpeechFrame } from '../service/ports.ts'

type Result = IteratorResult<SpeechFrame, undefined>

export interface FrameStreamOptions {
  /** Begins the work: called once, by the first `next`. */
  start(stream: FrameStream): void
  /** The reader has taken one. */
  onTaken(): void
  /** The reader wants no more: abort or `return`. Called at most once, and only between start and finish. */
  onCancel(): void
}

export class FrameStream implements AsyncIterableIterator<SpeechFrame> {
  readonly #options: FrameStreamOptions
  readonly #signal: AbortSignal
  readonly #frames: SpeechFrame[] = []
  #waiting: PromiseWithResolvers<Result> | null = null
  #state: 'new' | 'open' | 'finished' = 'new'
  /** What the iteration ends with; null: an ordinary end. */
  #error: { reason: unknown } | null = null
  readonly #onAbort = () => this.#cancel({ reason: this.#signal.reason })

  constructor(signal: AbortSignal, options: FrameStreamOptions) {
    this.#signal = signal
    this.#options = options
  }

  get isFinished(): boolean {
    return this.#state === 'finished'
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Result> {
    if (this.#state === 'new') this.#begin()
    const frame = this.#frames.shift()
    if (frame !== undefined) {
      this.#options.onTaken()
      return Promise.resolve({ done: false, value: frame })
    }
    if (this.#state === 'finished') return this.#last()
    this.#waiting ??= Promise.withResolvers<Result>()
    return this.#waiting.promise
  }

  return(): Promise<Result> {
    this.#cancel(null)
    return Promise.resolve({ done: true, value: undefined })
  }

  push(frame: SpeechFrame): void {
    if (this.#state === 'finished') return
    const waiting = this.#waiting
    if (waiting === null) {
      this.#frames.push(frame)
      return
    }
    this.#waiting = null
    this.#options.onTaken()
    waiting.resolve({ done: false, value: frame })
  }

  /** Nothing more comes. Frames that came before are still read. */
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
    this.#frames.length = 0
    const wasOpen = this.#state === 'open'
    this.finish(error)
    if (wasOpen) this.#options.onCancel()
  }

  /** An error is thrown once; after that the iteration is simply over. */
  #last(): Promise<Result> {
    const error = this.#error
    this.#error = null
    return error === null ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(error.reason)
  }
}
