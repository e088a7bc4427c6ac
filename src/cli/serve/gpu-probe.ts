/**
 * The hidden subcommand in which NVIDIA's driver is asked which devices there are, and the asking: whatever the driver
 * does, ends the process or never comes back, it does so to that process alone.
 */
import { Command } from 'commander'
import { childEnv, type Config } from '../../config.ts'
import { openDriver, type Probe, probeGpus } from '../../cuda/gpu-probe.ts'
import { cudaRelease } from '../../cuda/release.ts'
import { type RuntimeStatus, runtimeStatus } from '../../cuda/status.ts'
import { onnxRuntimeVersion } from '../../embedded/onnx-runtime.ts'
import { ownProgram } from './engine.ts'

const commandName = 'gpu-probe'
/** Waking up an idle card takes some seconds, for each card. */
const answerMs = 30_000

export const gpuProbeCommand = (): Command =>
  new Command(commandName).argument('<library>', 'libcuda.so.1').action((library: string) => {
    process.stdout.write(JSON.stringify(probeGpus(() => openDriver(library))))
  })

/** @param program what starts this program @returns an answer, whatever becomes of the process that asks */
export async function askDriver(library: string, program = ownProgram()): Promise<Probe> {
  const child = Bun.spawn([...program, commandName, library], {
    env: childEnv(),
    stdout: 'pipe',
    stderr: 'ignore',
    timeout: answerMs,
    killSignal: 'SIGKILL',
  })
  const text = await new Response(child.stdout).text()
  await child.exited
  const nothing = (error: string): Probe => ({
    cuda: null,
    gpus: [],
    error,
    remedy: 'Look at the output of nvidia-smi; reinstall the driver, or restart the machine.',
  })
  if (child.signalCode === 'SIGKILL') return nothing(`the driver did not answer within ${answerMs / 1000} s`)
  if (child.signalCode !== null) return nothing(`the driver crashes the process that asks it (${child.signalCode})`)
  try {
    return JSON.parse(text) as Probe
  } catch {
    return nothing('asking the driver failed without an answer')
  }
}

/** What is installed, what the driver reports, and whether models can run there. */
export const gpuStatus = ({ dataDir }: Pick<Config, 'dataDir'>): Promise<RuntimeStatus> =>
  runtimeStatus({
    dataDir,
    onnxRuntime: onnxRuntimeVersion,
    cudaOnnxRuntime: cudaRelease.onnxRuntime,
    root: '/',
    probe: (library) => askDriver(library),
  })
