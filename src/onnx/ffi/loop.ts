/**
 * A graph run step by step on other threads: the values that one step puts out are the inputs of the next, as
 * they are, and never become arrays of JavaScript.
 */
import type { Pointer } from 'bun:ffi'
import type { Loop, LoopOptions, Port, Tensor, Tensors } from '../session.ts'
import { checkFeeds, checkLoop, copiesOf } from '../tensor-checks.ts'
import type { FfiDevice } from './device.ts'
import type { Runnable } from './run-call.ts'
import { HeldValue } from './held.ts'
import { copied, noValues, pointerOf, read, releaseAll, type Values } from './values.ts'

/** What a loop needs from the session that made it. */
export interface LoopSession extends Runnable {
  readonly device: FfiDevice
  readonly inputs: readonly Port[]
  readonly outputs: readonly Port[]
  /** `OrtRunOptions *` of the next run that is computed inline; null: the usual ones. */
  runOptions(): Pointer | null
  /**
   * One run on other threads.
   * @param given for each input, its value; owned by the caller @param results all 0n; filled, then owned by the caller
   * @throws as `Session.run`; then there are no results
   */
  compute(given: Values, results: Values, signal: AbortSignal | undefined): Promise<void>
  /** Has the release of the session wait for this work, which must settle soon once its runs are ended. */
  settling<T>(work: Promise<T>): Promise<T>
}

export class FfiLoop implements Loop {
  /** Held, so that it is not collected before its loop. */
  readonly #session: LoopSession
  readonly #feedNames: readonly string[]
  /** By output, the input that it becomes in the next step. */
  readonly #links: ReadonlyMap<string, string>
  readonly #onRelease: (loop: Loop) => void
  /** Until the first step has ended: what the caller gave. */
  #start: Tensors | null
  /** By input, this loop's own: constants, and states once there has been a step. */
  readonly #own = new Map<string, Pointer>()
  /** By input, constants that others may use, too. */
  readonly #shared = new Map<string, HeldValue>()
  /** Resolves with the last requested step. */
  #last: Promise<unknown> = Promise.resolve()
  #isBusy = false
  #isReleased = false

  /** @throws Error naming what the graph does not have; in ONNX Runtime's words */
  constructor(session: LoopSession, options: LoopOptions, onRelease: (loop: Loop) => void) {
    const { api, inputs, outputs } = session
    const { links, start, constants = {} } = options
    checkLoop(options, inputs, outputs)
    this.#session = session
    this.#onRelease = onRelease
    this.#feedNames = inputs.map(({ name }) => name).filter((name) => !(name in links || name in constants))
    this.#links = new Map(Object.entries(links).map(([input, output]) => [output, input]))
    this.#start = start
    for (const [name, tensor] of Object.entries(constants)) {
      if (tensor instanceof HeldValue) this.#shared.set(name, tensor.shared())
      else this.#own.set(name, copied(api, tensor))
    }
  }

  step(feeds: Tensors, signal?: AbortSignal): Promise<Record<string, Tensor>> {
    const step = this.#last.then(() => this.#step(feeds, signal))
    this.#last = step.catch(() => {})
    return this.#session.settling(step)
  }

  async states(): Promise<Record<string, Tensor>> {
    if (this.#isReleased) throw new Error('the loop was released')
    if (this.#start !== null) return copiesOf(this.#start)
    const { api } = this.#session
    const states = [...this.#links.values()].map((name) => [name, read(api, api.cpu, name, this.#own.get(name)!)])
    return Object.fromEntries(states)
  }

  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#start = null
    // A step reads what is held until it has ended; then it frees it.
    if (!this.#isBusy) this.#free()
    this.#onRelease(this)
  }

  async #step(feeds: Tensors, signal: AbortSignal | undefined): Promise<Record<string, Tensor>> {
    if (this.#isReleased) throw new Error('the loop was released')
    checkFeeds(feeds, this.#feedNames)
    const { api, inputs, outputs } = this.#session
    const own: Tensors = { ...this.#start, ...feeds }
    const given = noValues(inputs.length)
    const results = noValues(outputs.length)
    /** The values of `given` that only this step needs. */
    const brought = noValues(inputs.length)
    this.#isBusy = true
    try {
      for (const [at, { name }] of inputs.entries()) {
        const tensor = own[name]
        given[at] = BigInt(tensor === undefined ? this.#valueOf(name) : copied(api, tensor))
        if (tensor !== undefined) brought[at] = given[at]
      }
      await this.#session.compute(given, results, signal)
      return this.#take(results)
    } finally {
      this.#isBusy = false
      releaseAll(api, brought)
      releaseAll(api, results)
      if (this.#isReleased) this.#free()
    }
  }

  /** Keeps the states for the next step; what is left in `results` is the others and the last states. */
  #take(results: Values): Record<string, Tensor> {
    const { api, outputs } = this.#session
    const others = outputs.flatMap(({ name }, at) =>
      this.#links.has(name) ? [] : [[name, read(api, api.cpu, name, pointerOf(results[at]))] as const],
    )
    if (this.#isReleased) throw new Error('the loop was released')
    for (const [at, { name }] of outputs.entries()) {
      const input = this.#links.get(name)
      if (input === undefined) continue
      const last = this.#own.get(input)
      this.#own.set(input, pointerOf(results[at]))
      results[at] = last === undefined ? 0n : BigInt(last)
    }
    this.#start = null
    return Object.fromEntries(others)
  }

  #valueOf(input: string): Pointer {
    return this.#shared.get(input)?.pointer ?? this.#own.get(input)!
  }

  #free(): void {
    for (const value of this.#own.values()) this.#session.api.call.ReleaseValue(value)
    for (const held of this.#shared.values()) held.release()
    this.#own.clear()
    this.#shared.clear()
  }
}
