/**
 * The one door to ONNX Runtime: everything that runs a graph comes through here, whichever of two back ends stands
 * behind it. The library is loaded on first use, and only ever in the engine.
 */
import { join } from 'node:path'
import type { CudaOptions } from './device.ts'
import { verifyLoops } from './selftest-loop.ts'
import { verifyRuns } from './selftest-run.ts'

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
  /**
   * Compute threads of one run. They sleep when there is nothing to do: by default they would spin, and those of one
   * session take the cores from the next. Three sessions in turn, two threads each, on two busy cores: 7 times as fast.
   */
  threads: number
  /** Wherever the other graphs of the process run: for those whose runs are too short to be worth a way there. */
  onCpu?: true
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

/** @param model path of the file, or its bytes @throws Error when it is no graph that this ONNX Runtime can run */
export type CreateSession = (model: string | Uint8Array, options: SessionOptions) => Promise<Session>

/** The back end of this process, chosen when the first session is wanted. */
export interface BackEnd {
  create: CreateSession
  /** Why graphs do not run through the C API, where loops are several times as fast; null: they do. */
  slowReason: string | null
  /** Whether graphs run on a graphics card. */
  isOnCard: boolean
  /** Of ONNX Runtime. */
  version: string
}

let chosen: Promise<BackEnd> | null = null

export function backEnd(): Promise<BackEnd> {
  chosen ??= chooseBackEnd(async () => (await import('./ffi/session.ts')).createFfiSession).catch((error: unknown) => {
    chosen = null
    throw error
  })
  return chosen
}

export interface DeviceMemory {
  /** By all programs. */
  usedBytes: number
  totalBytes: number
}

/**
 * Has all graphs of this process run on a graphics card, from the first on: once the self-test has given exactly the
 * right numbers there, run by run and in a loop whose states stay in the card's memory. When it has not, this process
 * may be left with half a CUDA, and another should go on without.
 * @returns how full the card is, whenever it is asked
 * @throws Error that says why it cannot be
 */
export async function useCuda(options: CudaOptions): Promise<() => DeviceMemory> {
  if (chosen !== null) throw new Error('graphs run on the CPU already')
  const [{ openOrtApi }, { openCuda }] = await Promise.all([import('./ffi/api.ts'), import('./cuda.ts')])
  const { create, version, shrink, memory } = openCuda(options, openOrtApi(join(options.dir, 'libonnxruntime.so.1')))
  await verifyRuns(create)
  await verifyLoops(create)
  await shrink()
  chosen = Promise.resolve({ create, slowReason: null, isOnCard: true, version })
  return memory
}

/**
 * The C API, if it can be had and keeps states right on this machine; onnxruntime-node if not.
 * @throws what the import of onnxruntime-node throws: without its library there is neither
 */
export async function chooseBackEnd(load: () => Promise<CreateSession>): Promise<BackEnd> {
  const { env } = await import('onnxruntime-node')
  const version = env.versions.node ?? env.versions.common
  try {
    const create = await load()
    await verifyLoops(create)
    return { create, slowReason: null, isOnCard: false, version }
  } catch (error) {
    const slowReason = `ONNX Runtime's C API cannot be used: ${error instanceof Error ? error.message : String(error)}`
    console.error(`${slowReason}. Models run through onnxruntime-node, and slower.`)
    const { createNodeSession: create } = await import('./node-session.ts')
    return { create, slowReason, isOnCard: false, version }
  }
}

export const createSession: CreateSession = async (model, options) => (await backEnd()).create(model, options)
