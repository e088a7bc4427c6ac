/**
 * The engine's sign of life during long work (child side). A window of half a minute may take a big model on a slow
 * machine longer than the server waits. The sign is that graph runs complete, or that one is computing, which takes
 * processor time; passing time is not a sign, because a promise that never settles must not look like work.
 */
import { runCount, runsUnderWay } from '../../onnx/runs.ts'
import type { Timers } from '../timers.ts'

const beatMs = 250

/**
 * Processor time of a current run that counts as a sign of life. This timer itself takes about 0.05 ms per beat, 6 ms
 * in half a minute; a run with a hundredth of a core, as beside sixteen busy programs, 300 ms.
 */
const computedMs = 20

export interface PulseOptions {
  timers: Timers
  isAtWork(): boolean
  beat(): void
  /** Processor time of this process; absent: as the system reports. */
  cpuMs?(): number
  /** Runs that are being computed: absent, those of this process. */
  underWay?(): number
}

export class Pulse {
  readonly #options: Required<PulseOptions>
  #isRunning = false
  #seen = 0
  #seenCpuMs = 0

  constructor(options: PulseOptions) {
    this.#options = { cpuMs: processCpuMs, underWay: runsUnderWay, ...options }
  }

  /** Beats for as long as there is work. Harmless when it does already. */
  start(): void {
    if (this.#isRunning) return
    this.#isRunning = true
    this.#seenCpuMs = this.#options.cpuMs()
    this.#wait()
  }

  #wait(): void {
    const { timers, isAtWork, beat } = this.#options
    timers.after(beatMs, () => {
      this.#isRunning = isAtWork()
      if (!this.#isRunning) return
      if (this.#hasLived()) beat()
      this.#wait()
    })
  }

  /** Since the last sign. */
  #hasLived(): boolean {
    const { cpuMs, underWay } = this.#options
    const [runs, ms] = [runCount(), cpuMs()]
    if (underWay() === 0) this.#seenCpuMs = ms
    if (runs === this.#seen && ms - this.#seenCpuMs < computedMs) return false
    this.#seen = runs
    this.#seenCpuMs = ms
    return true
  }
}

function processCpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
