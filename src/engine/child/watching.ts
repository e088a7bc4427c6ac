/**
 * One audio stream being watched in the engine (child side): samples in, the probability of speech out, window by
 * window. A microphone is open for an hour and speech is in it for minutes: nothing is computed while nothing arrives,
 * and constant samples contain no speech.
 */
import type { SpeechDetector } from '../../models/silero/detector.ts'
import { watchedSamples } from '../../service/ports/transcription.ts'
import { Intake } from './intake.ts'
import type { Lease } from './residency.ts'

export interface WatchingOptions {
  acquireDetector(): Promise<Lease<SpeechDetector>>
  /** Requests this many more samples from the server. */
  want(samples: number): void
  /** In a buffer of its own. */
  send(probabilities: Float32Array): void
}

export class Watching {
  readonly #options: WatchingOptions
  readonly #abort = new AbortController()
  readonly #intake: Intake

  constructor(options: WatchingOptions) {
    this.#options = options
    this.#intake = new Intake(options.want)
  }

  push(pcm: Int16Array, isLast: boolean): void {
    this.#intake.push(pcm, isLast)
  }

  cancel(): void {
    this.#abort.abort(new Error('no client waits for it any more'))
  }

  /** Ends when the sound has, or after a cancel. @throws what the detector throws */
  async run(): Promise<void> {
    const lease = await this.#options.acquireDetector()
    try {
      await this.#watch(lease.model)
    } catch (error) {
      if (!this.#abort.signal.aborted) throw error
    } finally {
      lease.release()
    }
  }

  async #watch(detector: SpeechDetector): Promise<void> {
    const listening = detector.listen()
    const window = new Float32Array(watchedSamples)
    let filled = 0
    try {
      for await (const block of this.#intake.blocks(this.#abort.signal)) {
        const found: number[] = []
        for (let at = 0; at < block.length;) {
          const part = block.subarray(at, at + watchedSamples - filled)
          window.set(part, filled)
          filled += part.length
          at += part.length
          if (filled < watchedSamples) continue
          filled = 0
          found.push(...(isFlat(window) ? [0] : await listening.next(window)))
        }
        if (found.length > 0) this.#options.send(Float32Array.from(found))
      }
      const rest = window.subarray(0, filled)
      if (rest.length > 0) this.#options.send(Float32Array.from(await listening.next(rest)))
    } finally {
      listening.release()
    }
  }
}

const isFlat = (window: Float32Array): boolean => window.every((sample) => sample === window[0])
