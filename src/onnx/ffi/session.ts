/**
 * Graphs through ONNX Runtime's C API, with what its packages for JavaScript lack: runs that can be stopped and block
 * nothing else (`async-runs.ts`), and loops whose states stay where they were computed (`loop.ts`, `bound-loop.ts`).
 */
import type { Pointer } from 'bun:ffi'
import type { Held, Loop, LoopOptions, Port, Session, SessionOptions, Tensor, Tensors } from '../session.ts'
import { checkFeeds } from '../tensor-checks.ts'
import { nextTurn, ortApi, type OrtApi } from './api.ts'
import type { FfiDevice } from './device.ts'
import { type AsyncRun, startRun } from './async-runs.ts'
import { BoundLoop } from './bound-loop.ts'
import { prepareThread } from './led-runs.ts'
import { HeldValue } from './held.ts'
import { FfiLoop, type LoopSession } from './loop.ts'
import { CNames } from './names.ts'
import { portsOf } from './ports.ts'
import { borrowed, copied, noValues, pointerOf, read, releaseAll, type Values } from './values.ts'
import { noteRun } from '../runs.ts'

/** On the CPU. @throws Error if it is not a graph that this ONNX Runtime can run */
export async function createFfiSession(model: string | Uint8Array, options: SessionOptions): Promise<Session> {
  const api = ortApi()
  return createFfiSessionOn(api, api.cpu, model, options)
}

/** @throws as above; DeviceOutOfMemory, DeviceLost */
export async function createFfiSessionOn(
  api: OrtApi,
  device: FfiDevice,
  model: string | Uint8Array,
  options: SessionOptions,
): Promise<Session> {
  await nextTurn()
  // Loops on a graphics card have no other form; its runs are short.
  const isInline = options.inline === true || device !== api.cpu
  if (!isInline) prepareThread()
  const held = options.isOptimised ? model : ''
  const session = new FfiSession(api, device, open(api, device, model, options), { isInline, ...options }, held)
  api.trim()
  return session
}

/** `ORT_DISABLE_ALL` */
const noOptimisation = 0
/** The weights are used where they are, and not packed anew (onnxruntime_session_options_config_keys.h). */
const inPlace = [
  'session.use_ort_model_bytes_directly',
  'session.use_ort_model_bytes_for_initializers',
  'session.disable_prepacking',
]

function open(api: OrtApi, device: FfiDevice, model: string | Uint8Array, settings: SessionOptions): Pointer {
  const { call, env } = api
  const options = api.made((out) => call.CreateSessionOptions(out))
  try {
    device.prepare(options)
    api.check(call.SetIntraOpNumThreads(options, settings.threads))
    if (settings.isOptimised) {
      api.check(call.SetSessionGraphOptimizationLevel(options, noOptimisation))
      for (const name of inPlace) api.check(call.AddSessionConfigEntry(options, name, '1'))
    }
    api.check(call.AddSessionConfigEntry(options, 'session.intra_op.allow_spinning', '0'))
    return typeof model === 'string'
      ? api.made((out) => call.CreateSession(env, model, options, out))
      : api.made((out) => call.CreateSessionFromArray(env, model, model.byteLength, options, out))
  } finally {
    call.ReleaseSessionOptions(options)
  }
}

/** Sessions that were never released and no longer can be, such as those of a model that failed to load. */
const forgotten = new FinalizationRegistry<Opened>(releaseNow)

interface Opened {
  api: OrtApi
  pointer: Pointer
  /** What the session reads for as long as it lives; empty: it has copies. */
  model: string | Uint8Array
}

function releaseNow({ api, pointer }: Opened): void {
  api.call.ReleaseSession(pointer)
  api.trim()
}

export class FfiSession implements Session, LoopSession {
  readonly inputs: readonly Port[]
  readonly outputs: readonly Port[]
  readonly inputNames: CNames
  readonly outputNames: CNames
  readonly threads: number
  readonly #isInline: boolean
  readonly #opened: Opened
  readonly #loops = new Set<Loop>()
  readonly #runs = new Set<AsyncRun>()
  /** Runs and steps that have not settled: what they hold is the session's. */
  readonly #unsettled = new Set<Promise<unknown>>()
  /** Held while a run reads them by their address, or the collector might take them. */
  #fed: Tensors | null = null
  /** A loop's states are free now: the next run gives their memory back. */
  #hasFreed = false
  #released: Promise<void> | null = null

  /**
   * @param pointer an `OrtSession *`, owned by this object from now on
   * @param isInline whether its runs block the calling thread
   * @param model what the session reads as long as it lives; empty: it has copies
   */
  constructor(
    readonly api: OrtApi,
    readonly device: FfiDevice,
    readonly pointer: Pointer,
    { isInline, threads }: { isInline: boolean; threads: number },
    model: string | Uint8Array,
  ) {
    this.#isInline = isInline
    this.threads = threads
    this.#opened = { api, pointer, model }
    forgotten.register(this, this.#opened, this)
    const { inputs, outputs } = portsOf(api, pointer)
    this.inputs = inputs
    this.outputs = outputs
    this.inputNames = new CNames(inputs.map(({ name }) => name))
    this.outputNames = new CNames(outputs.map(({ name }) => name))
  }

  run(feeds: Tensors, signal?: AbortSignal): Promise<Record<string, Tensor>> {
    return this.#computed(feeds, signal, (results) => this.#taken(results, () => false).read)
  }

  runHolding(
    feeds: Tensors,
    holds: (output: string) => boolean,
    signal?: AbortSignal,
  ): Promise<{ read: Record<string, Tensor>; held: Record<string, Held> }> {
    return this.#computed(feeds, signal, (results) => this.#taken(results, holds))
  }

  loop(options: LoopOptions): Loop {
    if (this.#released !== null) throw new Error('the session was released')
    const onRelease = (released: Loop) => {
      this.#loops.delete(released)
      this.#hasFreed = true
    }
    const Kind = this.#isInline ? BoundLoop : FfiLoop
    const loop = new Kind(this, options, onRelease)
    this.#loops.add(loop)
    return loop
  }

  release(): Promise<void> {
    this.#released ??= this.#release()
    return this.#released
  }

  runOptions(): Pointer | null {
    return this.#takeFreed() ? this.device.shrinking : null
  }

  settling<T>(work: Promise<T>): Promise<T> {
    this.#unsettled.add(work)
    const settled = () => void this.#unsettled.delete(work)
    work.then(settled, settled)
    return work
  }

  async compute(given: Values, results: Values, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted()
    if (this.#released !== null) throw new Error('the session was released')
    const run = startRun(this, given, results, this.#takeFreed())
    const terminate = () => run.terminate()
    this.#runs.add(run)
    signal?.addEventListener('abort', terminate, { once: true })
    try {
      await run.ended
      noteRun()
      signal?.throwIfAborted()
    } catch (error) {
      releaseAll(this.api, results)
      signal?.throwIfAborted()
      throw this.#released === null ? error : new Error('the session was released', { cause: error })
    } finally {
      this.#runs.delete(run)
      signal?.removeEventListener('abort', terminate)
    }
  }

  /** @param take what it does not take is released */
  #computed<T>(feeds: Tensors, signal: AbortSignal | undefined, take: (results: Values) => T): Promise<T> {
    return this.settling(this.#isInline ? this.#runInline(feeds, signal, take) : this.#run(feeds, signal, take))
  }

  async #run<T>(feeds: Tensors, signal: AbortSignal | undefined, take: (results: Values) => T): Promise<T> {
    if (this.#released !== null) throw new Error('the session was released')
    checkFeeds(feeds, this.#inputNames)
    const { api } = this
    const given = noValues(this.inputs.length)
    const results = noValues(this.outputs.length)
    try {
      for (const [at, { name }] of this.inputs.entries()) given[at] = BigInt(copied(api, feeds[name]!))
      await this.compute(given, results, signal)
      return take(results)
    } finally {
      releaseAll(api, given)
      releaseAll(api, results)
    }
  }

  async #runInline<T>(feeds: Tensors, signal: AbortSignal | undefined, take: (results: Values) => T): Promise<T> {
    await nextTurn()
    signal?.throwIfAborted()
    if (this.#released !== null) throw new Error('the session was released')
    checkFeeds(feeds, this.#inputNames)
    const { api, pointer, inputNames, outputNames } = this
    const given = noValues(this.inputs.length)
    const results = noValues(this.outputs.length)
    this.#fed = feeds
    try {
      for (const [at, { name }] of this.inputs.entries()) given[at] = BigInt(borrowed(api, this.#fed[name]!))
      const [inputs, outputs] = [inputNames.addresses, outputNames.addresses]
      api.check(api.call.Run(pointer, this.runOptions(), inputs, given, given.length, outputs, results.length, results))
      noteRun()
      return take(results)
    } finally {
      this.#fed = null
      releaseAll(api, given)
      releaseAll(api, results)
    }
  }

  #taken(results: Values, holds: (output: string) => boolean) {
    const { api } = this
    const [tensors, held]: [Record<string, Tensor>, Record<string, Held>] = [{}, {}]
    try {
      for (const [at, { name }] of this.outputs.entries()) {
        const value = pointerOf(results[at])
        if (!holds(name)) {
          tensors[name] = read(api, api.cpu, name, value)
          continue
        }
        held[name] = new HeldValue(api, api.cpu, name, value)
        results[at] = 0n
      }
      return { read: tensors, held }
    } catch (error) {
      for (const one of Object.values(held)) one.release()
      throw error
    }
  }

  get #inputNames(): string[] {
    return this.inputs.map(({ name }) => name)
  }

  #takeFreed(): boolean {
    const hasFreed = this.#hasFreed
    this.#hasFreed = false
    return hasFreed
  }

  /** Active runs end first: freeing a session waits for its runs, and everything here would wait with it. */
  async #release(): Promise<void> {
    for (const run of this.#runs) run.terminate()
    for (const loop of Array.from(this.#loops)) loop.release()
    if (this.#unsettled.size > 0) await Promise.allSettled(this.#unsettled)
    forgotten.unregister(this)
    releaseNow(this.#opened)
  }
}
