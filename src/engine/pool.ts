/**
 * The engines of one task as the service sees them (server side): one for each device, and what is ordered goes to the
 * one that has the least to do. Each is a process of its own, so that a crash costs what that one was doing.
 */
import type { SpeechEngine, SpeechFrame, SpeechOrder } from '../service/ports.ts'
import type { EngineState, EngineStatus } from '../service/ports/engines.ts'
import type { SpeechSpan, VoiceEngine } from '../service/ports.ts'
import type {
  SpeechWatcher,
  TranscriptionEngine,
  TranscriptionOrder,
  TranscriptPart,
} from '../service/ports/transcription.ts'
import type { EngineClient } from './client.ts'

/** One that is starting comes after all that could begin, one that has given up comes last. */
const stateRank: Readonly<Record<EngineState, number>> = { ready: 0, stopped: 0, starting: 1, failed: 2 }

export class EnginePool implements SpeechEngine, VoiceEngine, TranscriptionEngine, SpeechWatcher {
  /** At least one. */
  readonly members: readonly EngineClient[]
  readonly #first: EngineClient

  constructor(members: readonly EngineClient[]) {
    const [first] = members
    if (first === undefined) throw new RangeError('there must be an engine')
    this.members = members
    this.#first = first
  }

  /**
   * Starts all of them ahead of the first request.
   * @param warmModel loaded at once in one of them; null: none. Resolves once it was tried.
   * @throws MynaError `engine_unavailable` if one of them cannot start
   */
  async start(warmModel: string | null = null): Promise<void> {
    await Promise.all(this.members.map((engine) => engine.start(engine === this.#first ? warmModel : null)))
  }

  /** In the one that an order would go to now. */
  prepare(model: string): void {
    this.#next().prepare(model)
  }

  speak(order: SpeechOrder, signal: AbortSignal): AsyncIterable<SpeechFrame> {
    return new Placed(() => this.#next().speak(order, signal))
  }

  transcribe(
    order: TranscriptionOrder,
    pcm: AsyncIterable<Int16Array>,
    signal: AbortSignal,
  ): AsyncIterable<TranscriptPart> {
    return new Placed(() => this.#next().transcribe(order, pcm, signal))
  }

  watchSpeech(pcm: AsyncIterable<Int16Array>, signal: AbortSignal): AsyncIterable<Float32Array> {
    return new Placed(() => this.#next().watchSpeech(pcm, signal))
  }

  detectSpeech(pcm: Int16Array, signal: AbortSignal): Promise<SpeechSpan[]> {
    return this.#next().detectSpeech(pcm, signal)
  }

  clone(model: string, clip: { pcm: Int16Array; sampleRateHz: number }, signal: AbortSignal): Promise<Uint8Array> {
    return this.#next().clone(model, clip, signal)
  }

  dismiss(model: string): void {
    for (const engine of this.members) engine.dismiss(model)
  }

  engines(): Promise<readonly EngineStatus[]> {
    return Promise.all(this.members.map((engine) => engine.status()))
  }

  /** Whether all have reported that they run on the CPU. */
  get isOnCpu(): boolean {
    return this.members.every(({ standing }) => standing.device === 'cpu')
  }

  async close(): Promise<void> {
    await Promise.all(this.members.map((engine) => engine.close()))
  }

  /**
   * The least loaded of those that can begin at once; of equals the first, so that a single stream finds its model in
   * memory. One that had to make do with the CPU is left alone while others have their cards.
   */
  #next(): EngineClient {
    const hasCard = !this.isOnCpu
    const rank = ({ standing: { state, hasFailed, device, load } }: EngineClient): number[] => [
      stateRank[state],
      // One that failed before may do so again.
      state === 'starting' && hasFailed ? 1 : 0,
      hasCard && device === 'cpu' ? 1 : 0,
      load,
    ]
    return this.members.reduce((best, engine) => (isLess(rank(engine), rank(best)) ? engine : best))
  }
}

/**
 * The replies of an engine, which is chosen when the first reply is requested: only then does the work begin and count.
 * Not a generator, for the same reason as `ReplyStream`.
 */
class Placed<T> implements AsyncIterableIterator<T> {
  readonly #place: () => AsyncIterable<T>
  #replies: AsyncIterator<T> | null = null
  #isOver = false

  constructor(place: () => AsyncIterable<T>) {
    this.#place = place
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<T>> {
    if (this.#isOver) return Promise.resolve({ done: true, value: undefined })
    this.#replies ??= this.#place()[Symbol.asyncIterator]()
    return this.#replies.next()
  }

  async return(): Promise<IteratorResult<T>> {
    this.#isOver = true
    await this.#replies?.return?.()
    return { done: true, value: undefined }
  }
}

/** By the first place in which they differ. */
function isLess(one: readonly number[], other: readonly number[]): boolean {
  const at = one.findIndex((value, place) => value !== other[place])
  return at >= 0 && one[at]! < other[at]!
}
