/**
 * The one door to ONNX Runtime: everything that runs a graph comes through here, so that another back end (the C API
 * through bun:ffi, for CUDA) can stand behind it. The library is loaded on first use, and only ever in the engine.
 */
import type { InferenceSession, Tensor as OrtTensor } from 'onnxruntime-node'

export type TensorData = Float32Array | Int32Array | BigInt64Array | Uint8Array

/** Row-major. `type` and `data` belong together: float32, int32, int64 and uint8 or bool. */
export interface Tensor {
  type: 'float32' | 'int32' | 'int64' | 'uint8' | 'bool'
  dims: readonly number[]
  data: TensorData
}

export interface SessionOptions {
  /** Compute threads of one run. */
  threads: number
}

export interface Session {
  readonly inputs: readonly string[]
  readonly outputs: readonly string[]
  /**
   * Runs the graph once. Synchronous underneath: the engine's loop stands still for as long as it takes.
   * @throws Error naming the inputs when they are not those of the graph; after `release`; what ONNX Runtime refuses
   */
  run(feeds: Readonly<Record<string, Tensor>>): Promise<Record<string, Tensor>>
  /** Gives the memory back. Harmless when repeated. */
  release(): Promise<void>
}

const arrays = {
  float32: Float32Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
  bool: Uint8Array,
} as const

/** @param model path of the file, or its bytes @throws Error when it is no graph that this ONNX Runtime can run */
export async function createSession(model: string | Uint8Array, options: SessionOptions): Promise<Session> {
  const ort = await import('onnxruntime-node')
  const settings: InferenceSession.SessionOptions = { intraOpNumThreads: options.threads, executionProviders: ['cpu'] }
  const session = await (typeof model === 'string'
    ? ort.InferenceSession.create(model, settings)
    : ort.InferenceSession.create(model, settings))
  let released = false
  return {
    inputs: session.inputNames,
    outputs: session.outputNames,
    async run(feeds) {
      if (released) throw new Error('the session was released')
      checkNames(Object.keys(feeds), session.inputNames)
      const given = Object.entries(feeds).map(([name, { type, data, dims }]) => [
        name,
        new ort.Tensor(type, data, dims),
      ])
      const results = await session.run(Object.fromEntries(given) as Record<string, OrtTensor>)
      return Object.fromEntries(Object.entries(results).map(([name, tensor]) => [name, fromOrt(name, tensor)]))
    },
    async release() {
      if (released) return
      released = true
      await session.release()
    },
  }
}

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
