/**
 * How fast each model speaks on this machine, measured while it does: a running estimate over the last seconds of work,
 * which is kept across restarts. What other programs take of the machine is in it.
 */

export interface Speed {
  /** Sound that the whole machine makes in a time: 20 is twenty times real time. */
  speed: number
  /** Sound of one step. */
  stepMs: number
}

/** As reported by the engine. */
export interface StepSums {
  steps: number
  soundMs: number
  machineMs: number
}

/** So much work weighs as much as all that came before it. */
const memoryMs = 5000
/** Less work than this says nothing. */
const leastMs = 20
/** Before anything is known: the first steps of a model tell more. */
export const unknownSpeed: Speed = { speed: 4, stepMs: 2000 }

export class Speeds {
  readonly #sums = new Map<string, StepSums>()

  /** @param kept what `kept` returned in an earlier run; anything else is ignored */
  constructor(kept: unknown = {}) {
    if (typeof kept !== 'object' || kept === null) return
    for (const [model, sums] of Object.entries(kept)) if (isSums(sums)) this.#sums.set(model, sums)
  }

  /** What the steps of a model brought, and took of the machine's time. */
  note(model: string, { steps, soundMs, machineMs }: StepSums): void {
    const last = this.#sums.get(model) ?? { steps: 0, soundMs: 0, machineMs: 0 }
    const decay = Math.exp(-machineMs / memoryMs)
    this.#sums.set(model, {
      steps: last.steps * decay + steps,
      soundMs: last.soundMs * decay + soundMs,
      machineMs: last.machineMs * decay + machineMs,
    })
  }

  of(model: string): Speed {
    const sums = this.#sums.get(model)
    if (sums === undefined || sums.machineMs < leastMs) return unknownSpeed
    return { speed: sums.soundMs / sums.machineMs, stepMs: sums.soundMs / sums.steps }
  }

  /** Those that are known. */
  get all(): ReadonlyMap<string, Speed> {
    return new Map([...this.#sums.keys()].map((model) => [model, this.of(model)]))
  }

  /** To be kept for the next run: JSON. */
  get kept(): Readonly<Record<string, StepSums>> {
    return Object.fromEntries(this.#sums)
  }
}

function isSums(value: unknown): value is StepSums {
  if (typeof value !== 'object' || value === null) return false
  const { steps, soundMs, machineMs } = value as Partial<Record<keyof StepSums, unknown>>
  return [steps, soundMs, machineMs].every((number) => typeof number === 'number' && number > 0 && number < 1e12)
}
