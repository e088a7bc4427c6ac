/**
 * A clip as it comes from the server, block by block (child side): asks for more as it is used up, so that some seconds
 * of it lie here and no more, however long it is.
 */
import { fromS16 } from '../../audio/pcm.ts'
import { clipBlockSamples } from '../protocol.ts'

/** Here or on the way: enough to go on with while the next is fetched. */
export const aheadSamples = 4 * clipBlockSamples

export class Intake {
  readonly #want: (samples: number) => void
  readonly #blocks: Int16Array[] = []
  /** Asked for and not used yet. */
  #ahead = 0
  #hasEnded = false
  #wake: () => void = () => {}

  constructor(want: (samples: number) => void) {
    this.#want = want
  }

  push(pcm: Int16Array, isLast: boolean): void {
    this.#blocks.push(pcm)
    this.#hasEnded ||= isLast
    this.#wake()
  }

  /**
   * The whole clip, once: floats in [-1, 1).
   * @throws the signal's reason once it aborts, also while nothing comes
   */
  async *blocks(signal: AbortSignal): AsyncGenerator<Float32Array> {
    const wake = () => this.#wake()
    signal.addEventListener('abort', wake)
    try {
      for (;;) {
        this.#askOn()
        // Also an abort that came while the last block was being worked on: nothing else would come any more.
        signal.throwIfAborted()
        const block = this.#blocks.shift()
        if (block === undefined && this.#hasEnded) return
        if (block === undefined) await new Promise<void>((resolve) => (this.#wake = resolve))
        signal.throwIfAborted()
        if (block === undefined) continue
        this.#ahead -= block.length
        yield fromS16(block)
      }
    } finally {
      signal.removeEventListener('abort', wake)
    }
  }

  /** In requests of a block at least: a message for each few samples would cost more than they. */
  #askOn(): void {
    const samples = aheadSamples - this.#ahead
    if (this.#hasEnded || samples < clipBlockSamples) return
    this.#ahead += samples
    this.#want(samples)
  }
}
