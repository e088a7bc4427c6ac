/** A client of the simulation, as if behind a socket: its requests, the answers, and the received bytes. */
import { MynaError } from '../../domain/error.ts'
import type { Speaking } from '../../service/speaking.ts'
import type { Ask, Followed } from './model.ts'

/** A promise whose state can be read. */
export class Watched<T> {
  state: 'pending' | 'value' | 'error' = 'pending'
  value: T | undefined
  error: unknown

  constructor(promise: Promise<T>) {
    promise.then(
      (value) => {
        this.value = value
        this.state = 'value'
      },
      (error: unknown) => {
        this.error = error
        this.state = 'error'
      },
    )
  }

  /** `error.code`; otherwise `pending`, `value` or `crash`. */
  get code(): string {
    if (this.state !== 'error') return this.state
    return this.error instanceof MynaError ? this.error.code : `crash: ${this.error}`
  }

  get refusal(): MynaError | null {
    return this.error instanceof MynaError ? this.error : null
  }
}

/** A client waits no longer than this for an ending that cannot be written. */
const longestWaitMs = 10_000

export class Client {
  readonly ask: Ask
  readonly #gone: AbortController
  readonly begun: Watched<Speaking>
  operation: Followed | null = null
  #reading: Watched<Uint8Array | null> | null = null
  #readMs = 0
  #pcmBytes = 0
  #chunks = 0
  /** It has received everything: the end, or an error, or its server died. */
  done = false

  constructor(ask: Ask, begun: Promise<Speaking>, gone: AbortController) {
    this.ask = ask
    this.begun = new Watched(begun)
    this.#gone = gone
  }

  get mayRead(): boolean {
    return !this.done && this.begun.state === 'value' && this.#reading === null && !this.#gone.signal.aborted
  }

  get isPresent(): boolean {
    return !this.done && this.operation !== null && !this.#gone.signal.aborted
  }

  /** @param nowMs monotonic */
  read(nowMs: number): void {
    const speaking = this.begun.value
    if (speaking === undefined) throw new Error('nothing was begun')
    this.#readMs = nowMs
    this.#reading = new Watched(speaking.next())
  }

  /** Closes the socket: before the answer this is the request's signal, afterwards the end of the stream. */
  leave(): void {
    this.#gone.abort()
    this.begun.value?.clientGone()
  }

  /**
   * Takes what arrived, and compares it with what was due.
   * @param mayLag whether an ending may still be unwritten; the client then receives it later
   * @param nowMs monotonic
   */
  faults(mayLag: boolean, nowMs: number): string[] {
    if (this.operation === null || this.done) return []
    const { settledMs, endedMs } = this.operation
    const sinceMs = Math.max(endedMs ?? nowMs, this.#readMs)
    const mayWait = settledMs === null && mayLag && nowMs - sinceMs < longestWaitMs
    const faults = [...this.#answerFaults(this.operation, mayWait), ...this.#readingFaults(this.operation, mayWait)]
    return faults.map((fault) => `client ${this.ask.client} of ${this.operation?.id}: ${fault}`)
  }

  #answerFaults(operation: Followed, mayWait: boolean): string[] {
    const { begun } = this
    const { produced, ending, id } = operation
    if (produced > 0) {
      if (begun.state !== 'value') return [`audio was made, and the answer is ${begun.code}`]
      return begun.value?.operation.id === id ? [] : ['it was given the id of another operation']
    }
    if (ending === null)
      return begun.state === 'pending' ? [] : [`nothing was made yet, and the answer is ${begun.code}`]
    if (begun.state === 'pending') return mayWait ? [] : ['it ended, and was not answered']
    this.done = true
    return this.#refusalFaults(begun, operation)
  }

  #readingFaults(operation: Followed, mayWait: boolean): string[] {
    const reading = this.#reading
    if (reading === null) return []
    const { ending, produced, calls } = operation
    if (reading.state === 'pending') {
      if (ending !== null) return mayWait ? [] : ['it ended, and the reader still waits']
      return calls > produced ? [] : ['a chunk was made, and the reader still waits']
    }
    this.#reading = null
    if (reading.state === 'error') {
      this.done = true
      return ending === null ? [`the reader got ${reading.code}`] : this.#refusalFaults(reading, operation)
    }
    if (reading.value == null) return this.#wholeFaults(operation)
    return this.#chunkFaults(reading.value, operation)
  }

  #chunkFaults(bytes: Uint8Array, { ask, sound, calls, produced }: Followed): string[] {
    this.#chunks++
    const header = ask.body.format === 'wav' && this.#chunks === 1 ? 44 : 0
    this.#pcmBytes += bytes.length - header
    const due = 2 * sound.samples + header
    if (calls > produced) return [`it got chunk ${calls} of ${produced}`]
    return bytes.length === due ? [] : [`chunk ${calls} has ${bytes.length} bytes, not ${due}`]
  }

  /**
   * A client that has read to the end can rely on the database: the operation is settled, with the bytes that arrived.
   */
  #wholeFaults({ ending, settledMs }: Followed): string[] {
    this.done = true
    if (ending?.outcome !== 'completed') return [`it got the end of what ended ${ending?.outcome}`]
    if (settledMs === null) return ['it got the end before it was settled']
    const { completionBytes } = ending
    return completionBytes === this.#pcmBytes ? [] : [`it got ${this.#pcmBytes} PCM bytes, not ${completionBytes}`]
  }

  #refusalFaults(answer: Watched<unknown>, operation: Followed): string[] {
    const { ending, clientLeft, id, wasLate } = operation
    if (answer.state !== 'error') return [`the answer is ${answer.state}`]
    if (answer.refusal?.operationId !== id) return [`the refusal ${answer.code} does not name the operation`]
    if (ending === null || clientLeft) return []
    if (ending.outcome === 'completed' && !wasLate) return [`it was told ${answer.code} of what completed`]
    const due = ending.outcome === 'cancelled' ? 'operation_cancelled' : clientWord(ending.code)
    return answer.code === due ? [] : [`it was told ${answer.code}, not ${due}`]
  }
}

/** A client that counts as disconnected and still asks again gets a general error. */
const clientWord = (code: string | null): string =>
  code === 'client_disconnected' || code === null ? 'generation_failed' : code
