/**
 * One order being rendered in the engine (child side): text in, frames out, never more of them than were granted. A
 * chunk is computed only when all frames of the previous one have left, so that a reader who stops costs one chunk of
 * memory and no computing. A chunk may come in pieces, while the rest of it is computed: its turn is one. What follows
 * the last one is not computed and needs no turn: the end of a stream would wait until all others have begun. Where it
 * is known that the next chunk is the last, its turn is asked for as such.
 */
import type { SpeechInput, SpeechModel, SpokenChunk } from '../../models/architecture.ts'
import { PlayClock } from '../../domain/play-clock.ts'
import type { Claim } from '../../domain/schedule.ts'
import type { Steps } from '../protocol.ts'
import { FrameCutter, type Frame } from './frames.ts'
import type { Lease } from './residency.ts'
import { speech } from './speech.ts'
import type { Timers } from '../timers.ts'
import type { Turn, Turns } from './turns.ts'
import { WordTimes } from './word-times.ts'

type Step = IteratorResult<SpokenChunk, void>

export interface RenderingOptions {
  input: SpeechInput
  /** Of the frames. */
  sampleRateHz: number
  /** Whether the times of words are wanted. */
  wordTimes: boolean
  /** Frames that may be sent before the server grants more. */
  credits: number
  /** Sound that the reader has already, and is left out. */
  skipSamples: number
  /** The account whose share of the engine it uses. */
  share: string
  acquire(): Promise<Lease<SpeechModel>>
  turns: Turns
  timers: Pick<Timers, 'monotonicMs'>
  /** At least one. */
  send(frames: readonly Frame[]): void
  /** A chunk was computed and has left. */
  onStep(step: Omit<Steps, 'steps'>): void
}

export class Rendering {
  readonly #options: RenderingOptions
  readonly #abort = new AbortController()
  readonly #clock = new PlayClock()
  #credits: number
  #skipSamples: number
  #wake: () => void = () => {}

  constructor(options: RenderingOptions) {
    this.#options = options
    this.#credits = options.credits
    this.#skipSamples = options.skipSamples
  }

  grant(frames: number): void {
    this.#credits += frames
    this.#wake()
  }

  cancel(): void {
    this.#abort.abort()
    this.#wake()
  }

  /**
   * Ends when everything was sent or, after a cancel, when the work has really stopped.
   * @throws what the model throws
   */
  async run(): Promise<void> {
    const lease = await this.#options.acquire()
    try {
      await this.#speak(lease.model)
    } catch (error) {
      if (!this.#abort.signal.aborted) throw error
    } finally {
      lease.release()
    }
  }

  async #speak(model: SpeechModel): Promise<void> {
    const { signal } = this.#abort
    const { onStep } = this.#options
    const cutter = new FrameCutter(model.sampleRateHz, this.#options.sampleRateHz)
    const { input, wordTimes } = this.#options
    const times = wordTimes ? new WordTimes(input.text, model.sampleRateHz) : null
    const chunks = speech(model, this.#options.input, signal)
    try {
      let chunk = { isOpen: false, soundMs: 0, firstMs: 0, machineMs: Promise.resolve(0) }
      let isComputed = false
      let isLast = false
      while (await this.#hasCredit()) {
        const turn: Turn<Step> | null = chunk.isOpen || isComputed ? null : await this.#turn(chunks, isLast)
        const step: Step = turn === null ? await chunks.next() : turn.value
        if (turn !== null) chunk = { isOpen: false, soundMs: 0, firstMs: turn.firstMs, machineMs: turn.machineMs }
        if (signal.aborted) return
        if (step.done) cutter.finish()
        else {
          cutter.add(step.value, times?.add(step.value) ?? null)
          chunk.isOpen = step.value.rest !== undefined
          chunk.soundMs += (1000 * step.value.pcm.length) / model.sampleRateHz
          if (!chunk.isOpen && !isComputed)
            onStep({ soundMs: chunk.soundMs, firstMs: chunk.firstMs, machineMs: await chunk.machineMs })
          isComputed ||= step.value.isLast === true
          isLast ||= step.value.isLastNext === true
        }
        await this.#sendAll(cutter, chunk.firstMs)
        if (step.done) return
      }
    } finally {
      await chunks.return()
    }
  }

  #turn(chunks: AsyncGenerator<SpokenChunk, void>, isLast: boolean): Promise<Turn<Step>> {
    const { share, turns } = this.#options
    const { dueMs } = this.#clock
    const claim: Claim = { account: share, isFirst: dueMs === null, dueMs, isLast }
    return turns.take(
      claim,
      () => chunks.next(),
      this.#abort.signal,
      ({ value }) => value?.rest,
    )
  }

  async #sendAll(cutter: FrameCutter, firstMs: number): Promise<void> {
    this.#skipSamples -= cutter.skip(this.#skipSamples)
    while (!cutter.isEmpty && (await this.#hasCredit())) {
      const isFirst = this.#clock.dueMs === null
      const [frame, ...more] = this.#take(cutter)
      if (frame === undefined) return
      this.#options.send([isFirst ? { ...frame, firstMs } : frame, ...more])
    }
  }

  /** As many frames as there are and as were granted. */
  #take(cutter: FrameCutter): Frame[] {
    const frames: Frame[] = []
    for (; this.#credits > 0; this.#credits--) {
      const frame = cutter.take()
      if (frame === null) break
      this.#clock.give((1000 * frame.pcm.length) / this.#options.sampleRateHz, this.#options.timers.monotonicMs())
      frames.push(frame)
    }
    return frames
  }

  /**
   * Waits for a credit: a client that does not read has no claim meanwhile. @returns false once the stream was
   * cancelled
   */
  async #hasCredit(): Promise<boolean> {
    if (this.#credits > 0) return !this.#abort.signal.aborted
    while (this.#credits <= 0 && !this.#abort.signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    this.#clock.resume(this.#options.timers.monotonicMs())
    return !this.#abort.signal.aborted
  }
}
