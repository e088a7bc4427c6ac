/**
 * The engine: what the hidden subcommand runs (child side). It says that it is ready, takes orders over IPC and owns
 * everything native, so that a crash in here costs streams and never the books.
 */
import type { Card, Task } from '../domain/card.ts'
import type { LoadSpeechModel, SpeechModel } from '../models/architecture.ts'
import type { SpeechDetector } from '../models/silero/detector.ts'
import type { SpeechOrder } from '../service/ports.ts'
import { Answering, describe, describeFailure } from './answering.ts'
import { Budget } from './budget.ts'
import { dieWithParent, ignoreSignals } from './lifeline.ts'
import type { FromEngine, ToEngine } from './protocol.ts'
import { Rendering } from './rendering.ts'
import { type Loaded, NotLoaded, Residency, type ResidencyOptions } from './residency.ts'
import { systemTimers, type Timers } from './timers.ts'
import { Turns } from './turns.ts'

export interface EngineOptions {
  task: Task
  /** Those that this engine may load. */
  cards: readonly Card[]
  /** By name: `models/registry`, except in tests. */
  architectures: Readonly<Record<string, () => Promise<{ load: LoadSpeechModel }>>>
  /** Where a model's files lie; null: it has none. */
  filesDir(cardId: string): string | null
  /** Text of the user's pronunciation dictionary; null: there is none. */
  pronunciations: string | null
  /** Threads of a model, and so the chunks that are computed at once. At least 1. */
  workers: number
  keepAliveMs: number
  /** Memory that models may take in all. */
  modelMemoryBytes: number
  /** How long a model waits for others in use to leave it room. */
  roomWaitMs: number
  /** Where inference runs, and why there when that was not asked for. */
  device: string
  deviceReason: string | null
  /** The server's process id. */
  parentPid: number
}

/** What is needed of `process`. */
export interface EngineChannel {
  send?: (message: FromEngine) => unknown
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
  const send = (message: FromEngine) => void channel.send?.(message)
  const engine = new Engine(options, send, systemTimers)
  channel.on('message', (message) => engine.receive(message as ToEngine))
  channel.on('disconnect', () => process.exit(0))
  send({ type: 'ready', pid: process.pid, device: options.device, deviceReason: options.deviceReason })
}

/** As measured. */
const detectorMemoryBytes = 30_000_000

class Engine {
  readonly #send: (message: FromEngine) => void
  readonly #timers: Timers
  readonly #device: string
  readonly #budget: Budget
  readonly #models: Residency<SpeechModel>
  readonly #detectors: Residency<SpeechDetector>
  readonly #answering: Answering
  readonly #turns: Turns
  readonly #streams = new Map<number, Rendering>()

  constructor(options: EngineOptions, send: (message: FromEngine) => void, timers: Timers) {
    this.#send = send
    this.#timers = timers
    this.#device = options.device
    this.#budget = new Budget({ bytes: options.modelMemoryBytes, waitMs: options.roomWaitMs, timers })
    this.#turns = new Turns(options.workers)
    const cards = new Map(options.cards.filter((card) => card.task === options.task).map((card) => [card.id, card]))
    this.#models = this.#residency({
      load: (id) => loadModel(options, cards.get(id)),
      memoryBytes: (id) => cards.get(id)?.memoryBytes ?? 0,
      keepAliveMs: options.keepAliveMs,
    })
    this.#detectors = this.#residency({
      load: async () => (await import('../models/silero/detector.ts')).loadDetector(),
      memoryBytes: () => detectorMemoryBytes,
      keepAliveMs: options.keepAliveMs,
    })
    this.#answering = new Answering({ models: this.#models, detectors: this.#detectors, send })
  }

  receive(message: ToEngine): void {
    switch (message.type) {
      case 'speak':
        return void this.#speak(message.stream, message.order, message.credits)
      case 'credit':
        return this.#streams.get(message.stream)?.grant(message.frames)
      case 'cancel':
        return this.#streams.get(message.stream)?.cancel()
      case 'detect':
        return void this.#answering.detect(message.query, message.pcm)
      case 'clone':
        return void this.#answering.clone(message.query, message.model, message.pcm, message.sampleRateHz)
      case 'drop':
        return this.#answering.drop(message.query)
      case 'warm':
        return void this.#warm(message.model)
      case 'probe':
        return void this.#probe(message.probe)
      case 'status':
        return this.#status(message.query)
      case 'stop':
        return void this.#stop()
    }
  }

  async #speak(stream: number, order: SpeechOrder, credits: number): Promise<void> {
    const startMs = this.#timers.monotonicMs()
    const { model, sampleRateHz, ...input } = order
    const rendering = new Rendering({
      input,
      sampleRateHz,
      credits,
      acquire: () => this.#models.use(model),
      turns: this.#turns,
      send: ({ pcm, coveredChars }) => {
        this.#send({ type: 'frame', stream, pcm, coveredChars, engineMs: this.#timers.monotonicMs() - startMs })
      },
    })
    this.#streams.set(stream, rendering)
    try {
      await rendering.run()
      this.#send({ type: 'end', stream })
    } catch (error) {
      this.#send({ type: 'failed', stream, ...describeFailure(error) })
    } finally {
      this.#streams.delete(stream)
    }
  }

  async #warm(model: string): Promise<void> {
    try {
      const lease = await this.#models.use(model)
      lease.release()
    } catch (error) {
      console.error(error instanceof NotLoaded ? error.message : describe(error))
    }
  }

  async #probe(probe: number): Promise<void> {
    try {
      const { runSelfTest } = await import('../models/selftest.ts')
      this.#send({ type: 'probed', probe, ...(await runSelfTest()) })
    } catch (error) {
      this.#send({ type: 'probe_failed', probe, message: describe(error) })
    }
  }

  #status(query: number): void {
    const models = [...this.#models.status(), ...this.#detectors.status()]
    this.#send({ type: 'status', query, residentBytes: process.memoryUsage.rss(), models })
  }

  async #stop(): Promise<void> {
    for (const rendering of this.#streams.values()) rendering.cancel()
    this.#answering.dropAll()
    this.#budget.close()
    await Promise.all([this.#models.unloadAll(), this.#detectors.unloadAll()])
    process.exit(0)
  }

  /** The engine is idle once none of its models is in memory, of whatever kind. */
  #residency<M extends Loaded>(
    options: Pick<ResidencyOptions<M>, 'load' | 'memoryBytes' | 'keepAliveMs'>,
  ): Residency<M> {
    return new Residency({
      ...options,
      budget: this.#budget,
      device: this.#device,
      timers: this.#timers,
      onLoading: (model, isOver) => this.#send({ type: 'loading', model, isOver }),
      onEmpty: () => {
        if (this.#models.isEmpty && this.#detectors.isEmpty) this.#send({ type: 'idle' })
      },
      onError: (error) => console.error(describe(error)),
    })
  }
}

async function loadModel(options: EngineOptions, card: Card | undefined): Promise<SpeechModel> {
  if (card === undefined) throw new Error(`no model of that name for ${options.task}`)
  const architecture = options.architectures[card.architecture]
  if (architecture === undefined) throw new Error(`${card.id}: unknown architecture ${card.architecture}`)
  const { load } = await architecture()
  const { pronunciations, workers } = options
  return load({ card, filesDir: options.filesDir(card.id), pronunciations, workers })
}
