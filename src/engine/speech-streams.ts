/**
 * The speech that an engine is working on (server side): frames come back against credits. When the engine dies, a
 * stream of a model that gives the same sound each time continues in the next engine, from the last sample that came:
 * its reader notices no more than a pause.
 */
import { MynaError } from '../domain/error.ts'
import type { SpeechFrame, SpeechOrder } from '../service/ports.ts'
import type { Debt } from './deadlines.ts'
import { creditFrames, type FromEngine, grantFrames, type ToEngine } from './protocol.ts'
import { ReplyStream } from './reply-stream.ts'

export interface SpeechStreamsOptions {
  nowMs(): number
  /** The number of a stream, unlike that of any other. */
  nextId(): number
  /** Resolves when the child can take work. @throws MynaError `engine_unavailable` */
  start(): Promise<void>
  /** @returns false if there is no engine to receive it */
  send(message: ToEngine): boolean
  /** There is something to watch over. */
  onOpen(): void
  /** As of a debt. */
  patienceMs(order: SpeechOrder): number | null
  /** Whether its model gives the same sound each time. */
  repeats(order: SpeechOrder): boolean
  unavailable(): MynaError
  failure(why?: string): MynaError
  log(line: string): void
}

interface Open extends Debt {
  /** Its number in the child; null: no child works on it at the moment. */
  id: number | null
  order: SpeechOrder
  frames: ReplyStream<SpeechFrame>
  /** Granted and not yet come. */
  credits: number
  /** Frames that the reader took since the last grant: a message for each would cost more than the frame. */
  taken: number
  /** That came. */
  samples: number
  /** It has outlived an engine: not a second one, which it may have killed itself. */
  isResumed: boolean
}

export class SpeechStreams {
  readonly #options: SpeechStreamsOptions
  readonly #open = new Map<number, Open>()

  constructor(options: SpeechStreamsOptions) {
    this.#options = options
  }

  /** Those that the child works on, including cancelled ones. */
  get open(): readonly Debt[] {
    return [...this.#open.values()]
  }

  /** As in `SpeechEngine`. */
  begin(order: SpeechOrder, signal: AbortSignal): ReplyStream<SpeechFrame> {
    const frames: ReplyStream<SpeechFrame> = new ReplyStream(signal, {
      start: () => void this.#start(open),
      onTaken: () => this.#grant(open),
      onCancel: () => this.#cancel(open),
    })
    const open: Open = {
      kind: 'stream',
      model: order.model,
      id: null,
      order,
      frames,
      credits: creditFrames,
      taken: 0,
      samples: 0,
      isResumed: false,
      isCancelled: false,
      owedSinceMs: null,
      patienceMs: this.#options.patienceMs(order),
      giveUp: (why) => {
        frames.finish({ reason: this.#options.failure(why) })
        this.#cancel(open)
      },
    }
    return frames
  }

  receive({ stream, pcm, coveredChars, words, engineMs, firstMs }: FromEngine & { type: 'frame' }): void {
    const open = this.#open.get(stream)
    if (open === undefined || open.isCancelled) return
    open.credits--
    open.samples += pcm.length
    open.owedSinceMs = open.credits > 0 ? this.#options.nowMs() : null
    open.frames.push({
      pcm,
      coveredChars,
      ...(words && { words }),
      engineMs,
      ...(firstMs !== undefined && { firstMs }),
    })
  }

  /** The child is done with it. @param error null: it came to its end */
  finish(id: number, error: MynaError | null): void {
    const open = this.#open.get(id)
    this.#open.delete(id)
    open?.frames.finish(error === null ? null : { reason: error })
  }

  /** At the end of the engine. @param mayResume whether another engine follows @param why as of `failure` */
  endAll(mayResume: boolean, why?: string): void {
    const { repeats, failure, log } = this.#options
    for (const [id, open] of Array.from(this.#open)) {
      if (!mayResume || open.isCancelled || open.isResumed || !repeats(open.order)) {
        this.finish(id, failure(why))
        continue
      }
      this.#open.delete(id)
      open.id = null
      open.isResumed = true
      log(`a stream continues in the next engine, after ${open.samples} samples`)
      void this.#resume(open)
    }
  }

  /** Once the supervisor has noted the end, and begun the next start. */
  async #resume(open: Open): Promise<void> {
    await Promise.resolve()
    await this.#start(open)
  }

  async #start(open: Open): Promise<void> {
    const { start, send, nextId, onOpen, nowMs, unavailable } = this.#options
    const { frames, order } = open
    try {
      await start()
    } catch (reason) {
      return frames.finish({ reason })
    }
    if (frames.isFinished) return
    const id = nextId()
    const resumed = open.samples > 0 ? { skipSamples: open.samples } : {}
    if (!send({ type: 'speak', stream: id, order, credits: open.credits, ...resumed })) {
      return frames.finish({ reason: unavailable() })
    }
    open.id = id
    open.owedSinceMs = open.credits > 0 ? nowMs() : null
    this.#open.set(id, open)
    onOpen()
  }

  #grant(open: Open): void {
    if (open.isCancelled || ++open.taken < grantFrames) return
    const frames = open.taken
    open.taken = 0
    open.credits += frames
    if (open.id === null) return
    open.owedSinceMs ??= this.#options.nowMs()
    this.#options.send({ type: 'credit', stream: open.id, frames })
  }

  #cancel(open: Open): void {
    open.isCancelled = true
    if (open.id === null || !this.#open.has(open.id)) return
    open.owedSinceMs = this.#options.nowMs()
    this.#options.send({ type: 'cancel', stream: open.id })
  }
}
