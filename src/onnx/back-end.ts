/**
 * The one door to ONNX Runtime, and where the graphs of this process run: on the CPU, or on the card that `useCuda`
 * chose. A place is used only after a graph with known numbers has computed exactly there. The library is loaded on
 * first use, and only ever in the engine.
 */
import { join } from 'node:path'
import type { CudaOptions } from './device.ts'
import { runSelfTestGraph, verifyLoops, verifyRuns } from './selftest.ts'
import type { CreateSession } from './session.ts'

export interface BackEnd {
  create: CreateSession
  /** Whether graphs run on a graphics card. */
  isOnCard: boolean
  /** Version of ONNX Runtime. */
  version: string
}

let chosen: Promise<BackEnd> | null = null

/** @throws Error when ONNX Runtime cannot be loaded, or computes wrongly; the next call tries again */
export function backEnd(): Promise<BackEnd> {
  chosen ??= openCpu().catch((error: unknown) => {
    chosen = null
    throw error
  })
  return chosen
}

async function openCpu(): Promise<BackEnd> {
  const [{ ortApi }, { createFfiSession: create }] = await Promise.all([
    import('./ffi/api.ts'),
    import('./ffi/session.ts'),
  ])
  const { version } = ortApi()
  await verifyLoops(create)
  return { create, isOnCard: false, version }
}

export interface DeviceMemory {
  /** Used by all programs. */
  usedBytes: number
  totalBytes: number
}

/**
 * Runs all graphs of this process on a graphics card, once the self-test has given exactly the right numbers there, run
 * by run and in a loop whose states stay in the card's memory. If it fails, this process may be left with half a CUDA,
 * and another one should continue without.
 * @returns the card's memory, whenever it is called
 * @throws Error with the reason
 */
export async function useCuda(options: CudaOptions): Promise<() => DeviceMemory> {
  if (chosen !== null) throw new Error('graphs run on the CPU already')
  const [{ openOrtApi }, { openCuda }] = await Promise.all([import('./ffi/api.ts'), import('./cuda.ts')])
  const { create, version, shrink, memory } = openCuda(options, openOrtApi(join(options.dir, 'libonnxruntime.so.1')))
  await verifyRuns(create)
  await verifyLoops(create)
  await shrink()
  chosen = Promise.resolve({ create, isOnCard: true, version })
  return memory
}

/** @throws as `CreateSession`, and as `backEnd` */
export const createSession: CreateSession = async (model, options) => (await backEnd()).create(model, options)

export interface SelfTest {
  /** Its version. */
  onnxRuntime: string
  outputs: number[]
}

/** @throws Error in ONNX Runtime's words when it cannot be loaded or cannot run the graph */
export async function runSelfTest(): Promise<SelfTest> {
  const { create, version } = await backEnd()
  return { onnxRuntime: version, outputs: await runSelfTestGraph(create) }
}
