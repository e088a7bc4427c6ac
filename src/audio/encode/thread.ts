/**
 * The calling side of one encoder Worker: matches answers to streams, keeps the process alive only while a call is
 * pending, and fails all waiting calls when the Worker dies.
 */
import type { EncodeAnswer, EncodeCall, Encoded } from './encode-worker.ts'

interface Waiting {
  resolve: (encoded: Encoded) => void
  reject: (error: Error) => void
}

export class EncodeThread {
  readonly #worker = new Worker(new URL('./encode-worker.ts', import.meta.url).href, { ref: false })
  /** Open streams; each has at most one call running. */
  readonly #streams = new Map<number, Waiting | null>()
  readonly #onDeath: () => void
  #calls = 0
  #death: Error | null = null

  /** @param onDeath called once, before the streams are informed */
  constructor(onDeath: () => void) {
    this.#onDeath = onDeath
    this.#worker.onmessage = ({ data }: MessageEvent<EncodeAnswer>) => this.#receive(data)
    this.#worker.onerror = (event: ErrorEvent) => this.#die(event.message)
    this.#worker.addEventListener('close', () => this.#die('it ended unexpectedly'))
  }

  get streams(): number {
    return this.#streams.size
  }

  add(stream: number): void {
    this.#streams.set(stream, null)
  }

  /** Forgets a stream; a pending call fails. Harmless if it is gone already. */
  remove(stream: number): void {
    this.#answered(stream)?.reject(new Error('The encoder was closed.'))
    this.#streams.delete(stream)
  }

  /**
   * @param transfer buffers that go over without a copy
   * @throws RangeError when the codec refuses, Error when the stream is not open or the thread died
   */
  async ask(call: EncodeCall, transfer: ArrayBuffer[] = []): Promise<Encoded> {
    if (this.#death !== null) throw this.#death
    if (this.#streams.get(call.stream) !== null) throw new Error('The encoder is closed.')
    const { promise, resolve, reject } = Promise.withResolvers<Encoded>()
    this.#streams.set(call.stream, { resolve, reject })
    this.#calls++
    if (this.#calls === 1) this.#worker.ref()
    this.#worker.postMessage(call, transfer)
    return promise
  }

  /** Lets the worker free the stream. Nothing answers. */
  drop(stream: number): void {
    if (!this.#streams.has(stream)) return
    const call: EncodeCall = { name: 'close', stream }
    this.#worker.postMessage(call)
    this.remove(stream)
  }

  close(): void {
    this.#worker.terminate()
    this.#die('the pool was closed')
  }

  #receive(answer: EncodeAnswer): void {
    const waiting = this.#answered(answer.stream)
    if ('refused' in answer) waiting?.reject(new RangeError(answer.refused))
    else waiting?.resolve(answer)
  }

  /** Ends a stream's pending call. @returns its caller; null: no caller waits (any more) */
  #answered(stream: number): Waiting | null {
    const waiting = this.#streams.get(stream) ?? null
    if (waiting === null) return null
    this.#streams.set(stream, null)
    this.#calls--
    if (this.#calls === 0) this.#worker.unref()
    return waiting
  }

  #die(cause: string): void {
    if (this.#death !== null) return
    this.#death = new Error('The encoder thread ended.', { cause })
    this.#onDeath()
    for (const waiting of this.#streams.values()) waiting?.reject(this.#death)
    this.#streams.clear()
  }
}
