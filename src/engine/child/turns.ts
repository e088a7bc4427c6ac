/**
 * Whose chunk is computed next (child side). Streams take turns chunk by chunk, and a stream that has not been heard
 * yet goes ahead of all that have: one long text delays nobody's first audio.
 */
interface Turn {
  run(): Promise<void>
}

export class Turns {
  readonly #slots: number
  #running = 0
  readonly #first: Turn[] = []
  readonly #later: Turn[] = []

  /**
   * @param slots chunks computed at the same time: the threads that the model has
   * @throws RangeError when there would be none, for then every stream would wait for ever
   */
  constructor(slots: number) {
    if (!(slots >= 1)) throw new RangeError(`${slots} slots: at least one chunk must be computed at a time`)
    this.#slots = slots
  }

  /**
   * Waits for its turn, then runs.
   * @param signal gives up a turn that has not come yet; what runs is let run
   * @throws what `step` throws; the signal's reason
   */
  take<T>(isFirst: boolean, step: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const waiting = isFirst ? this.#first : this.#later
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        waiting.splice(waiting.indexOf(turn), 1)
        reject(signal?.reason)
      }
      const turn = {
        run: () => {
          signal?.removeEventListener('abort', giveUp)
          return step().then(resolve, reject)
        },
      }
      if (signal?.aborted) return reject(signal.reason)
      signal?.addEventListener('abort', giveUp, { once: true })
      waiting.push(turn)
      this.#next()
    })
  }

  #next(): void {
    while (this.#running < this.#slots) {
      const turn = this.#first.shift() ?? this.#later.shift()
      if (turn === undefined) return
      this.#running++
      void turn.run().finally(() => {
        // Native inference is synchronous: a cancel or a new order is read only when the loop gets a turn too.
        setImmediate(() => {
          this.#running--
          this.#next()
        })
      })
    }
  }
}
