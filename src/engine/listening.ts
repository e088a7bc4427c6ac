/**
 * One clip on its way to the engine, and its transcript (server side). The child requests samples, and only then is the
 * clip read, so that neither a long clip nor a fast decoder fills the memory. If the reader does not take results, it
 * gets no more, and the clip is not read either.
 */
import type { Debt } from './deadlines.ts'
import { clipBlockSamples } from './protocol.ts'
import type { ReplyStream } from './reply-stream.ts'

/** Parts that may wait unread. What the child already has of the clip can add some more. */
const unreadMax = 16

export interface ListeningOptions<Part> {
  /** As of a debt. */
  model: string | null
  clip: AsyncIterator<Int16Array>
  parts: ReplyStream<Part>
  nowMs(): number
  /** The next samples, in a buffer of their own; none with the last. */
  send(pcm: Int16Array, isLast: boolean): void
  /** Tells the child to stop. */
  sendCancel(): void
  /** The error for the reader if the engine failed. */
  failure(why?: string): Error
}

export class Listening<Part> implements Debt {
  readonly kind = 'transcription'
  readonly model: string | null
  /** The child owes results once it has everything it requested; until then it is waiting itself. */
  owedSinceMs: number | null
  isCancelled = false
  readonly #options: ListeningOptions<Part>
  #wanted = 0
  /** The rest of a block that was longer than requested. */
  #rest: Int16Array = new Int16Array(0)
  #isReading = false
  /** Nothing more of the clip will be sent: that was all, or it is no longer wanted. */
  #isOver = false
  #isWhole = false

  constructor(options: ListeningOptions<Part>) {
    this.#options = options
    this.model = options.model
    this.owedSinceMs = options.nowMs()
  }

  /** The child asks for more. */
  want(samples: number): void {
    if (this.#isOver) return
    this.#wanted += samples
    this.owedSinceMs = null
    void this.read()
  }

  heard(part: Part): void {
    if (this.isCancelled) return
    this.renew()
    this.#options.parts.push(part)
  }

  /** The child has shown that it is at work: what it owes, it owes from now on. */
  renew(): void {
    if (this.owedSinceMs !== null && !this.isCancelled) this.owedSinceMs = this.#options.nowMs()
  }

  /** Reads on, as far as is wanted. Called whenever that may have changed. */
  async read(): Promise<void> {
    if (this.#isReading) return
    this.#isReading = true
    try {
      while (!this.#isOver && this.#wanted > 0 && this.#options.parts.unreadCount < unreadMax) await this.#readBlock()
    } catch (reason) {
      if (this.#isOver) return
      this.#options.parts.finish({ reason })
      this.cancel()
    } finally {
      this.#isReading = false
    }
  }

  /** The reader is gone, but the child has not yet reported that it stopped. */
  cancel(): void {
    this.#endClip()
    this.isCancelled = true
    this.owedSinceMs = this.#options.nowMs()
    this.#options.sendCancel()
  }

  giveUp(why: string): void {
    this.#options.parts.finish({ reason: this.#options.failure(why) })
    this.cancel()
  }

  /** The child is done. An end before that of the clip is an error: a transcript must not be cut short silently. */
  finish(error: Error | null): void {
    this.#endClip()
    const reason = error ?? (this.#isWhole ? null : this.#options.failure())
    this.#options.parts.finish(reason === null ? null : { reason })
  }

  async #readBlock(): Promise<void> {
    const { clip, send, nowMs } = this.#options
    if (this.#rest.length === 0) {
      const { done, value } = await clip.next()
      if (this.#isOver) return
      if (done) {
        this.#isOver = this.#isWhole = true
        this.owedSinceMs = nowMs()
        return send(new Int16Array(0), true)
      }
      this.#rest = value
    }
    const pcm = this.#rest.slice(0, Math.min(this.#wanted, clipBlockSamples))
    this.#rest = this.#rest.subarray(pcm.length)
    this.#wanted -= pcm.length
    if (this.#wanted === 0) this.owedSinceMs = nowMs()
    if (pcm.length > 0) send(pcm, false)
  }

  /** Frees the decoder. Its later complaints do not matter. */
  #endClip(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#options.clip.return?.().catch(() => {})
  }
}
