/**
 * Limits how much memory the models of one engine may take together (child side). Loading a model claims its bytes
 * first: unused models are unloaded for it, the longest unused first, and only if that frees enough; otherwise the
 * claim waits for one to become idle. First come, first served: a small model does not take the room that a large one
 * waits for.
 */
import type { Timers } from '../timers.ts'

/** A model that is in memory, or on its way there. */
export interface Holding {
  readonly bytes: number
  readonly idleSinceMs: number
  /** In memory, unused, and not being unloaded for other reasons. */
  isIdle(): boolean
  /** Begins to give the memory back; `Budget.free` is called when that is done. */
  unload(): void
}

export interface BudgetOptions {
  bytes: number
  /** How long a claim waits for models in use. */
  waitMs: number
  timers: Timers
}

/** All others are in use, and stayed so. */
export class NoRoom extends Error {}

interface Claim {
  holding: Holding
  grant(): void
  refuse(error: Error): void
}

export class Budget {
  readonly #options: BudgetOptions
  readonly #held = new Set<Holding>()
  /** The held ones that are being unloaded. */
  readonly #leaving = new Set<Holding>()
  readonly #claims: Claim[] = []

  constructor(options: BudgetOptions) {
    this.#options = options
  }

  /**
   * Resolves once the bytes are this holding's, until `free`.
   * @throws NoRoom after `waitMs`; Error with both figures when the budget could never hold it
   */
  claim(holding: Holding): Promise<void> {
    const { bytes, waitMs, timers } = this.#options
    if (holding.bytes > bytes) {
      const figures = `it needs ${megabytes(holding.bytes)}, and all models together may take ${megabytes(bytes)}`
      return Promise.reject(new Error(`${figures} (MYNA_MODEL_MEMORY)`))
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const claim: Claim = { holding, grant: resolve, refuse: reject }
    const cancel = timers.after(waitMs, () => this.#refuse(claim))
    this.#claims.push(claim)
    this.#serve()
    return promise.finally(cancel)
  }

  /** Harmless when it holds nothing. */
  free(holding: Holding): void {
    this.#held.delete(holding)
    this.#leaving.delete(holding)
    this.#serve()
  }

  /** A model fell idle: it may make room for one that waits. */
  noteIdle(): void {
    this.#serve()
  }

  /** At the end of the engine: no waiting model will be loaded. */
  close(): void {
    for (const claim of this.#claims.splice(0)) claim.refuse(new Error('the engine is stopping'))
  }

  #serve(): void {
    for (let claim = this.#claims[0]; claim !== undefined && this.#makeRoom(claim.holding); claim = this.#claims[0]) {
      this.#claims.shift()
      this.#held.add(claim.holding)
      claim.grant()
    }
  }

  /** @returns whether there is room now; if not, there may be once those that leave have left */
  #makeRoom({ bytes: needed }: Holding): boolean {
    const held = [...this.#held]
    const staying = held.filter((holding) => !this.#leaving.has(holding))
    let free = this.#options.bytes - sum(held)
    if (free >= needed) return true
    free += sum([...this.#leaving])
    const idle = staying.filter((holding) => holding.isIdle())
    if (free + sum(idle) < needed) return false
    for (const holding of idle.sort((a, b) => a.idleSinceMs - b.idleSinceMs)) {
      if (free >= needed) break
      free += holding.bytes
      this.#leaving.add(holding)
      holding.unload()
    }
    return false
  }

  #refuse(claim: Claim): void {
    this.#claims.splice(this.#claims.indexOf(claim), 1)
    const inUse = megabytes(sum([...this.#held]))
    const { bytes, waitMs } = this.#options
    const words = `models in use take ${inUse} of the ${megabytes(bytes)} that models may take (MYNA_MODEL_MEMORY)`
    claim.refuse(new NoRoom(`it needs ${megabytes(claim.holding.bytes)}, and for ${waitMs} ms ${words}`))
    this.#serve()
  }
}

const sum = (holdings: readonly Holding[]): number => holdings.reduce((total, { bytes }) => total + bytes, 0)

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1e6)} MB`
