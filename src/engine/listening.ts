/**
 * One clip on its way to the engine, and what is heard in it (server side). The child asks for samples, and only then
 * is the clip read, so that neither a long clip nor a fast decoder fills anybody's memory. A reader who does not take
 * what was heard is given no more: then the clip is not read either.
 */
import type { Debt } from './deadlines.ts'
import { clipBlockSamples } from './protocol.ts'
import type { ReplyStream } from './reply-stream.ts'

/** Parts that may lie unread. What the child has of the clip already can add some more. */
const unreadMax = 16

export interface ListeningOptions<Part> {
  clip: AsyncIterator<Int16Array>
  parts: ReplyStream<Part>
  nowMs(): number
  /** The next samples, in a buffer of their own; none with the last. */
  send(pcm: Int16Array, isLast: boolean): void
  /** Tells the child to stop. */
  sendCancel(): void
  /** What the reader is told when the engine failed. */
  failure(): Error
}

export class Listening<Part> implements Debt {
  readonly kind = 'transcription'
  /** The child owes once it has all that it asked for; until then it is waiting itself. */
  owedSinceMs: number | null
  isCancelled = false
  readonly #options: ListeningOptions<Part>
  #wanted = 0
  /** Of a block that was longer than what is wanted. */
  #rest: Int16Array = new Int16Array(0)
  #isReading = false
  /** Nothing more of the clip will be sent: that was all, or nobody wants it. */
  #isOver = false
  #isWhole = false

  constructor(options: ListeningOptions<Part>) {
    this.#options = options
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

  /** Nobody reads any more: the child has still to say that it stopped. */
  cancel(): void {
    this.#endClip()
    this.isCancelled = true
    this.owedSinceMs = this.#options.nowMs()
    this.#options.sendCancel()
  }

  giveUp(): void {
    this.#options.parts.finish({ reason: this.#options.failure() })
    this.cancel()
  }

  /** The child is done. An end before that of the clip is none: a transcript must not be cut short in silence. */
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

  /** Frees the decoder. What it then has to complain of concerns nobody. */
  #endClip(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#options.clip.return?.().catch(() => {})
  }
}
