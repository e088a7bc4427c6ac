/**
 * Decides where this engine's graphs run (child side): on a graphics card, if it computes correctly, or on the CPU. A
 * process that has failed to start CUDA may hold a part of the card's memory or hang in its driver: it ends with the
 * reason as its last words, and the server starts another that does not try.
 */
import { briefly } from '../../onnx/device.ts'
import type { DeviceMemory } from '../../onnx/back-end.ts'

export interface DeviceWish {
  /** Among the cards that CUDA shows this process; null: the CPU. */
  cudaId: number | null
  /** Folder with ONNX Runtime and its CUDA provider; null: none is needed. */
  cudaDir: string | null
  /** Most that models may take in all; null: a share of the card's. */
  modelMemoryBytes: number | null
  tf32: boolean
}

export interface Device {
  /** `cpu`, or `cuda:N`. */
  name: string
  /** Memory of the card; null: there is none. */
  memory: (() => DeviceMemory) | null
  /** Most that models may take in all; null: as on any CPU. */
  modelMemoryBytes: number | null
}

/** Two engines may share a card, and a screen may hang on it, too. */
const cardShare = 0.4

/** @throws Error with the reason why the device is unavailable */
export async function openDevice({ cudaId, cudaDir, modelMemoryBytes, tf32 }: DeviceWish): Promise<Device> {
  if (cudaId === null || cudaDir === null) return { name: 'cpu', memory: null, modelMemoryBytes }
  const { useCuda } = await import('../../onnx/back-end.ts')
  const memory = await useCuda({ id: cudaId, dir: cudaDir, memoryBytes: modelMemoryBytes, tf32 }).catch(inBrief)
  const bytes = modelMemoryBytes ?? Math.floor(cardShare * memory().totalBytes)
  return { name: `cuda:${cudaId}`, memory, modelMemoryBytes: bytes }
}

function inBrief(cause: unknown): never {
  throw new Error(briefly(cause instanceof Error ? cause.message : String(cause)), { cause })
}
