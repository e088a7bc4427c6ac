/** Finds what `--device` needs to know about CUDA on this machine, without loading any of it into this process. */
import { childEnv, type Config } from '../../config.ts'
import { cudaRuntime } from '../../cuda/installed.ts'
import { cudaRelease } from '../../cuda/release.ts'
import type { Cuda } from './devices.ts'
import { gpuStatus } from './gpu-probe.ts'

export async function findCuda(config: Pick<Config, 'dataDir'>): Promise<Cuda> {
  const { trouble, probe } = await gpuStatus(config)
  if (trouble !== null) return { missing: trouble.message, remedy: trouble.remedy }
  const runtime = cudaRuntime(config.dataDir, cudaRelease.onnxRuntime, childEnv().LD_LIBRARY_PATH ?? '')
  if ('missing' in runtime) return { ...runtime, remedy: 'See myna runtime status.' }
  return { ...runtime, cards: probe?.gpus.length ?? 0 }
}
