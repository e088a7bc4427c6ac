/** Where the fake engine waits in the simulation: a step is let through for each permit, unless the engine is gone. */
import { MynaError } from '../../domain/error.ts'

export class Gate {
  #permits = 0
  #isGone = false
  #arrived = Promise.withResolvers<void>()

  permit(): void {
    this.#permits++
    this.#wake()
  }

  /** The child process died: whatever is asked of it from now on fails. */
  vanish(): void {
    this.#isGone = true
    this.#wake()
  }

  /** @param step from 0 @throws MynaError `engine_unavailable` once the engine is gone */
  async pass(step: number): Promise<void> {
    while (!this.#isGone && this.#permits <= step) await this.#arrived.promise
    if (this.#isGone) throw new MynaError('engine_unavailable', 'The engine ended.')
  }

  #wake(): void {
    this.#arrived.resolve()
    this.#arrived = Promise.withResolvers()
  }
}
