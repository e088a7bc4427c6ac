/**
 * A graph run step by step by IO binding, which has no form that runs beside others: on a graphics card, whose memory
 * the states never leave, and for steps that are too short for a thread of their own. The states that one step puts out
 * are bound as inputs of the next, as they are and where they are, and never become arrays of JavaScript.
 */
import { read as readMemory, type Pointer } from 'bun:ffi'
import type { Loop, LoopOptions, Tensor, Tensors } from '../session.ts'
import { checkFeeds, checkLoop, copiesOf } from '../tensor-checks.ts'
import { nextTurn } from './api.ts'
import type { LoopSession } from './loop.ts'
import { HeldValue } from './held.ts'
import { borrowed, copied, read } from './values.ts'
import { noteRun } from '../runs.ts'

export class BoundLoop implements Loop {
  /** Held, so that it is not collected before its loop. */
  readonly #session: LoopSession
  readonly #feedNames: readonly string[]
  /** By output, the input that it becomes in the next step. */
  readonly #links: ReadonlyMap<string, string>
  /** Inputs that are themselves a kept output: they are copied, because what is kept must not be the caller's. */
  readonly #kept: ReadonlySet<string>
  readonly #binding: Pointer
  /** Until the first step: the caller's, read in place. */
  #start: Tensors | null
  /** Held while a step reads them by their address, or the collector might take them. */
  #fed: Tensors | null = null
  /** By input; empty until the first step. */
  readonly #states = new Map<string, Pointer>()
  readonly #onRelease: (loop: Loop) => void
  #isReleased = false

  /** @throws Error naming what the graph does not have; in ONNX Runtime's words */
  constructor(session: LoopSession, options: LoopOptions, onRelease: (loop: Loop) => void) {
    const { api, pointer, inputs, outputs } = session
    const { links, start, constants = {} } = options
    checkLoop(options, inputs, outputs)
    this.#session = session
    this.#onRelease = onRelease
    this.#feedNames = inputs.map(({ name }) => name).filter((name) => !(name in links || name in constants))
    this.#links = new Map(Object.entries(links).map(([input, output]) => [output, input]))
    this.#kept = new Set(inputs.map(({ name }) => name).filter((name) => this.#links.has(name)))
    this.#start = start
    this.#binding = api.made((out) => api.call.CreateIoBinding(pointer, out))
    for (const [name, tensor] of Object.entries(constants)) {
      // The binding shares it.
      if (tensor instanceof HeldValue) this.#bind(name, tensor.pointer)
      else this.#give(name, copied(api, tensor))
    }
  }

  async step(feeds: Tensors, signal?: AbortSignal): Promise<Record<string, Tensor>> {
    await nextTurn()
    signal?.throwIfAborted()
    if (this.#isReleased) throw new Error('the loop was released')
    checkFeeds(feeds, this.#feedNames)
    const { api, device, pointer, outputs, outputNames } = this.#session
    this.#fed = { ...this.#start, ...feeds }
    for (const [name, tensor] of Object.entries(this.#fed)) {
      this.#give(name, this.#kept.has(name) ? copied(api, tensor) : borrowed(api, tensor))
    }
    for (const [name, state] of this.#states) this.#bind(name, state)
    // An output that is bound anew gets new memory: otherwise the state that was kept would be written over.
    // What is wanted here is brought here by the run itself; states stay where they are computed.
    for (const { name } of outputs) {
      const place = this.#links.has(name) ? device.memory : api.cpuMemory
      api.check(api.call.BindOutputToDevice(this.#binding, outputNames.addressOf(name), place))
    }
    api.check(api.call.RunWithBinding(pointer, this.#session.runOptions(), this.#binding))
    this.#fed = null
    noteRun()
    return this.#takeOutputs()
  }

  async states(): Promise<Record<string, Tensor>> {
    if (this.#isReleased) throw new Error('the loop was released')
    if (this.#start !== null) return copiesOf(this.#start)
    const { api, device } = this.#session
    return Object.fromEntries([...this.#states].map(([name, state]) => [name, read(api, device, name, state)]))
  }

  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#start = null
    this.#fed = null
    const { call } = this.#session.api
    call.ReleaseIoBinding(this.#binding)
    for (const state of this.#states.values()) call.ReleaseValue(state)
    this.#states.clear()
    this.#onRelease(this)
  }

  /** Keeps the states for the next step. @returns the other outputs */
  #takeOutputs(): Record<string, Tensor> {
    const { api, outputs } = this.#session
    const values = this.#outputValues()
    try {
      const others = outputs.flatMap(({ name }, at) =>
        this.#links.has(name) ? [] : [[name, read(api, api.cpu, name, values[at]!)] as const],
      )
      for (const [at, { name }] of outputs.entries()) {
        const input = this.#links.get(name)
        if (input === undefined) continue
        const last = this.#states.get(input)
        this.#states.set(input, values[at]!)
        values[at] = last ?? null
      }
      this.#start = null
      return Object.fromEntries(others)
    } finally {
      // Contains the other outputs and the states of the last step; or all outputs, if one could not be read.
      for (const value of values) if (value !== null) api.call.ReleaseValue(value)
    }
  }

  /** In the order of the session's outputs, which is the order in which they were first bound. */
  #outputValues(): (Pointer | null)[] {
    const { api, outputs } = this.#session
    const { call, allocator } = api
    const count = new BigUint64Array(1)
    const list = api.made((out) => call.GetBoundOutputValues(this.#binding, allocator, out, count))
    const values = outputs.map((_, at) => readMemory.ptr(list, 8 * at) as Pointer)
    api.check(call.AllocatorFree(allocator, list))
    return values
  }

  /** Binds a value that is needed for nothing else: the binding holds it from now on. */
  #give(name: string, value: Pointer): void {
    try {
      this.#bind(name, value)
    } finally {
      this.#session.api.call.ReleaseValue(value)
    }
  }

  #bind(name: string, value: Pointer): void {
    const { api, inputNames } = this.#session
    api.check(api.call.BindInput(this.#binding, inputNames.addressOf(name), value))
  }
}
