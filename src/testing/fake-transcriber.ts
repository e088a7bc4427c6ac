/**
 * An engine that measures only the length of a clip, with exactly the failures and pauses that a test of the service
 * needs. It is not in any release executable.
 *
 * Its transcript: part `n` of the clip (from 0, `partMs` each) becomes ` heard n.`, or an empty text if every sample is
 * 0.
 */
import { concatS16 } from '../audio/pcm.ts'
import { MynaError } from '../domain/error.ts'
import type { TranscriptSegment } from '../domain/transcript.ts'
import {
  type SpeechWatcher,
  type TranscriptionEngine,
  type TranscriptionOrder,
  type TranscriptPart,
  watchedSamples,
} from '../service/ports/transcription.ts'
import { unlessAborted } from './fake-engine.ts'
import { FakeProcess } from './fake-process.ts'

export interface FakeHearing {
  partMs: number
  /** The spoken language, where the order does not state it. */
  language: string
  /** Fails instead of transcribing this part (0: before the clip is read at all). */
  failAt: number | null
  failWith: MynaError
  /** Awaited before a part is transcribed, so that a test can hold a transcription at any point. */
  before: (part: number) => Promise<void> | void
}

const plainHearing: FakeHearing = {
  partMs: 1000,
  language: 'en',
  failAt: null,
  failWith: new MynaError('generation_failed', 'The engine failed while it was transcribing.'),
  before: () => {},
}

const samplesPerMs = 16

export class FakeTranscriber extends FakeProcess implements TranscriptionEngine, SpeechWatcher {
  protected readonly task = 'automatic-speech-recognition'
  /** Called for each order. */
  plan: (order: TranscriptionOrder) => Partial<FakeHearing> = () => ({})
  readonly orders: TranscriptionOrder[] = []
  /** Samples that were read from clips. */
  pulled = 0
  /** Transcriptions that were aborted before the end of the clip. */
  aborted = 0

  /** Models that began to be loaded because an order was about to come. */
  readonly prepared: string[] = []

  prepare(model: string): void {
    this.prepared.push(model)
  }

  async *transcribe(
    order: TranscriptionOrder,
    pcm: AsyncIterable<Int16Array>,
    signal: AbortSignal,
  ): AsyncGenerator<TranscriptPart> {
    this.orders.push(order)
    const plan = { ...plainHearing, ...this.plan(order) }
    const language = order.task === 'translate' ? 'en' : (order.language ?? plan.language)
    this.active++
    let whole = false
    let heardMs = 0
    try {
      if (plan.failAt === 0) throw plan.failWith
      for await (const samples of this.#parts(pcm, plan.partMs, signal)) {
        const part = Math.floor(heardMs / plan.partMs)
        await unlessAborted(Promise.resolve(plan.before(part)), signal)
        if (part > 0 && plan.failAt === part) throw plan.failWith
        const startMs = heardMs
        heardMs += samples.length / samplesPerMs
        const segments = samples.some((sample) => sample !== 0) ? [segmentOf(part, startMs, heardMs, order.words)] : []
        yield { segments, language: segments.length > 0 ? language : order.language, heardMs: Math.round(heardMs) }
        signal.throwIfAborted()
      }
      whole = true
    } finally {
      this.active--
      if (!whole) this.aborted++
    }
  }

  /** Sounds that are being watched. */
  watched = 0
  /** Sound that was watched, of all of them. */
  watchedMs = 0
  /** Each call ends one watch at its next samples, as a crash does. */
  readonly watchFailures: MynaError[] = []

  /** Every window that is not all zeros counts as speech. */
  async *watchSpeech(pcm: AsyncIterable<Int16Array>, signal: AbortSignal): AsyncGenerator<Float32Array> {
    const blocks = pcm[Symbol.asyncIterator]()
    let rest = new Int16Array(0)
    this.watched++
    try {
      for (;;) {
        const { done, value } = await unlessAborted(blocks.next(), signal)
        if (done) return
        const failure = this.watchFailures.shift()
        if (failure !== undefined) throw failure
        rest = concatS16([rest, value])
        const found: number[] = []
        for (; rest.length >= watchedSamples; rest = rest.subarray(watchedSamples)) {
          found.push(rest.subarray(0, watchedSamples).some((sample) => sample !== 0) ? 0.95 : 0.01)
        }
        if (found.length > 0) yield Float32Array.from(found)
        this.watchedMs += (found.length * watchedSamples) / samplesPerMs
      }
    } finally {
      this.watched--
      await blocks.return?.()
    }
  }

  /**
   * Splits the clip into parts of that length, the last one shorter. However this iteration ends, it ends the clip's
   * iteration.
   */
  async *#parts(pcm: AsyncIterable<Int16Array>, partMs: number, signal: AbortSignal): AsyncGenerator<Int16Array> {
    const blocks = pcm[Symbol.asyncIterator]()
    const wanted = partMs * samplesPerMs
    let rest = new Int16Array(0)
    try {
      for (;;) {
        const { done, value } = await unlessAborted(blocks.next(), signal)
        if (done) break
        this.pulled += value.length
        rest = concatS16([rest, value])
        for (; rest.length >= wanted; rest = rest.subarray(wanted)) yield rest.subarray(0, wanted)
      }
      if (rest.length > 0) yield rest
    } finally {
      await blocks.return?.()
    }
  }
}

function segmentOf(part: number, startMs: number, endMs: number, withWords: boolean): TranscriptSegment {
  const middleMs = Math.round((startMs + endMs) / 2)
  const words = [
    { text: 'heard', startMs, endMs: middleMs, probability: 0.5 },
    { text: `${part}.`, startMs: middleMs, endMs: Math.round(endMs), probability: 0.5 },
  ]
  return {
    startMs,
    endMs: Math.round(endMs),
    text: ` heard ${part}.`,
    seekMs: startMs,
    tokens: [part],
    temperature: 0,
    avgLogprob: -0.25,
    compressionRatio: 1,
    noSpeechProb: 0.125,
    words: withWords ? words : null,
  }
}
