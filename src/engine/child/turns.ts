/**
 * Decides whose chunk is computed next (child side): a `Schedule` with a clock. Streams take turns chunk by chunk, so
 * that one long text, or one busy account, delays no other stream's audio.
 */
import { type Claim, Schedule } from '../../domain/schedule.ts'
import type { Timers } from '../timers.ts'

interface Waiting {
  run(): Promise<void>
}

/** The result of a step. */
export interface Turn<T> {
  value: T
  /** Machine time until the step resolved. */
  firstMs: number
  /** Resolves once all of it is computed, to the machine time it took: while n steps are computed, each has an nth. */
  machineMs: Promise<number>
}

export class Turns {
  readonly #schedule: Schedule
  readonly #timers: Pick<Timers, 'monotonicMs'>
  readonly #waiting = new Map<number, Waiting>()
  #lastId = 0

  /**
   * @param slots chunks computed at the same time: the threads that the model has
   * @throws RangeError without a slot, because then every stream would wait forever
   */
  constructor(slots: number, timers: Pick<Timers, 'monotonicMs'>) {
    this.#schedule = new Schedule({ slots })
    this.#timers = timers
  }

  /**
   * Waits for its turn, then runs.
   * @param signal gives up a turn that has not come yet; what runs is let run
   * @param restOf what of the step is still being computed when it has resolved: never rejects. The turn lasts as long.
   * @throws what `step` throws; the signal's reason
   */
  take<T>(
    claim: Claim,
    step: () => Promise<T>,
    signal?: AbortSignal,
    restOf: (value: T) => Promise<void> | undefined = () => undefined,
  ): Promise<Turn<T>> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const giveUp = () => {
        this.#waiting.delete(id)
        this.#schedule.withdraw(id)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', giveUp, { once: true })
      const run = async () => {
        signal?.removeEventListener('abort', giveUp)
        try {
          const value = await step()
          const rest = restOf(value)
          if (rest === undefined) {
            const machineMs = this.#end(id)
            return resolve({ value, firstMs: machineMs, machineMs: Promise.resolve(machineMs) })
          }
          const firstMs = this.#schedule.bring(id, this.#timers.monotonicMs())
          resolve({ value, firstMs, machineMs: rest.then(() => this.#end(id)) })
          this.#serveSoon()
        } catch (error) {
          this.#end(id)
          reject(error)
        }
      }
      this.#waiting.set(id, { run })
      this.#schedule.ask(id, claim, this.#timers.monotonicMs())
      this.#serve()
    })
  }

  #end(id: number): number {
    const { machineMs } = this.#schedule.end(id, this.#timers.monotonicMs())
    this.#serveSoon()
    return machineMs
  }

  /** On a graphics card runs are synchronous: a cancel or a new order is read only when the loop also gets a turn. */
  #serveSoon(): void {
    setImmediate(() => this.#serve())
  }

  #serve(): void {
    const nowMs = this.#timers.monotonicMs()
    for (let id = this.#schedule.start(nowMs); id !== null; id = this.#schedule.start(nowMs)) {
      const waiting = this.#waiting.get(id)!
      this.#waiting.delete(id)
      void waiting.run()
    }
  }
}
