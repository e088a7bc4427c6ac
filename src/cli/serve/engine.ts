/** The hidden subcommand that an engine child is: the same executable, started by the server, spoken to over IPC. */
import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { ModelsFolder } from '../../catalog/models-folder.ts'
import { OwnModels } from '../../catalog/own.ts'
import type { Card, Task } from '../../domain/card.ts'
import type { Device } from '../../engine/child/device.ts'
import { setNativeDir } from '../../engine/native.ts'
import { wholeNumber } from '../globals.ts'
import { defaultModelMemoryBytes } from './memory-limit.ts'

const engineCommandName = 'engine'

/** Starts this very program again, even if its file has been replaced by an upgrade since. */
export const ownProgram = (): string[] =>
  Bun.isStandaloneExecutable ? ['/proc/self/exe'] : [process.execPath, Bun.main]

/** Among the cards that CUDA shows to the child. */
export interface CudaDevice {
  kind: 'cuda'
  id: number
  /** Folder with ONNX Runtime and its CUDA provider. */
  dir: string
  tf32: boolean
}

export interface CpuDevice {
  kind: 'cpu'
  /** Why it is the CPU; null: it was requested. */
  reason: string | null
}

export type EngineDevice = CpuDevice | CudaDevice

/** What the server passes to its child; on the command line, so that `ps` shows how an engine was started. */
export interface EngineSettings {
  task: Task
  parentPid: number
  keepAliveMs: number
  workers: number
  /** Where models run. */
  device: EngineDevice
  /** Memory for all models; null: a share of what the device has. */
  modelMemoryBytes: number | null
  roomWaitMs: number
  nativeDir: string
  /** Where models are installed. */
  modelsDir: string
  /** A file; null: the user has no dictionary. */
  pronunciations: string | null
}

export const engineArguments = (settings: EngineSettings): string[] => [
  engineCommandName,
  settings.task,
  '--parent',
  String(settings.parentPid),
  '--keep-alive-ms',
  String(settings.keepAliveMs),
  '--workers',
  String(settings.workers),
  ...deviceArguments(settings.device),
  ...(settings.modelMemoryBytes === null ? [] : ['--model-memory', String(settings.modelMemoryBytes)]),
  '--room-wait-ms',
  String(settings.roomWaitMs),
  '--native-dir',
  settings.nativeDir,
  '--models',
  settings.modelsDir,
  ...(settings.pronunciations === null ? [] : ['--pronunciations', settings.pronunciations]),
]

const deviceArguments = (device: EngineDevice): string[] =>
  device.kind === 'cpu'
    ? device.reason === null
      ? []
      : ['--cpu-because', device.reason]
    : ['--cuda', String(device.id), '--cuda-dir', device.dir, ...(device.tf32 ? ['--tf32'] : [])]

interface EngineFlags {
  parent: number
  keepAliveMs: number
  workers: number
  cpuBecause?: string
  cuda?: number
  cudaDir?: string
  tf32?: boolean
  modelMemory?: number
  roomWaitMs: number
  nativeDir: string
  models: string
  pronunciations?: string
}

/** @param cards the models that it may load */
export const engineCommand = (cards: readonly Card[]): Command =>
  new Command(engineCommandName)
    .argument('<task>')
    .requiredOption('--parent <pid>', 'the server', wholeNumber)
    .requiredOption('--keep-alive-ms <n>', 'an unused model is unloaded after this time', wholeNumber)
    .requiredOption('--workers <n>', 'threads of a model', wholeNumber)
    .option('--cpu-because <reason>', 'why models run on the CPU, if the CPU was not asked for')
    .option('--cuda <n>', 'the graphics card that models run on', wholeNumber)
    .option('--cuda-dir <dir>', 'ONNX Runtime and its CUDA provider')
    .option('--tf32', 'float32 products may be computed with a 10-bit mantissa')
    .option('--model-memory <bytes>', 'memory for all models', wholeNumber)
    .requiredOption('--room-wait-ms <n>', 'how long a model waits for other models to free memory', wholeNumber)
    .requiredOption('--native-dir <dir>', 'where native libraries are unpacked')
    .requiredOption('--models <dir>', 'where models are installed')
    .option('--pronunciations <file>', "the user's pronunciation dictionary")
    .action(async (task: Task, flags: EngineFlags) => {
      setNativeDir(flags.nativeDir)
      const folder = new ModelsFolder(flags.models)
      const own = new OwnModels(folder, cards)
      const builtIn = new Set(cards.filter((card) => card.builtIn).map(({ id }) => id))
      const { runEngine } = await import('../../engine/child/worker.ts')
      const device = await deviceOf(flags)
      const { speechArchitectures, transcriptionArchitectures } = await import('../../models/registry.ts')
      runEngine({
        task,
        cards: () => [...cards, ...own.cards()],
        speechArchitectures,
        transcriptionArchitectures,
        filesDir: (cardId) => (builtIn.has(cardId) ? null : folder.model(cardId)),
        pronunciations: flags.pronunciations === undefined ? null : readFileSync(flags.pronunciations, 'utf8'),
        workers: flags.workers,
        keepAliveMs: flags.keepAliveMs,
        modelMemoryBytes: device.modelMemoryBytes ?? defaultModelMemoryBytes(),
        roomWaitMs: flags.roomWaitMs,
        device: device.name,
        deviceReason: flags.cpuBecause ?? null,
        deviceMemory: device.memory,
        parentPid: flags.parent,
      })
      // The channel to the server keeps the process; the command itself never returns.
      await new Promise(() => {})
    })

/** Ends this process, with the reason in brief as its last line, when its device is unavailable. */
async function deviceOf({ cuda, cudaDir, tf32, modelMemory }: EngineFlags): Promise<Device> {
  const { openDevice } = await import('../../engine/child/device.ts')
  const wish = { cudaId: cuda ?? null, cudaDir: cudaDir ?? null, tf32: tf32 ?? false }
  try {
    return await openDevice({ ...wish, modelMemoryBytes: modelMemory ?? null })
  } catch (error) {
    const { message, cause } = error as Error
    if (cause instanceof Error && cause.message !== message) console.error(cause.message)
    console.error(message)
    return process.exit(1)
  }
}
