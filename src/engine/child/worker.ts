/**
 * The engine: what the hidden subcommand runs (child side). It reports when it is ready, takes orders over IPC and owns
 * everything native, so that a crash here costs streams and never the database.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Card, Task } from '../../domain/card.ts'
import {
  InputRefused,
  type LoadOptions,
  type LoadSpeechModel,
  type LoadTranscriptionModel,
  type SpeechModel,
  type TranscriptionModel,
} from '../../models/architecture.ts'
import type { DeviceMemory } from '../../onnx/back-end.ts'
import { deviceFailure, DeviceLost } from '../../onnx/device.ts'
import type { SpeechDetector } from '../../models/silero/detector.ts'
import type { TranscriptionOrder } from '../../service/ports/transcription.ts'
import { Answering, describe, describeFailure } from './answering.ts'
import { detectorId } from '../../domain/card.ts'
import { Budget } from './budget.ts'
import { Hearing } from './hearing.ts'
import { dieWithParent, ignoreSignals } from './lifeline.ts'
import type { Parcel, ToEngine } from '../protocol.ts'
import { Pace } from './pace.ts'
import { Pulse } from './pulse.ts'
import { Rendering } from './rendering.ts'
import { type Loaded, NotLoaded, Residency, type ResidencyOptions } from './residency.ts'
import { systemTimers, type Timers } from '../timers.ts'
import { Turns } from './turns.ts'
import { Watching } from './watching.ts'

export interface EngineOptions {
  task: Task
  /** The models that this engine may load; called at every load, because users may bring their own. */
  cards(): readonly Card[]
  /** By name: `models/registry`, except in tests. */
  speechArchitectures: Architectures<LoadSpeechModel>
  transcriptionArchitectures: Architectures<LoadTranscriptionModel>
  /** Folder of a model's files; null: it has none. */
  filesDir(cardId: string): string | null
  /** Text of the user's pronunciation dictionary; null: there is none. */
  pronunciations: string | null
  /** Threads of a model, and so the chunks that are computed at once. At least 1. */
  workers: number
  keepAliveMs: number
  /** Memory that models may take in all. */
  modelMemoryBytes: number
  /** How long a model waits for others in use to free memory. */
  roomWaitMs: number
  /** Where inference runs, and the reason if that was not requested. */
  device: string
  deviceReason: string | null
  /** Its memory; null: unknown. */
  deviceMemory: (() => DeviceMemory) | null
  /** The server's process id. */
  parentPid: number
}

type Architectures<Load> = Readonly<Record<string, () => Promise<{ load: Load }>>>

/** The part of `process` that is needed. */
export interface EngineChannel {
  send?: (parcel: Parcel) => unknown
  on(event: 'message', listener: (message: unknown) => void): unknown
  on(event: 'disconnect', listener: () => void): unknown
}

/** Serves until the server says stop (exit 0) or is gone. */
export function runEngine(options: EngineOptions, channel: EngineChannel = process): void {
  ignoreSignals()
  dieWithParent(options.parentPid)
  const die = (error: unknown) => {
    console.error(describe(error))
    process.exit(1)
  }
  process.on('uncaughtException', die)
  process.on('unhandledRejection', die)
  const send = (...parcel: Parcel) => void channel.send?.(parcel)
  const engine = new Engine(options, send, systemTimers)
  channel.on('message', (message) => engine.receive(message as ToEngine))
  channel.on('disconnect', () => process.exit(0))
  send({ type: 'ready', pid: process.pid, device: options.device, deviceReason: options.deviceReason })
}

/** As measured. */
const detectorMemoryBytes = 30_000_000

class Engine {
  readonly #options: EngineOptions
  readonly #send: (...parcel: Parcel) => void
  readonly #timers: Timers
  readonly #device: string
  readonly #budget: Budget
  readonly #models: Residency<SpeechModel>
  readonly #transcribers: Residency<TranscriptionModel>
  readonly #detectors: Residency<SpeechDetector>
  readonly #answering: Answering
  readonly #turns: Turns
  readonly #windowTurns: Turns
  readonly #renderings = new Map<number, Rendering>()
  readonly #hearings = new Map<number, Hearing>()
  readonly #watchings = new Map<number, Watching>()
  readonly #pulse: Pulse
  readonly #pace: Pace

  constructor(options: EngineOptions, send: (...parcel: Parcel) => void, timers: Timers) {
    this.#options = options
    this.#send = send
    this.#timers = timers
    this.#device = options.device
    this.#budget = new Budget({ bytes: options.modelMemoryBytes, waitMs: options.roomWaitMs, timers })
    this.#turns = new Turns(options.workers, timers)
    this.#windowTurns = new Turns(windowsAtOnce(options), timers)
    this.#pace = new Pace(timers, (model, steps) => send({ type: 'pace', model, ...steps }))
    this.#pulse = new Pulse({ timers, isAtWork: () => this.#isAtWork, beat: () => send({ type: 'alive' }) })
    const cardOf = (id: string) => options.cards().find((card) => card.id === id && card.task === options.task)
    const memoryBytes = (id: string) => cardOf(id)?.memoryBytes ?? 0
    this.#models = this.#residency({
      load: (id) => loadModel(options, options.speechArchitectures, cardOf(id)),
      memoryBytes,
      keepAliveMs: options.keepAliveMs,
    })
    this.#transcribers = this.#residency({
      load: (id) => loadModel(options, options.transcriptionArchitectures, cardOf(id)),
      memoryBytes,
      keepAliveMs: options.keepAliveMs,
    })
    this.#detectors = this.#residency({
      load: async () => (await import('../../models/silero/detector.ts')).loadDetector(),
      memoryBytes: () => detectorMemoryBytes,
      keepAliveMs: options.keepAliveMs,
    })
    this.#answering = new Answering({
      models: this.#models,
      detectors: this.#detectors,
      onFailure: (model, error) => this.#noteFailure(model, error),
      send,
    })
  }

  receive(message: ToEngine): void {
    switch (message.type) {
      case 'speak':
        return void this.#speak(message)
      case 'credit':
        return this.#renderings.get(message.stream)?.grant(message.frames)
      case 'transcribe':
        return void this.#transcribe(message.stream, message.order)
      case 'watch':
        return void this.#watch(message.stream)
      case 'audio':
        this.#watchings.get(message.stream)?.push(message.pcm, message.isLast)
        return this.#hearings.get(message.stream)?.push(message.pcm, message.isLast)
      case 'cancel':
        this.#watchings.get(message.stream)?.cancel()
        this.#renderings.get(message.stream)?.cancel()
        return this.#hearings.get(message.stream)?.cancel()
      case 'detect':
        void this.#answering.detect(message.query, message.pcm)
        return this.#pulse.start()
      case 'clone':
        void this.#answering.clone(message.query, message.model, message.pcm, message.sampleRateHz)
        return this.#pulse.start()
      case 'drop':
        return this.#answering.drop(message.query)
      case 'warm':
        return void this.#warm(message.model)
      case 'dismiss':
        return this.#residencies.forEach((residency) => residency.dismiss(message.model))
      case 'probe':
        return void this.#probe(message.probe)
      case 'status':
        return this.#status(message.query)
      case 'stop':
        return void this.#stop()
    }
  }

  async #speak({ stream, order, credits, skipSamples = 0 }: ToEngine & { type: 'speak' }): Promise<void> {
    const startMs = this.#timers.monotonicMs()
    const { model, sampleRateHz, share, wordTimes = false, ...input } = order
    const rendering = new Rendering({
      input,
      sampleRateHz,
      wordTimes,
      credits,
      skipSamples,
      share,
      acquire: () => this.#models.use(model),
      turns: this.#turns,
      timers: this.#timers,
      onStep: (step) => this.#pace.note(model, step),
      send: (frames) => {
        const engineMs = this.#timers.monotonicMs() - startMs
        this.#send(...frames.map((frame) => ({ type: 'frame' as const, stream, ...frame, engineMs })))
      },
    })
    this.#renderings.set(stream, rendering)
    this.#pulse.start()
    await this.#run(stream, model, rendering)
    this.#renderings.delete(stream)
  }

  async #transcribe(stream: number, { model, share, early = false, ...input }: TranscriptionOrder): Promise<void> {
    const hearing = new Hearing({
      input,
      isEarly: early,
      share,
      acquireModel: () => this.#transcribers.use(model),
      acquireDetector: () => this.#detectors.use(detectorId),
      turns: this.#windowTurns,
      timers: this.#timers,
      want: (samples) => this.#send({ type: 'want', stream, samples }),
      send: (part) => this.#send({ type: 'heard', stream, part }),
    })
    this.#hearings.set(stream, hearing)
    this.#pulse.start()
    await this.#run(stream, model, hearing)
    this.#hearings.delete(stream)
  }

  async #watch(stream: number): Promise<void> {
    const watching = new Watching({
      acquireDetector: () => this.#detectors.use(detectorId),
      want: (samples) => this.#send({ type: 'want', stream, samples }),
      send: (probabilities) => this.#send({ type: 'voiced', stream, probabilities }),
    })
    this.#watchings.set(stream, watching)
    await this.#run(stream, detectorId, watching)
    this.#watchings.delete(stream)
  }

  async #run(stream: number, model: string, work: { run(): Promise<void> }): Promise<void> {
    try {
      await work.run()
      this.#send({ type: 'end', stream })
    } catch (error) {
      if (error instanceof InputRefused) {
        this.#send({ type: 'refused', stream, message: error.message, param: error.param })
        return
      }
      this.#noteFailure(model, error)
      this.#send({ type: 'failed', stream, ...describeFailure(model, error) })
    }
  }

  /**
   * Handles a failure of the device. On a lost one nothing can be computed any more: the process ends with the reason
   * as its last words, and the server starts another. On a full one room is made, so that the next request works.
   */
  #noteFailure(model: string, error: unknown): void {
    const failure = deviceFailure(error)
    if (failure instanceof DeviceLost) {
      console.error(`${this.#device} is lost: ${failure.message}`)
      process.exit(1)
    }
    if (failure === null) return
    console.error(`${this.#device} has no memory left for ${model}: ${failure.message}`)
    for (const residency of this.#residencies) residency.shed(model)
    // Resources opened by a model that failed to load are released only by the garbage collector.
    Bun.gc(true)
  }

  async #warm(model: string): Promise<void> {
    try {
      if (this.#options.task === 'text-to-speech') await this.#warmSpeech(model)
      else (await this.#transcribers.use(model)).release()
    } catch (error) {
      this.#noteFailure(model, error)
      // The server already knows that a model is unavailable.
      if (!(error instanceof NotLoaded)) console.error(describe(error))
    }
    this.#send({ type: 'warmed', model })
  }

  async #warmSpeech(model: string): Promise<void> {
    const lease = await this.#models.use(model)
    try {
      // A text that came while it was loaded is read in the next turn of the loop, and delivered in the one after it.
      await nextTurn()
      await nextTurn()
      if (this.#renderings.size === 0) await lease.model.warm?.()
    } finally {
      lease.release()
    }
  }

  async #probe(probe: number): Promise<void> {
    try {
      const { runSelfTest } = await import('../../onnx/back-end.ts')
      this.#send({ type: 'probed', probe, ...(await runSelfTest()) })
    } catch (error) {
      this.#send({ type: 'probe_failed', probe, message: describe(error) })
    }
  }

  #status(query: number): void {
    const models = this.#residencies.flatMap((residency) => residency.status())
    const residentBytes = process.memoryUsage.rss()
    this.#send({ type: 'status', query, residentBytes, deviceMemory: this.#deviceMemory(), models })
  }

  /** The other values are still reported if the driver does not answer. */
  #deviceMemory(): DeviceMemory | null {
    try {
      return this.#options.deviceMemory?.() ?? null
    } catch (error) {
      console.error(`${this.#device} does not report its memory: ${describe(error)}`)
      return null
    }
  }

  async #stop(): Promise<void> {
    for (const works of [this.#renderings, this.#hearings, this.#watchings]) works.forEach((work) => work.cancel())
    this.#answering.dropAll()
    this.#budget.close()
    await Promise.all(this.#residencies.map((residency) => residency.unloadAll()))
    process.exit(0)
  }

  get #isAtWork(): boolean {
    return this.#renderings.size > 0 || this.#hearings.size > 0 || this.#answering.isAtWork
  }

  get #residencies(): readonly Residency<Loaded>[] {
    return [this.#models, this.#transcribers, this.#detectors]
  }

  /** The engine is idle once none of its models is in memory, of whatever kind. */
  #residency<M extends Loaded>(
    options: Pick<ResidencyOptions<M>, 'load' | 'memoryBytes' | 'keepAliveMs'>,
  ): Residency<M> {
    return new Residency({
      ...options,
      filesDir: this.#options.filesDir,
      budget: this.#budget,
      device: this.#device,
      timers: this.#timers,
      onLoading: (model, isOver) => this.#send({ type: 'loading', model, isOver }),
      onTried: (model, reason) => this.#send({ type: 'tried', model, reason }),
      onEmpty: () => {
        if (this.#residencies.every(({ isEmpty }) => isEmpty)) this.#send({ type: 'idle' })
      },
      onError: (error) => console.error(describe(error)),
    })
  }
}

/**
 * Windows of different clips that are processed at the same time. Two at once take a fifth less processor time than one
 * after the other; more than a few would only fill the memory. On a card there is one thing to wait for.
 */
const windowsAtOnce = ({ device, workers }: EngineOptions): number =>
  device === 'cpu' ? Math.min(windowsMax, workers) : 1
const windowsMax = 4

async function loadModel<M>(
  options: EngineOptions,
  architectures: Architectures<(options: LoadOptions) => Promise<M>>,
  card: Card | undefined,
): Promise<M> {
  if (card === undefined) throw new Error(`there is no such model for ${options.task}`)
  const architecture = architectures[card.architecture]
  if (architecture === undefined) throw new Error(`${card.id}: unknown architecture ${card.architecture}`)
  const { load } = await architecture()
  const { pronunciations, workers, device } = options
  if (device !== 'cpu' && card.weights === 'int8') {
    console.error(`${card.id} has 8-bit weights: on ${device} parts of it run on the CPU`)
  }
  return load({ card, filesDir: options.filesDir(card.id), pronunciations, workers })
}
