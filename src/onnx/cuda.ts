/**
 * Graphs on an NVIDIA card, by ONNX Runtime's CUDA provider. What a graph computes there stays there until it is wanted
 * here: the states of loops never cross the bus.
 */
import type { Pointer } from 'bun:ffi'
import type { CreateSession } from './session.ts'
import { verifyLoops } from './selftest.ts'
import { type CudaOptions, deviceFailure } from './device.ts'
import { OrtApi } from './ffi/api.ts'
import { CudaDriver } from './cuda-driver.ts'
import type { FfiDevice } from './ffi/device.ts'
import { CNames } from './ffi/names.ts'
import { createFfiSessionOn } from './ffi/session.ts'

export interface Cuda {
  create: CreateSession
  version: string
  /** Makes runs release unused memory of the card after loops have ended; called once runs have worked. */
  shrink(): Promise<void>
  /** Of the card: used by all programs, and in all. */
  memory(): { usedBytes: number; totalBytes: number }
}

/**
 * Loads the runtime; nothing has been computed yet.
 * @throws Error in the words of the loader, of ONNX Runtime or of the driver
 */
export function openCuda(options: CudaOptions, api: OrtApi): Cuda {
  // Loads the provider, and reports why if it cannot; appending it would only fail without a reason.
  const provider = providerOptions(api, options)
  const driver = new CudaDriver(options.id)
  const device: FfiDevice = {
    name: `cuda:${options.id}`,
    prepare: (session) => api.check(api.call.SessionOptionsAppendExecutionProvider_CUDA_V2(session, provider)),
    memory: deviceMemory(api, options.id),
    shrinking: api.cpu.shrinking,
    download: (target, address) => driver.download(target, address),
  }
  const create: CreateSession = (model, settings) =>
    createFfiSessionOn(api, settings.onCpu ? api.cpu : device, model, settings)
  const shrink = () => shrinkBy(api.shrinkingOptions(`cpu:0;gpu:${options.id}`), device, create)
  return { create, version: api.version, shrink, memory: () => driver.memory() }
}

/** What a run fails to release stays for later runs: not a reason to give up the card. */
export async function shrinkBy(options: Pointer, device: FfiDevice, create: CreateSession): Promise<void> {
  const last = device.shrinking
  device.shrinking = options
  try {
    await verifyLoops(create)
  } catch (error) {
    if (deviceFailure(error) !== null) throw error
    device.shrinking = last
    console.error(`memory of ${device.name} is kept between requests: ${(error as Error).message}`)
  }
}

/** @returns `OrtCUDAProviderOptionsV2 *`, which is kept for as long as the process lives */
function providerOptions(api: OrtApi, options: CudaOptions): Pointer {
  const made = api.made((out) => api.call.CreateCUDAProviderOptions(out))
  const settings = providerSettings(options)
  const [keys, values] = [new CNames(Object.keys(settings)), new CNames(Object.values(settings))]
  api.check(api.call.UpdateCUDAProviderOptions(made, keys.addresses, values.addresses, keys.addresses.length))
  return made
}

/**
 * By name (cuda_execution_provider_info.cc).
 *
 * Memory grows by doubling, up to the limit. Grown by what is asked for, a cache that is a little larger at each step
 * never fits into what the steps before it left: 1.7 GB for one that ends with 7 MB after 448 steps, measured with the
 * same allocator on a CPU, and 24 MB by doubling. Algorithms of convolutions are chosen by rule: the default tries all
 * of them for every new shape, and each sentence has another length. Copies wait for their turn in the stream that
 * computes.
 */
export const providerSettings = ({ id, memoryBytes, tf32 }: CudaOptions): Record<string, string> => ({
  device_id: String(id),
  ...(memoryBytes !== null && { gpu_mem_limit: String(memoryBytes) }),
  arena_extend_strategy: 'kNextPowerOfTwo',
  cudnn_conv_algo_search: 'HEURISTIC',
  do_copy_in_default_stream: '1',
  use_tf32: tf32 ? '1' : '0',
})

function deviceMemory(api: OrtApi, id: number): Pointer {
  const [deviceAllocator, defaultMemory] = [0, 0]
  return api.made((out) => api.call.CreateMemoryInfo('Cuda', deviceAllocator, id, defaultMemory, out))
}
