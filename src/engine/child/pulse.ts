/**
 * The engine's sign of life during long work (child side). A window of half a minute may take a big model on a slow
 * machine longer than the server waits. That graphs are being run through is the sign, and not that time passes: a
 * promise that nobody keeps must not look like work.
 */
import { runCount } from '../../onnx/runs.ts'
import type { Timers } from '../timers.ts'

const beatMs = 250

export interface PulseOptions {
  timers: Timers
  isAtWork(): boolean
  beat(): void
}

export class Pulse {
  readonly #options: PulseOptions
  #isRunning = false
  #seen = 0

  constructor(options: PulseOptions) {
    this.#options = options
  }

  /** Beats for as long as there is work. Harmless when it does already. */
  start(): void {
    if (this.#isRunning) return
    this.#isRunning = true
    this.#wait()
  }

  #wait(): void {
    const { timers, isAtWork, beat } = this.#options
    timers.after(beatMs, () => {
      this.#isRunning = isAtWork()
      if (!this.#isRunning) return
      if (runCount() !== this.#seen) beat()
      this.#seen = runCount()
      this.#wait()
    })
  }
}
