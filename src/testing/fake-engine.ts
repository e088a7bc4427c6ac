/**
 * The only fake in the tests: an engine whose sound is meaningless, but which makes exactly the frames, failures and
 * pauses that a test of the database needs. It is not in any release executable.
 */
import { MynaError } from '../domain/error.ts'
import type { SpeechEngine, SpeechFrame, SpeechOrder, SpeechSpan, VoiceEngine } from '../service/ports.ts'
import { FakeProcess } from './fake-process.ts'

export interface FakePlan {
  /** The number of frames; they cover the input evenly. */
  frames: number
  samplesPerFrame: number
  /** Fails instead of making this frame (0: before the first). */
  failAt: number | null
  /** Awaited before a frame is made, so that a test can hold a stream at any point. */
  before: (frame: number) => Promise<void> | void
}

export interface HeardClip {
  pcm: Int16Array
  sampleRateHz: number
}

const plainPlan: FakePlan = { frames: 4, samplesPerFrame: 2400, failAt: null, before: () => {} }

export class FakeEngine extends FakeProcess implements SpeechEngine, VoiceEngine {
  protected readonly task = 'text-to-speech'
  /** Called for each order. */
  plan: (order: SpeechOrder) => Partial<FakePlan> = () => ({})
  readonly orders: SpeechOrder[] = []
  /** Where it hears speech: everywhere by default. */
  hear: (pcm: Int16Array) => SpeechSpan[] | Promise<SpeechSpan[]> = (pcm) => [{ startMs: 0, endMs: pcm.length / 16 }]
  /** Its result for a clip; throws to refuse the clip, waits to be slow. */
  learn: (model: string, clip: HeardClip) => Uint8Array | Promise<Uint8Array> = () => new TextEncoder().encode('state')
  readonly clips: HeardClip[] = []
  /** Clones that were aborted before they were done. */
  forgotten = 0
  /** Streams that were aborted before their last frame. */
  aborted = 0

  async *speak(order: SpeechOrder, signal: AbortSignal): AsyncGenerator<SpeechFrame> {
    this.orders.push(order)
    const plan = { ...plainPlan, ...this.plan(order) }
    const inputChars = [...order.text].length
    this.active++
    let whole = false
    try {
      for (let frame = 0; frame < plan.frames; frame++) {
        await unlessAborted(Promise.resolve(plan.before(frame)), signal)
        if (plan.failAt === frame) throw new MynaError('generation_failed', 'Speech generation failed.')
        const pcm = Int16Array.from({ length: plan.samplesPerFrame }, (_, i) => 8000 * Math.sin(i / 20 + frame))
        const coveredBy = (frames: number) => Math.ceil((inputChars * frames) / plan.frames)
        const startMs = (1000 * frame * plan.samplesPerFrame) / order.sampleRateHz
        const word = {
          from: coveredBy(frame),
          to: coveredBy(frame + 1),
          startMs,
          endMs: startMs + 50,
          isEstimated: false,
        }
        const words = order.wordTimes === true ? { words: [word] } : {}
        yield { pcm, coveredChars: coveredBy(frame + 1), engineMs: 1, ...words }
        signal.throwIfAborted()
      }
      if (plan.failAt === plan.frames) throw new MynaError('generation_failed', 'Speech generation failed.')
      whole = true
    } finally {
      this.active--
      if (!whole) this.aborted++
    }
  }

  async detectSpeech(pcm: Int16Array, signal: AbortSignal): Promise<SpeechSpan[]> {
    return unlessAborted(Promise.resolve(this.hear(pcm)), signal)
  }

  async clone(model: string, clip: HeardClip, signal: AbortSignal): Promise<Uint8Array> {
    this.clips.push(clip)
    const state = unlessAborted((async () => this.learn(model, clip))(), signal)
    return state.catch((error: unknown) => {
      if (signal.aborted) this.forgotten++
      throw error
    })
  }
}

/** @throws the signal's reason once it aborts */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const { promise, reject } = Promise.withResolvers<never>()
  const aborted = () => reject(signal.reason)
  signal.addEventListener('abort', aborted)
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', aborted))
}
