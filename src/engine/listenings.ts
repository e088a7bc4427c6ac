/** The clips that an engine is listening to (server side): which message is about which. */
import { MynaError } from '../domain/error.ts'
import type { TranscriptionOrder, TranscriptPart } from '../service/ports-transcription.ts'
import type { Debt } from './deadlines.ts'
import { Listening } from './listening.ts'
import type { FromEngine, ToEngine } from './protocol.ts'
import { ReplyStream } from './reply-stream.ts'

export interface ListeningsOptions {
  nowMs(): number
  /** Of a stream, unlike that of any other. */
  nextId(): number
  /** Resolves when the child can take work. @throws MynaError `engine_unavailable` */
  start(): Promise<void>
  /** @returns false when there is no engine to hear it */
  send(message: ToEngine): boolean
  /** There is something to watch over. */
  onOpen(): void
  unavailable(): MynaError
  failure(): MynaError
}

export class Listenings {
  readonly #options: ListeningsOptions
  readonly #open = new Map<number, Listening>()

  constructor(options: ListeningsOptions) {
    this.#options = options
  }

  /** Those that the child works on, cancelled ones too. */
  get open(): readonly Debt[] {
    return [...this.#open.values()]
  }

  /** As `TranscriptionEngine` says. */
  begin(order: TranscriptionOrder, pcm: AsyncIterable<Int16Array>, signal: AbortSignal): ReplyStream<TranscriptPart> {
    const id = this.#options.nextId()
    return new ReplyStream(signal, {
      start: (parts) => void this.#start(id, order, pcm[Symbol.asyncIterator](), parts),
      onTaken: () => void this.#open.get(id)?.read(),
      onCancel: () => this.#open.get(id)?.cancel(),
    })
  }

  receive(message: Extract<FromEngine, { type: 'want' | 'heard' }>): void {
    if (message.type === 'want') return this.#open.get(message.stream)?.want(message.samples)
    return this.#open.get(message.stream)?.heard(message.part)
  }

  /** The child is done with it. @param error null: it came to its end */
  finish(id: number, error: MynaError | null): void {
    const listening = this.#open.get(id)
    this.#open.delete(id)
    listening?.finish(error)
  }

  /** For the end of the engine. */
  failAll(): void {
    for (const id of Array.from(this.#open.keys())) this.finish(id, this.#options.failure())
  }

  async #start(
    id: number,
    order: TranscriptionOrder,
    clip: AsyncIterator<Int16Array>,
    parts: ReplyStream<TranscriptPart>,
  ): Promise<void> {
    const { nowMs, start, send, onOpen, unavailable, failure } = this.#options
    const listening = new Listening({
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
    if (!send({ type: 'transcribe', stream: id, order })) return listening.finish(unavailable())
    listening.renew()
    this.#open.set(id, listening)
    onOpen()
  }
}
