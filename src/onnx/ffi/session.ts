/**
 * Graphs through ONNX Runtime's C API: what onnxruntime-node does, and loops whose states stay where they were computed
 * (`loop.ts`).
 */
import type { Pointer } from 'bun:ffi'
import type { Loop, LoopOptions, Port, Session, SessionOptions, Tensor, Tensors } from '../session.ts'
import { checkFeeds } from '../tensor-checks.ts'
import { nextTurn, ortApi, type OrtApi } from './api.ts'
import type { FfiDevice } from './device.ts'
import { FfiLoop } from './loop.ts'
import { CNames } from './names.ts'
import { portsOf } from './ports.ts'
import { borrowed, read } from './values.ts'
import { noteRun } from '../runs.ts'

/** On the CPU. @throws Error when it is no graph that this ONNX Runtime can run */
export async function createFfiSession(model: string | Uint8Array, options: SessionOptions): Promise<Session> {
  const api = await ortApi()
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
  const session = new FfiSession(api, device, open(api, device, model, options))
  api.trim()
  return session
}

function open(api: OrtApi, device: FfiDevice, model: string | Uint8Array, { threads }: SessionOptions): Pointer {
  const { call, env } = api
  const options = api.made((out) => call.CreateSessionOptions(out))
  try {
    device.prepare(options)
    api.check(call.SetIntraOpNumThreads(options, threads))
    api.check(call.AddSessionConfigEntry(options, 'session.intra_op.allow_spinning', '0'))
    return typeof model === 'string'
      ? api.made((out) => call.CreateSession(env, model, options, out))
      : api.made((out) => call.CreateSessionFromArray(env, model, model.byteLength, options, out))
  } finally {
    call.ReleaseSessionOptions(options)
  }
}

/** Sessions that nobody released and nobody can any more, such as those of a model whose loading failed half-way. */
const forgotten = new FinalizationRegistry<{ api: OrtApi; pointer: Pointer }>(({ api, pointer }) =>
  releaseNow(api, pointer),
)

function releaseNow(api: OrtApi, pointer: Pointer): void {
  api.call.ReleaseSession(pointer)
  api.trim()
}

export class FfiSession implements Session {
  readonly inputs: readonly Port[]
  readonly outputs: readonly Port[]
  readonly inputNames: CNames
  readonly outputNames: CNames
  readonly #loops = new Set<Loop>()
  /** Held while a run reads them by their address, or the collector might take them. */
  #fed: Tensors | null = null
  /** A loop's states are free now: the next run gives their memory back. */
  #hasFreed = false
  #isReleased = false

  /** @param pointer an `OrtSession *`, which is this object's from now on */
  constructor(
    readonly api: OrtApi,
    readonly device: FfiDevice,
    readonly pointer: Pointer,
  ) {
    forgotten.register(this, { api, pointer }, this)
    const { inputs, outputs } = portsOf(api, pointer)
    this.inputs = inputs
    this.outputs = outputs
    this.inputNames = new CNames(inputs.map(({ name }) => name))
    this.outputNames = new CNames(outputs.map(({ name }) => name))
  }

  async run(feeds: Tensors): Promise<Record<string, Tensor>> {
    await nextTurn()
    if (this.#isReleased) throw new Error('the session was released')
    const names = this.inputs.map(({ name }) => name)
    checkFeeds(feeds, names)
    const given = new BigUint64Array(this.inputs.length)
    const results = new BigUint64Array(this.outputs.length)
    this.#fed = feeds
    try {
      for (const [at, name] of names.entries()) given[at] = BigInt(borrowed(this.api, this.#fed[name]!))
      this.#runNow(given, results)
      const tensors = this.outputs.map(
        ({ name }, at) => [name, read(this.api, this.api.cpu, name, pointerAt(results, at))] as const,
      )
      return Object.fromEntries(tensors)
    } finally {
      this.#fed = null
      for (const value of [...given, ...results]) if (value !== 0n) this.api.call.ReleaseValue(value)
    }
  }

  loop(options: LoopOptions): Loop {
    if (this.#isReleased) throw new Error('the session was released')
    const loop = new FfiLoop(this, options, (released) => {
      this.#loops.delete(released)
      this.#hasFreed = true
    })
    this.#loops.add(loop)
    return loop
  }

  async release(): Promise<void> {
    if (this.#isReleased) return
    this.#isReleased = true
    for (const loop of this.#loops) loop.release()
    forgotten.unregister(this)
    releaseNow(this.api, this.pointer)
  }

  /** Of the next run; null: the usual ones. */
  runOptions(): Pointer | null {
    const options = this.#hasFreed ? this.device.shrinking : null
    this.#hasFreed = false
    return options
  }

  #runNow(given: BigUint64Array, results: BigUint64Array): void {
    const [inputs, outputs] = [this.inputNames.addresses, this.outputNames.addresses]
    const { api, pointer } = this
    api.check(api.call.Run(pointer, this.runOptions(), inputs, given, given.length, outputs, results.length, results))
    noteRun()
  }
}

const pointerAt = (pointers: BigUint64Array, at: number): Pointer => Number(pointers[at]) as Pointer
