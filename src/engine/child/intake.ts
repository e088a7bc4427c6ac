/**
 * A clip as it arrives from the server, block by block (child side): requests more as it is used up, so that only some
 * seconds of it are here, however long it is.
 */
import { fromS16 } from '../../audio/pcm.ts'
import { clipBlockSamples } from '../protocol.ts'

/** Here or requested: enough to continue with while the next is fetched. */
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

  /** In requests of at least a block: a message per few samples would cost more than they do. */
  #askOn(): void {
    const samples = aheadSamples - this.#ahead
    if (this.#hasEnded || samples < clipBlockSamples) return
    this.#ahead += samples
    this.#want(samples)
  }
}
