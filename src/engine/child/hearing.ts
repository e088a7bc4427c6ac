/**
 * One clip being transcribed in the engine (child side): samples in, parts of the transcript out. Without speech the
 * model never runs, because models invent text in silence. Between two windows others have their turn, so that a long
 * clip delays no other.
 */
import type { TranscriptSegment } from '../../domain/transcript.ts'
import type { Transcribing, TranscriptionInput, TranscriptionModel } from '../../models/architecture.ts'
import { cutSpeech } from '../../models/silero/windows.ts'
import type { SpeechWindow } from '../../models/silero/window-cutter.ts'
import type { SpeechDetector } from '../../models/silero/detector.ts'
import type { TranscriptPart } from '../../service/ports/transcription.ts'
import { batchesOf } from './batches.ts'
import { Intake } from './intake.ts'
import { clipRateHz } from '../protocol.ts'
import type { Lease } from './residency.ts'
import type { Timers } from '../timers.ts'
import type { Turns } from './turns.ts'

/** Silence is reported no more often. */
const silentPartMs = 2000

export interface HearingOptions {
  input: TranscriptionInput
  /** Whether segments are sent as soon as they are certain. */
  isEarly: boolean
  acquireModel(): Promise<Lease<TranscriptionModel>>
  acquireDetector(): Promise<Lease<SpeechDetector>>
  /** The account whose share of the engine it uses. */
  share: string
  turns: Turns
  timers: Timers
  /** Requests this many more samples from the server. */
  want(samples: number): void
  send(part: TranscriptPart): void
}

export class Hearing {
  readonly #options: HearingOptions
  readonly #abort = new AbortController()
  readonly #intake: Intake
  #sentAtMs: number

  constructor(options: HearingOptions) {
    this.#options = options
    this.#intake = new Intake(options.want)
    this.#sentAtMs = options.timers.monotonicMs()
  }

  /** The next samples of the clip. */
  push(pcm: Int16Array, isLast: boolean): void {
    this.#intake.push(pcm, isLast)
  }

  cancel(): void {
    this.#abort.abort(new Error('no client waits for it any more'))
  }

  /**
   * Resolves when everything was transcribed or, after a cancel, when the work has really stopped.
   * @throws InputRefused; what the model throws
   */
  async run(): Promise<void> {
    const leases: Lease<unknown>[] = []
    try {
      const model = await this.#options.acquireModel()
      leases.push(model)
      const detector = await this.#options.acquireDetector()
      leases.push(detector)
      await this.#listen(model.model, detector.model)
    } catch (error) {
      if (!this.#abort.signal.aborted) throw error
    } finally {
      for (const lease of leases) lease.release()
    }
  }

  async #listen(model: TranscriptionModel, detector: SpeechDetector): Promise<void> {
    const { signal } = this.#abort
    const { maxWindowMs, sampleRateHz } = model
    if (sampleRateHz !== clipRateHz)
      throw new Error(`clips arrive at ${clipRateHz} Hz, but the model takes ${sampleRateHz}`)
    const transcribing = model.begin(this.#options.input)
    const cuts = cutSpeech(this.#intake.blocks(signal), detector, { maxWindowMs }, signal)
    let isFirst = true
    let untold: TranscriptPart | null = null
    for await (const parts of batchesOf(cuts, transcribing.batch?.max ?? 1)) {
      const windows = parts.flatMap(({ startMs, pcm }) => (pcm === null ? [] : [{ startMs, pcm }]))
      const heard = windows.length === 0 ? [] : await this.#hear(transcribing, windows, isFirst)
      isFirst &&= windows.length === 0
      for (const { pcm, heardMs } of parts) {
        const segments = pcm === null ? [] : heard.shift()!
        untold = { segments, language: transcribing.language, heardMs: Math.round(heardMs) }
        if (pcm === null && this.#timeSinceSentMs() < silentPartMs) continue
        this.#send(untold)
        untold = null
      }
    }
    if (untold !== null) this.#send(untold)
  }

  /** When it is their turn. @returns by window, segments in the time of the clip */
  async #hear(
    transcribing: Transcribing,
    windows: readonly SpeechWindow[],
    isFirst: boolean,
  ): Promise<TranscriptSegment[][]> {
    const { signal } = this.#abort
    const pcms = windows.map(({ pcm }) => pcm)
    const [first] = windows
    let told = 0
    const tell = (segments: readonly TranscriptSegment[]) => {
      told += segments.length
      const own = segments.map((segment) => inClip(segment, first!))
      this.#send({ segments: own, language: transcribing.language, heardMs: own.at(-1)?.endMs ?? first!.startMs })
    }
    const hear = async () => {
      if (transcribing.batch !== undefined && pcms.length > 1) return transcribing.batch.hear(pcms, signal)
      const early = this.#options.isEarly ? tell : undefined
      return [(await transcribing.hear(pcms[0]!, signal, early)).slice(told)]
    }
    const claim = { account: this.#options.share, isFirst, dueMs: null }
    const { value: heard } = await this.#options.turns.take(claim, hear, signal)
    signal.throwIfAborted()
    return windows.map((window, at) => heard[at]!.map((segment) => inClip(segment, window)))
  }

  #send(part: TranscriptPart): void {
    this.#sentAtMs = this.#options.timers.monotonicMs()
    this.#options.send(part)
  }

  #timeSinceSentMs(): number {
    return this.#options.timers.monotonicMs() - this.#sentAtMs
  }
}

/** A model may output text past the end of a window, in the silence that fills it: nothing was said there. */
function inClip(segment: TranscriptSegment, { startMs: byMs, pcm }: SpeechWindow): TranscriptSegment {
  const windowMs = (1000 * pcm.length) / clipRateHz
  const shift = (ms: number) => Math.round(byMs + Math.max(0, Math.min(ms, windowMs)))
  const times = ({ startMs, endMs }: { startMs: number; endMs: number }) => ({
    startMs: shift(startMs),
    endMs: shift(endMs),
  })
  const words = segment.words?.map((word) => ({ ...word, ...times(word) })) ?? null
  return { ...segment, ...times(segment), seekMs: shift(segment.seekMs), words }
}
