/**
 * Measures how fast the models of this engine work, for the server (child side): reported now and then, not for each
 * step.
 */
import type { Steps } from '../protocol.ts'
import type { Timers } from '../timers.ts'

const everyMs = 200

export class Pace {
  readonly #timers: Timers
  readonly #tell: (model: string, steps: Steps) => void
  readonly #sums = new Map<string, Steps>()

  constructor(timers: Timers, tell: (model: string, steps: Steps) => void) {
    this.#timers = timers
    this.#tell = tell
  }

  /** One step more. */
  note(model: string, { soundMs, machineMs, firstMs }: Omit<Steps, 'steps'>): void {
    if (this.#sums.size === 0) this.#timers.after(everyMs, () => this.#flush())
    const sum = this.#sums.get(model) ?? { steps: 0, soundMs: 0, machineMs: 0, firstMs: 0 }
    sum.steps++
    sum.soundMs += soundMs
    sum.machineMs += machineMs
    sum.firstMs += firstMs
    this.#sums.set(model, sum)
  }

  #flush(): void {
    for (const [model, steps] of this.#sums) this.#tell(model, steps)
    this.#sums.clear()
  }
}
