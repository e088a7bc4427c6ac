/** Where the fake engine waits in the simulation: each permit lets one step through, unless the engine is gone. */
import { MynaError } from '../../domain/error.ts'

export class Gate {
  #permits = 0
  #isGone = false
  #arrived = Promise.withResolvers<void>()

  permit(): void {
    this.#permits++
    this.#wake()
  }

  /** The child process died: every later request to it fails. */
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
