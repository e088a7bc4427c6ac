/**
 * The one door to ONNX Runtime: everything that runs a graph comes through here, so that another back end (the C API
 * through bun:ffi, for CUDA) can stand behind it. The library is loaded on first use, and only ever in the engine.
 */
import type { InferenceSession, Tensor as OrtTensor } from 'onnxruntime-node'

export type TensorData = Float32Array | Int32Array | BigInt64Array | Uint8Array | Uint16Array

/** Row-major. `type` and `data` belong together: uint8 and bool are bytes, float16 is the bits of each number. */
export interface Tensor {
  type: 'float32' | 'float16' | 'int32' | 'int64' | 'uint8' | 'bool'
  dims: readonly number[]
  data: TensorData
}

export type Tensors = Readonly<Record<string, Tensor>>

/** What a graph says of one of its inputs or outputs. */
export interface Port {
  name: string
  type: string
  /** A length that is known only at run time is a word: its name in the graph, or '' when it has none. */
  dims: readonly (number | string)[]
}

export interface SessionOptions {
  /** Compute threads of one run. */
  threads: number
}

export interface Session {
  readonly inputs: readonly Port[]
  readonly outputs: readonly Port[]
  /**
   * Runs the graph once. Synchronous underneath: the engine's loop stands still for as long as it takes.
   * @throws Error naming the inputs when they are not those of the graph; after `release`; what ONNX Runtime refuses
   */
  run(feeds: Tensors): Promise<Record<string, Tensor>>
  /** A graph run step by step, whose states need not leave the place where they are computed. */
  loop(options: LoopOptions): Loop
  /** Gives the memory back. Harmless when repeated. Loops must have been released. */
  release(): Promise<void>
}

export interface LoopOptions {
  /** For each state, the input that takes it and the output that brings it for the next step. */
  links: Readonly<Record<string, string>>
  /** By input, before the first step. Never written to, so that many loops can start from the same. */
  start: Tensors
  /** Inputs that are the same in every step. */
  constants?: Tensors
}

export interface Loop {
  /** @param feeds the other inputs @returns the other outputs @throws as `Session.run` */
  step(feeds: Tensors): Promise<Record<string, Tensor>>
  /** By input: copies of the states as the last step left them, to start other loops with. */
  states(): Promise<Record<string, Tensor>>
  /** Harmless when repeated. */
  release(): void
}

const arrays = {
  float32: Float32Array,
  float16: Uint16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
  bool: Uint8Array,
} as const

let runs = 0

/** How often any graph has been run through in this process: what shows that long work goes on. */
export const runCount = (): number => runs

/** @param model path of the file, or its bytes @throws Error when it is no graph that this ONNX Runtime can run */
export async function createSession(model: string | Uint8Array, options: SessionOptions): Promise<Session> {
  const ort = await import('onnxruntime-node')
  const settings: InferenceSession.SessionOptions = { intraOpNumThreads: options.threads, executionProviders: ['cpu'] }
  const session = await (typeof model === 'string'
    ? ort.InferenceSession.create(model, settings)
    : ort.InferenceSession.create(model, settings))
  let released = false
  const run = async (feeds: Tensors) => {
    if (released) throw new Error('the session was released')
    checkNames(Object.keys(feeds), session.inputNames)
    const given = Object.entries(feeds).map(([name, { type, data, dims }]) => [name, new ort.Tensor(type, data, dims)])
    const results = await session.run(Object.fromEntries(given) as Record<string, OrtTensor>)
    runs++
    return Object.fromEntries(Object.entries(results).map(([name, tensor]) => [name, fromOrt(name, tensor)]))
  }
  return {
    inputs: session.inputMetadata.map(toPort),
    outputs: session.outputMetadata.map(toPort),
    run,
    loop: (loopOptions) => new RunLoop(run, loopOptions),
    async release() {
      if (released) return
      released = true
      await session.release()
    },
  }
}

/** The loop of a back end that hands every output over: the states are kept here between two runs. */
class RunLoop implements Loop {
  readonly #run: (feeds: Tensors) => Promise<Record<string, Tensor>>
  readonly #options: LoopOptions
  #states: Tensors

  constructor(run: (feeds: Tensors) => Promise<Record<string, Tensor>>, options: LoopOptions) {
    this.#run = run
    this.#options = options
    this.#states = options.start
  }

  async step(feeds: Tensors): Promise<Record<string, Tensor>> {
    const { links, constants } = this.#options
    const outputs = await this.#run({ ...constants, ...this.#states, ...feeds })
    const next: Record<string, Tensor> = {}
    for (const [input, output] of Object.entries(links)) {
      const state = outputs[output]
      if (state === undefined) throw new Error(`the graph has no output ${output}`)
      next[input] = state
      delete outputs[output]
    }
    this.#states = next
    return outputs
  }

  async states(): Promise<Record<string, Tensor>> {
    const copies = Object.entries(this.#states).map(([name, { type, dims, data }]) => [
      name,
      { type, dims, data: data.slice() },
    ])
    return Object.fromEntries(copies)
  }

  release(): void {
    this.#states = {}
  }
}

const toPort = (metadata: InferenceSession.ValueMetadata): Port =>
  metadata.isTensor
    ? { name: metadata.name, type: metadata.type, dims: metadata.shape }
    : { name: metadata.name, type: 'no tensor', dims: [] }

/** Of the library that `createSession` uses. */
export async function onnxRuntimeVersion(): Promise<string> {
  const { env } = await import('onnxruntime-node')
  return env.versions.node ?? env.versions.common
}

function checkNames(given: readonly string[], wanted: readonly string[]): void {
  const unknown = given.filter((name) => !wanted.includes(name))
  const missing = wanted.filter((name) => !given.includes(name))
  if (unknown.length === 0 && missing.length === 0) return
  const faults = [
    unknown.length > 0 ? `it has no input ${unknown.join(', ')}` : '',
    missing.length > 0 ? `it was not given ${missing.join(', ')}` : '',
  ]
  throw new Error(`the graph takes ${wanted.join(', ')}: ${faults.filter((fault) => fault !== '').join('; ')}`)
}

function fromOrt(name: string, tensor: OrtTensor): Tensor {
  const type = tensor.type
  if (!isKnown(type)) throw new Error(`output ${name}: tensors of ${type} are not supported`)
  const data = tensor.data
  if (!(data instanceof arrays[type])) throw new Error(`output ${name}: ${type} came as ${data.constructor.name}`)
  return { type, dims: [...tensor.dims], data }
}

const isKnown = (type: string): type is Tensor['type'] => Object.hasOwn(arrays, type)
