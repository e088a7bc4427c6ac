/**
 * The engine as the service sees it (server side): orders go to the child, frames come back against credits, and every
 * wait has a deadline. A child that owes frames and says nothing is killed: there is no other way out of a native call.
 */
import type { Task } from '../domain/card.ts'
import { MynaError } from '../domain/error.ts'
import type { EngineStatus, SpeechEngine, SpeechFrame, SpeechOrder } from '../service/ports.ts'
import { FrameStream } from './frame-stream.ts'
import { creditFrames, selfTestOutputs, type FromEngine } from './protocol.ts'
import { Queries } from './queries.ts'
import { Supervisor } from './supervisor.ts'
import { systemTimers, type Timers } from './timers.ts'

const retryAfterMs = 5000
/** Longest wait for an answer to `status`: it is asked for by people, who should not see it hang. */
const statusMs = 1000
const probeMs = 10_000

export interface EngineClientOptions {
  task: Task
  /** What starts the child: this program with its hidden subcommand. */
  command: readonly string[]
  /** The child's whole environment. */
  env: Readonly<Record<string, string>>
  readyMs: number
  stallMs: number
  /** What the engine printed and what became of it. */
  log(line: string): void
  timers?: Timers
}

export interface ProbeResult {
  onnxRuntime: string
  /** Whether the self-test graph gave exactly what it must. */
  isExact: boolean
}

/** A stream that the child works on. */
interface Open {
  frames: FrameStream
  /** Granted and not yet come. */
  credits: number
  /** The reader is gone; the child has still to say that it stopped. */
  isCancelled: boolean
  /** Since when the child owes something; null: it does not. */
  owedSinceMs: number | null
}

export class EngineClient implements SpeechEngine {
  readonly #options: EngineClientOptions
  readonly #timers: Timers
  readonly #supervisor: Supervisor
  readonly #streams = new Map<number, Open>()
  readonly #queries: Queries
  #nextId = 1
  #cancelWatch: (() => void) | null = null
  #lastProgressMs = 0

  constructor(options: EngineClientOptions) {
    this.#options = options
    this.#timers = options.timers ?? systemTimers
    this.#queries = new Queries(this.#timers)
    this.#supervisor = new Supervisor({
      ...options,
      timers: this.#timers,
      onMessage: (message) => this.#receive(message),
      onEnd: () => this.#afterEnd(),
    })
  }

  /**
   * Starts the child before anybody needs it.
   * @param warmModel loaded at once, so that the first who speaks with it does not wait; null: none
   * @throws MynaError `engine_unavailable`
   */
  async start(warmModel: string | null = null): Promise<void> {
    try {
      await this.#supervisor.ready()
    } catch (cause) {
      throw unavailable(cause)
    }
    if (warmModel !== null) this.#supervisor.send({ type: 'warm', model: warmModel })
  }

  speak(order: SpeechOrder, signal: AbortSignal): AsyncIterable<SpeechFrame> {
    const id = this.#nextId++
    return new FrameStream(signal, {
      start: (frames) => void this.#open(id, order, frames),
      onTaken: () => this.#grant(id),
      onCancel: () => this.#cancel(id),
    })
  }

  async status(): Promise<EngineStatus> {
    const { task } = this.#options
    const answer = this.#supervisor.status().state === 'ready' ? await this.#askStatus() : null
    return {
      task,
      ...this.#supervisor.status(),
      activeStreams: this.#streams.size,
      residentBytes: answer?.residentBytes ?? null,
      models: answer?.models ?? [],
    }
  }

  /**
   * Whether ONNX Runtime works in the engine, by a graph of four numbers.
   * @throws MynaError `engine_unavailable`; Error in ONNX Runtime's words
   */
  async probe(): Promise<ProbeResult> {
    await this.start()
    const answer = await this.#queries.ask(probeMs, (probe) => this.#supervisor.send({ type: 'probe', probe }))
    if (answer?.type === 'probe_failed') throw new Error(answer.message)
    if (answer?.type !== 'probed') throw new Error(`the engine did not answer within ${probeMs} ms`)
    const { onnxRuntime, outputs } = answer
    return { onnxRuntime, isExact: Bun.deepEquals(outputs, selfTestOutputs) }
  }

  /** Ends the child in order; streams that are open fail. No start follows. */
  close(): Promise<void> {
    this.#cancelWatch?.()
    this.#cancelWatch = null
    return this.#supervisor.close()
  }

  async #askStatus(): Promise<(FromEngine & { type: 'status' }) | null> {
    const answer = await this.#queries.ask(statusMs, (query) => this.#supervisor.send({ type: 'status', query }))
    return answer?.type === 'status' ? answer : null
  }

  async #open(id: number, order: SpeechOrder, frames: FrameStream): Promise<void> {
    try {
      await this.start()
    } catch (reason) {
      return frames.finish({ reason })
    }
    if (frames.isFinished) return
    if (!this.#supervisor.send({ type: 'speak', stream: id, order, credits: creditFrames })) {
      return frames.finish({ reason: unavailable(null) })
    }
    this.#streams.set(id, {
      frames,
      credits: creditFrames,
      isCancelled: false,
      owedSinceMs: this.#timers.monotonicMs(),
    })
    this.#watch()
  }

  #grant(id: number): void {
    const open = this.#streams.get(id)
    if (open === undefined || open.isCancelled) return
    open.credits++
    open.owedSinceMs ??= this.#timers.monotonicMs()
    this.#supervisor.send({ type: 'credit', stream: id, frames: 1 })
  }

  #cancel(id: number): void {
    const open = this.#streams.get(id)
    if (open === undefined) return
    open.isCancelled = true
    open.owedSinceMs = this.#timers.monotonicMs()
    this.#supervisor.send({ type: 'cancel', stream: id })
  }

  #receive(message: FromEngine): void {
    switch (message.type) {
      case 'frame':
        return this.#receiveFrame(message)
      case 'end':
        return this.#finish(message.stream, null)
      case 'failed':
        this.#options.log(`the engine failed a stream: ${message.message}`)
        return this.#finish(message.stream, failure())
      case 'status':
        return this.#queries.answer(message.query, message)
      case 'probed':
      case 'probe_failed':
        return this.#queries.answer(message.probe, message)
      case 'idle':
        if (this.#streams.size === 0) void this.#supervisor.stop()
        return
      case 'ready':
        return
    }
  }

  #receiveFrame({ stream, pcm, coveredChars, engineMs }: FromEngine & { type: 'frame' }): void {
    const nowMs = (this.#lastProgressMs = this.#timers.monotonicMs())
    const open = this.#streams.get(stream)
    if (open === undefined || open.isCancelled) return
    open.credits--
    open.owedSinceMs = open.credits > 0 ? nowMs : null
    open.frames.push({ pcm, coveredChars, engineMs })
  }

  #finish(id: number, error: MynaError | null): void {
    this.#lastProgressMs = this.#timers.monotonicMs()
    const open = this.#streams.get(id)
    this.#streams.delete(id)
    open?.frames.finish(error === null ? null : { reason: error })
  }

  #afterEnd(): void {
    for (const id of [...this.#streams.keys()]) this.#finish(id, failure())
    this.#queries.answerAll(null)
  }

  /** Its streams fail at once: a process that hangs in a driver ends late or never. */
  #kill(reason: string): void {
    this.#supervisor.kill(reason)
    this.#afterEnd()
  }

  /** Looks at the deadlines a few times within each, for as long as there are streams. */
  #watch(): void {
    this.#cancelWatch ??= this.#timers.after(this.#options.stallMs / 8, () => {
      this.#cancelWatch = null
      this.#checkDeadlines()
      if (this.#streams.size > 0) this.#watch()
    })
  }

  /**
   * Silence of the whole child, or a cancel that it does not obey, kills it. A stream that alone is silent may only be
   * waiting for its turn on a busy machine, so it fails alone, and the others go on.
   */
  #checkDeadlines(): void {
    const { stallMs, log } = this.#options
    const beforeMs = this.#timers.monotonicMs() - stallMs
    for (const [id, open] of this.#streams) {
      if (open.owedSinceMs === null || open.owedSinceMs > beforeMs) continue
      if (this.#lastProgressMs <= beforeMs) {
        return this.#kill(`was killed: it owed audio and said nothing for ${stallMs} ms`)
      }
      if (open.isCancelled) {
        return this.#kill(`was killed: it did not stop a cancelled stream within ${stallMs} ms`)
      }
      log(`a stream got no audio for ${stallMs} ms and was given up`)
      open.frames.finish({ reason: failure() })
      this.#cancel(id)
    }
  }
}

const unavailable = (cause: unknown): MynaError =>
  new MynaError('engine_unavailable', 'The engine is not available at the moment.', { retryAfterMs, cause })

/** What a client may know; the engine's own words are in the log and in the status. */
const failure = (): MynaError => new MynaError('generation_failed', 'The engine failed while it was speaking.')
