/**
 * The engine as the service sees it (server side): orders go to the child, frames come back against credits, clips go
 * there and an answer or a transcript comes back, and every wait has a deadline.
 */
import type { Task } from '../domain/card.ts'
import { MynaError } from '../domain/error.ts'
import type { SpeechEngine, SpeechFrame, SpeechOrder, SpeechSpan, VoiceEngine } from '../service/ports.ts'
import type { EngineState, EngineStatus } from '../service/ports/engines.ts'
import { notLoaded } from '../domain/model-trouble.ts'
import type {
  SpeechWatcher,
  TranscriptionEngine,
  TranscriptionOrder,
  TranscriptPart,
} from '../service/ports/transcription.ts'
import { Deadlines, type Debt } from './deadlines.ts'
import { FailedModels } from './failed-models.ts'
import { Inquiries, type Answer } from './inquiries.ts'
import { selfTestOutputs, type FromEngine, type Steps, type ToEngine } from './protocol.ts'
import { Queries } from './queries.ts'
import { failure, refusalOf, stalled, unavailable } from './refusals.ts'
import { Sounds } from './sounds.ts'
import { SpeechStreams } from './speech-streams.ts'
import { type Launch, Supervisor } from './supervisor.ts'
import { systemTimers, type Timers } from './timers.ts'

/** People request it and should not see it hang. */
const statusMs = 1000
const probeMs = 10_000

export interface EngineClientOptions {
  task: Task
  /** Starts the child: this program with its hidden subcommand. */
  command: readonly string[]
  /** The child's whole environment. */
  env: Readonly<Record<string, string>>
  /** Started instead of a child that could not start: as for a supervisor. */
  fallBack?(reason: string): Launch
  readyMs: number
  stallMs: number
  loadMs: number
  /** Logs what the engine printed and how it ended. */
  log(line: string): void
  /** Like `log`, for messages that an operator should see; absent: `log`. */
  warn?(line: string): void
  /** How long one piece of what an order asks for may take while the child shows life; absent: unknown. */
  patienceMs?(order: SpeechOrder): number
  /** Whether the model of an order gives the same sound each time; absent: none does. */
  repeats?(order: SpeechOrder): boolean
  /** How fast a model works, reported now and then. */
  onPace?(model: string, steps: Steps): void
  timers?: Timers
}

export interface ProbeResult {
  onnxRuntime: string
  /** Whether the self-test graph gave exactly the right result. */
  isExact: boolean
}

export class EngineClient implements SpeechEngine, VoiceEngine, TranscriptionEngine, SpeechWatcher {
  readonly #options: EngineClientOptions
  readonly #timers: Timers
  readonly #supervisor: Supervisor
  readonly #speech: SpeechStreams
  readonly #queries: Queries
  readonly #inquiries: Inquiries
  readonly #sounds: Sounds
  readonly #deadlines: Deadlines
  readonly #failed = new FailedModels()
  #nextId = 1
  /** Callers that wait for the child to be ready. */
  #comingCount = 0
  /** By model: once the child has loaded it, or could not, or has ended. */
  readonly #warming = new Map<string, PromiseWithResolvers<void>>()
  #isClosed = false

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
    this.#inquiries = new Inquiries({
      send: (message) => this.#supervisor.send(message),
      nowMs: () => this.#deadlines.nowMs(),
      failure: (why) => stalled(atClip, why),
    })
    const shared = {
      nowMs: () => this.#deadlines.nowMs(),
      nextId: () => this.#nextId++,
      start: () => this.start(),
      send: (message: ToEngine) => this.#supervisor.send(message),
      onOpen: () => this.#deadlines.watch(),
      unavailable: () => unavailable(null),
    }
    this.#speech = new SpeechStreams({
      ...shared,
      patienceMs: (order) => options.patienceMs?.(order) ?? null,
      repeats: (order) => options.repeats?.(order) ?? false,
      failure: (why) => stalled(speaking, why),
      log: (line) => options.log(line),
    })
    this.#sounds = new Sounds({ ...shared, failure: (why) => stalled(transcribing, why) })
    this.#deadlines = new Deadlines({
      timers: this.#timers,
      stallMs: options.stallMs,
      loadMs: options.loadMs,
      debts: () => this.#debts(),
      kill: (reason, why) => this.#kill(reason, why),
      log: (line) => options.log(line),
    })
  }

  /**
   * Starts the child ahead of the first request.
   * @param warmModel loaded at once, so that the first request does not wait; null: none. Resolves once it was tried.
   * @throws MynaError `engine_unavailable`
   */
  async start(warmModel: string | null = null): Promise<void> {
    const warmed = warmModel === null ? null : this.#warmed(warmModel)
    this.#comingCount++
    try {
      await this.#supervisor.ready(warmModel === null ? null : { type: 'warm', model: warmModel })
    } catch (cause) {
      throw unavailable(cause)
    } finally {
      this.#comingCount--
    }
    await warmed
  }

  prepare(model: string): void {
    this.start(model).catch(() => {})
  }

  speak(order: SpeechOrder, signal: AbortSignal): AsyncIterable<SpeechFrame> {
    return this.#speech.begin(order, signal)
  }

  transcribe(
    order: TranscriptionOrder,
    pcm: AsyncIterable<Int16Array>,
    signal: AbortSignal,
  ): AsyncIterable<TranscriptPart> {
    return this.#sounds.transcripts.begin((stream) => ({ type: 'transcribe', stream, order }), pcm, signal)
  }

  watchSpeech(pcm: AsyncIterable<Int16Array>, signal: AbortSignal): AsyncIterable<Float32Array> {
    return this.#sounds.watches.begin((stream) => ({ type: 'watch', stream }), pcm, signal)
  }

  async detectSpeech(pcm: Int16Array, signal: AbortSignal): Promise<SpeechSpan[]> {
    const answer = await this.#ask(signal, (query) => ({ type: 'detect', query, pcm: pcm.slice() }))
    if (answer.type !== 'detected') throw this.#refusal(answer)
    return answer.spans
  }

  async clone(
    model: string,
    { pcm, sampleRateHz }: { pcm: Int16Array; sampleRateHz: number },
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    const answer = await this.#ask(signal, (query) => ({
      type: 'clone',
      query,
      model,
      pcm: pcm.slice(),
      sampleRateHz,
    }))
    if (answer.type !== 'cloned') throw this.#refusal(answer)
    return answer.state
  }

  /** An engine that does not run has nothing to give up. */
  dismiss(model: string): void {
    this.#failed.forget(model)
    this.#supervisor.send({ type: 'dismiss', model })
  }

  async engines(): Promise<readonly EngineStatus[]> {
    return [await this.status()]
  }

  /** What is known without asking the child. */
  get standing(): { state: EngineState; hasFailed: boolean; device: string; load: number } {
    const { state, device, lastError } = this.#supervisor.status()
    return { state, hasFailed: lastError !== null, device, load: this.#comingCount + this.#debts().length }
  }

  async status(): Promise<EngineStatus> {
    const { task } = this.#options
    // While it loads, it may be unable to answer, and the caller should not wait for that.
    const canAnswer = this.#supervisor.status().state === 'ready' && this.#deadlines.loading.length === 0
    const answer = canAnswer ? await this.#askStatus() : null
    const { loading, stalls } = this.#deadlines
    return {
      task,
      ...this.#supervisor.status(),
      activeStreams: this.#speech.open.length + this.#sounds.transcripts.open.length,
      loading,
      inUse: [...new Set(this.#debts().flatMap(({ model }) => model ?? []))],
      stalls,
      failed: this.#failed.list(),
      residentBytes: answer?.residentBytes ?? null,
      deviceMemory: answer?.deviceMemory ?? null,
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
    this.#isClosed = true
    this.#deadlines.stop()
    return this.#supervisor.close()
  }

  async #askStatus(): Promise<(FromEngine & { type: 'status' }) | null> {
    const answer = await this.#queries.ask(statusMs, (query) => this.#supervisor.send({ type: 'status', query }))
    return answer?.type === 'status' ? answer : null
  }

  /** Ends at once when the signal aborts, also while the engine starts. */
  async #ask(signal: AbortSignal, toMessage: (query: number) => ToEngine): Promise<Answer> {
    signal.throwIfAborted()
    await unlessAborted(signal, this.start())
    const asking = this.#inquiries.ask(signal, toMessage)
    this.#deadlines.watch()
    const answer = await asking
    if (answer === null) throw unavailable(null)
    return answer
  }

  /** What an empty answer means to the caller. */
  #refusal(answer: Answer): MynaError {
    if (answer.type === 'clone_refused') return new MynaError('clip_refused', answer.message, { param: 'file' })
    if (answer.type !== 'query_failed') return failure(atClip)
    this.#options.log(`the engine failed on a clip: ${answer.message}`)
    return refusalOf(answer, atClip)
  }

  #debts(): Debt[] {
    return [...this.#speech.open, ...this.#sounds.open, ...this.#inquiries.open]
  }

  #receive(message: FromEngine): void {
    switch (message.type) {
      case 'frame':
        this.#deadlines.noteProgress()
        return this.#speech.receive(message)
      case 'want':
      case 'heard':
      case 'voiced':
        this.#deadlines.noteProgress()
        return this.#sounds.receive(message)
      case 'alive':
        return this.#deadlines.noteAlive()
      case 'pace':
        return this.#options.onPace?.(message.model, message)
      case 'end':
        return this.#finish(message.stream, null)
      case 'refused':
        return this.#finish(
          message.stream,
          () => new MynaError('unsupported_value', message.message, { param: message.param }),
        )
      case 'failed':
        return this.#finish(message.stream, (doing) => refusalOf(message, doing))
      case 'loading':
        return this.#deadlines.noteLoading(message.model, message.isOver)
      case 'tried':
        return this.#noteTried(message.model, message.reason)
      case 'warmed':
        this.#warming.get(message.model)?.resolve()
        return void this.#warming.delete(message.model)
      case 'detected':
      case 'cloned':
      case 'clone_refused':
      case 'query_failed':
        this.#deadlines.noteProgress()
        return this.#inquiries.answer(message)
      case 'status':
        return this.#queries.answer(message.query, message)
      case 'probed':
      case 'probe_failed':
        return this.#queries.answer(message.probe, message)
      case 'idle':
        if (this.#debts().length === 0) void this.#supervisor.stop()
        return
      case 'ready':
    }
  }

  #noteTried(model: string, reason: string | null): void {
    const { warn, log } = this.#options
    // While it is stopping, every failure means that it was stopped.
    if (this.#isClosed) return
    if (this.#failed.note(model, reason) && reason !== null) (warn ?? log)(notLoaded(model, reason))
  }

  #warmed(model: string): Promise<void> {
    const warming = this.#warming.get(model) ?? Promise.withResolvers<void>()
    this.#warming.set(model, warming)
    return warming.promise
  }

  /** @param errorOf the error for the reader, given what the engine was doing; null: it finished */
  #finish(id: number, errorOf: ((doing: string) => MynaError) | null): void {
    this.#deadlines.noteProgress()
    this.#sounds.finish(id, errorOf?.(transcribing) ?? null)
    this.#speech.finish(id, errorOf?.(speaking) ?? null)
  }

  #afterEnd(why?: string): void {
    const { loading } = this.#deadlines
    for (const model of loading) this.#noteTried(model, 'the engine ended while it was loading it')
    this.#deadlines.noteEnd()
    for (const { resolve } of this.#warming.values()) resolve()
    this.#warming.clear()
    this.#speech.endAll(!this.#isClosed, why)
    this.#sounds.failAll()
    this.#queries.answerAll(null)
    this.#inquiries.failAll()
  }

  /** Its streams fail at once: a process that hangs in a driver ends late or never. */
  #kill(reason: string, why: string): void {
    this.#supervisor.kill(reason)
    this.#afterEnd(why)
  }
}

const [speaking, transcribing, atClip] = ['speaking', 'transcribing', 'working on the clip']

/** @throws the signal's reason once it aborts, or what the promise throws */
async function unlessAborted(signal: AbortSignal, promise: Promise<void>): Promise<void> {
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  await Promise.race([promise, aborted.promise]).finally(() => signal.removeEventListener('abort', abort))
}
