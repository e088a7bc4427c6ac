/**
 * Queries about a clip, being answered in the engine (child side). Each is answered exactly once, and one that was
 * dropped only when its work has really stopped: that is how the server knows that the engine is free again.
 */
import { fromS16 } from '../../audio/pcm.ts'
import { ClipRefused, type SpeechModel } from '../../models/architecture.ts'
import { deviceFailure, DeviceOutOfMemory } from '../../onnx/device.ts'
import { detectorId } from '../../domain/card.ts'
import type { SpeechDetector } from '../../models/silero/detector.ts'
import type { Answer } from '../inquiries.ts'
import type { LoadFailure } from '../protocol.ts'
import { NotLoaded, type Loaded, type Residency } from './residency.ts'

export interface AnsweringOptions {
  models: Residency<SpeechModel>
  detectors: Residency<SpeechDetector>
  /** Called for everything that went wrong with a model, before the answer. */
  onFailure(model: string, error: unknown): void
  send(answer: Answer): void
}

export class Answering {
  readonly #options: AnsweringOptions
  readonly #open = new Map<number, AbortController>()

  constructor(options: AnsweringOptions) {
    this.#options = options
  }

  get isAtWork(): boolean {
    return this.#open.size > 0
  }

  /** @param pcm mono, 16 kHz */
  detect(query: number, pcm: Int16Array): Promise<void> {
    return this.#answer(query, detectorId, async (signal) => {
      const spans = await using(this.#options.detectors, detectorId, (detector) =>
        detector.detect(fromS16(pcm), signal),
      )
      return { type: 'detected', query, spans }
    })
  }

  clone(query: number, model: string, pcm: Int16Array, sampleRateHz: number): Promise<void> {
    return this.#answer(query, model, async (signal) => {
      const state = await using(this.#options.models, model, (loaded) => {
        if (loaded.clone === undefined) throw new Error(`${model} cannot clone`)
        return loaded.clone({ pcm: fromS16(pcm), sampleRateHz }, signal)
      })
      return { type: 'cloned', query, state: state.slice() }
    })
  }

  drop(query: number): void {
    this.#open.get(query)?.abort(new Error('no client waits for it any more'))
  }

  dropAll(): void {
    for (const query of this.#open.keys()) this.drop(query)
  }

  async #answer(query: number, model: string, work: (signal: AbortSignal) => Promise<Answer>): Promise<void> {
    const abort = new AbortController()
    this.#open.set(query, abort)
    try {
      this.#options.send(await work(abort.signal))
    } catch (error) {
      if (error instanceof ClipRefused) this.#options.send({ type: 'clone_refused', query, message: error.message })
      else {
        this.#options.onFailure(model, error)
        this.#options.send({ type: 'query_failed', query, ...describeFailure(model, error) })
      }
    } finally {
      this.#open.delete(query)
    }
  }
}

async function using<M extends Loaded, T>(models: Residency<M>, id: string, use: (model: M) => Promise<T>): Promise<T> {
  const lease = await models.use(id)
  try {
    return await use(lease.model)
  } finally {
    lease.release()
  }
}

/** For the server: words for its log, and what a client may know. A missing model needs only a line. */
export function describeFailure(model: string, error: unknown): { message: string; load: LoadFailure | null } {
  if (error instanceof NotLoaded) return { message: error.message, load: error.failure }
  const isFull = deviceFailure(error) instanceof DeviceOutOfMemory
  return { message: describe(error), load: isFull ? { model, reason: 'out_of_memory' } : null }
}

/** For the server's log. Not the runtime's own formatting of an error, which quotes a screenful of minified source. */
export const describe = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error)
