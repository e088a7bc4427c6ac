/**
 * The clips and streams that an engine is processing (server side), to transcribe them or to detect speech: matches
 * messages to them.
 */
import { MynaError } from '../domain/error.ts'
import type { Debt } from './deadlines.ts'
import { Listening } from './listening.ts'
import type { ToEngine } from './protocol.ts'
import { ReplyStream } from './reply-stream.ts'

export interface ListeningsOptions {
  nowMs(): number
  /** The number of a stream, unlike that of any other. */
  nextId(): number
  /** Resolves when the child can take work. @throws MynaError `engine_unavailable` */
  start(): Promise<void>
  /** @returns false if there is no engine to receive it */
  send(message: ToEngine): boolean
  /** There is something to watch over. */
  onOpen(): void
  unavailable(): MynaError
  failure(why?: string): MynaError
}

/** @template Part what is found in a stretch of sound */
export class Listenings<Part> {
  readonly #options: ListeningsOptions
  readonly #open = new Map<number, Listening<Part>>()

  constructor(options: ListeningsOptions) {
    this.#options = options
  }

  /** Those that the child works on, including cancelled ones. */
  get open(): readonly Debt[] {
    return [...this.#open.values()]
  }

  /** As in `TranscriptionEngine` and `SpeechWatcher`. @param orderOf the message that begins it */
  begin(orderOf: (stream: number) => ToEngine, pcm: AsyncIterable<Int16Array>, signal: AbortSignal): ReplyStream<Part> {
    const id = this.#options.nextId()
    return new ReplyStream(signal, {
      start: (parts) => void this.#start(id, orderOf(id), pcm[Symbol.asyncIterator](), parts),
      onTaken: () => void this.#open.get(id)?.read(),
      onCancel: () => this.#open.get(id)?.cancel(),
    })
  }

  want(id: number, samples: number): void {
    this.#open.get(id)?.want(samples)
  }

  heard(id: number, part: Part): void {
    this.#open.get(id)?.heard(part)
  }

  /** The child is done with it. @param error null: it came to its end */
  finish(id: number, error: MynaError | null): void {
    const listening = this.#open.get(id)
    this.#open.delete(id)
    listening?.finish(error)
  }

  /** At the end of the engine. */
  failAll(): void {
    for (const id of Array.from(this.#open.keys())) this.finish(id, this.#options.failure())
  }

  async #start(id: number, order: ToEngine, clip: AsyncIterator<Int16Array>, parts: ReplyStream<Part>): Promise<void> {
    const { nowMs, start, send, onOpen, unavailable, failure } = this.#options
    const listening = new Listening({
      model: order.type === 'transcribe' ? order.order.model : null,
      clip,
      parts,
      nowMs,
      send: (pcm, isLast) => void send({ type: 'audio', stream: id, pcm, isLast }),
      sendCancel: () => void send({ type: 'cancel', stream: id }),
      failure,
    })
    const error = await start().then(
      () => null,
      (reason: MynaError) => reason,
    )
    if (error !== null || parts.isFinished) return listening.finish(error)
    if (!send(order)) return listening.finish(unavailable())
    listening.renew()
    this.#open.set(id, listening)
    onOpen()
  }
}
