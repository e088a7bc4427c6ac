/**
 * The running work, by operation or request id, from admission until its settlement is written: what can be cancelled,
 * what a shutdown ends, and what waits for the disk. Speech, clones and transcriptions share this.
 */
import { MynaError } from '../domain/error.ts'
import type { Meter } from './ports.ts'

export interface Running {
  readonly id: string
  /** Resolves once the settlement is written; never rejects. */
  readonly settled: Promise<unknown>
  /** Whether the database has a row of it: from then on, a row that is gone says that it was ended elsewhere. */
  readonly isRecorded: boolean
  /** It has ended, but the database could not record it yet. */
  readonly unwritten: boolean
  cancel(): void
  shutDown(): void
}

export class Live<Work extends Running> {
  readonly #live = new Map<string, Work>()
  readonly #closed = new AbortController()

  get liveCount(): number {
    return this.#live.size
  }

  get liveIds(): string[] {
    return [...this.#live.keys()]
  }

  /** Of work that the database knows. */
  get recordedIds(): string[] {
    return [...this.#live.values()].filter(({ isRecorded }) => isRecorded).map(({ id }) => id)
  }

  /** Settlements that could not be written yet: the disk is full. While there are some, nothing new is admitted. */
  get unwrittenCount(): number {
    let count = 0
    for (const work of this.#live.values()) if (work.unwritten) count++
    return count
  }

  isLive(id: string): boolean {
    return this.#live.has(id)
  }

  cancel(id: string): void {
    this.#live.get(id)?.cancel()
  }

  /** Refuses new work from now on. */
  drain(): void {
    this.#closed.abort(shuttingDown())
  }

  /** Ends what still runs, as our own fault, and waits until it is settled. */
  async shutDown(): Promise<void> {
    this.drain()
    for (const work of this.#live.values()) work.shutDown()
    await this.drained()
  }

  /** Resolves when nothing is live. */
  async drained(): Promise<void> {
    await Promise.all([...this.#live.values()].map((work) => work.settled))
  }

  /** Aborts, with the refusal as its reason, once nothing new is admitted. */
  protected get closing(): AbortSignal {
    return this.#closed.signal
  }

  /** @throws MynaError `server_shutting_down` */
  protected requireOpen(): void {
    if (this.closing.aborted) throw shuttingDown()
  }

  /** @throws MynaError `storage_full` */
  protected requireWritable(): void {
    if (this.unwrittenCount === 0) return
    throw new MynaError('storage_full', 'The server cannot write its records, so it accepts no new work.')
  }

  /** @param onSettled gives back what the work held */
  protected add(work: Work, onSettled: () => void): void {
    const { id } = work
    this.#live.set(id, work)
    void work.settled.then(() => {
      this.#live.delete(id)
      onSettled()
    })
    // The server began to stop while this was being admitted.
    if (this.closing.aborted) work.shutDown()
  }
}

const shuttingDown = (): MynaError =>
  new MynaError('server_shutting_down', 'The server is shutting down.', { retryAfterMs: 5000 })

/** Waits for a verdict on an idempotency key; a refused reuse is counted on its way to the client. */
export async function countRefusedKey<T>(meter: Meter, verdict: Promise<T>): Promise<T> {
  try {
    return await verdict
  } catch (error) {
    if (error instanceof MynaError && error.param === 'Idempotency-Key') meter.refusedKey(error.code)
    throw error
  }
}
