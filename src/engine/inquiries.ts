/**
 * Work on a clip that has one answer (server side): detection and cloning. Unlike `Queries`, which are answered at once
 * or not at all, it may take long, can be dropped, and counts among what the child owes.
 */
import type { Debt } from './deadlines.ts'
import type { FromEngine, ToEngine } from './protocol.ts'

export type Answer = Extract<FromEngine, { type: 'detected' | 'cloned' | 'clone_refused' | 'query_failed' }>

export interface InquiriesOptions {
  /** `Deadlines.nowMs`. */
  nowMs(): number
  /** @returns false if there is no engine to receive it */
  send(message: ToEngine): boolean
  /** The error for callers whose answer will never come. */
  failure(why?: string): Error
}

interface Inquiry extends Debt {
  resolve(answer: Answer): void
  reject(reason: unknown): void
}

export class Inquiries {
  readonly #options: InquiriesOptions
  readonly #open = new Map<number, Inquiry>()
  #nextId = 1

  constructor(options: InquiriesOptions) {
    this.#options = options
  }

  /** Unanswered ones, including dropped ones. */
  get open(): readonly Debt[] {
    return [...this.#open.values()]
  }

  /**
   * @param toMessage the message, given its number
   * @returns null if there is no engine to ask
   * @throws the signal's reason once it aborts; `failure()` if the engine dies or is given up
   */
  async ask(signal: AbortSignal, toMessage: (query: number) => ToEngine): Promise<Answer | null> {
    signal.throwIfAborted()
    const { nowMs, send, failure } = this.#options
    const query = this.#nextId++
    const message = toMessage(query)
    if (!send(message)) return null
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const inquiry: Inquiry = {
      kind: 'query',
      model: message.type === 'clone' ? message.model : null,
      owedSinceMs: nowMs(),
      isCancelled: false,
      resolve,
      reject,
      giveUp: (why) => drop(failure(why)),
    }
    const drop = (reason: unknown) => {
      inquiry.isCancelled = true
      inquiry.owedSinceMs = nowMs()
      send({ type: 'drop', query })
      reject(reason)
    }
    this.#open.set(query, inquiry)
    const abort = () => drop(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    return promise.finally(() => signal.removeEventListener('abort', abort))
  }

  answer(answer: Answer): void {
    const inquiry = this.#open.get(answer.query)
    this.#open.delete(answer.query)
    inquiry?.resolve(answer)
  }

  /** At the end of the engine: nothing will be answered any more. */
  failAll(): void {
    const open = [...this.#open.values()]
    this.#open.clear()
    for (const inquiry of open) inquiry.reject(this.#options.failure())
  }
}
