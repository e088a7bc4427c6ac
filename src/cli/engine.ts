/** The hidden subcommand that an engine child is: the same executable, started by the server, spoken to over IPC. */
import { readFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { Command } from 'commander'
import { ModelsFolder } from '../catalog/models-folder.ts'
import type { Card, Task } from '../domain/card.ts'
import { setNativeDir } from '../engine/native.ts'
import { wholeNumber } from './globals.ts'

export const engineCommandName = 'engine'

/** What starts this very program again, also when its file has been replaced by an upgrade since. */
export const ownProgram = (): string[] =>
  Bun.isStandaloneExecutable ? ['/proc/self/exe'] : [process.execPath, Bun.main]

/** What the server tells its child; on the command line, so that `ps` shows how an engine was started. */
export interface EngineSettings {
  task: Task
  parentPid: number
  keepAliveMs: number
  workers: number
  /** That models may take in all. */
  modelMemoryBytes: number
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
  ...['--parent', String(settings.parentPid)],
  ...['--keep-alive-ms', String(settings.keepAliveMs)],
  ...['--workers', String(settings.workers)],
  ...['--model-memory', String(settings.modelMemoryBytes)],
  ...['--room-wait-ms', String(settings.roomWaitMs)],
  ...['--native-dir', settings.nativeDir],
  ...['--models', settings.modelsDir],
  ...(settings.pronunciations === null ? [] : ['--pronunciations', settings.pronunciations]),
]

interface EngineFlags {
  parent: number
  keepAliveMs: number
  workers: number
  modelMemory: number
  roomWaitMs: number
  nativeDir: string
  models: string
  pronunciations?: string
}

/** @param cards the models that it may load */
export const engineCommand = (cards: readonly Card[]): Command =>
  new Command(engineCommandName)
    .description('one engine; started by the server')
    .argument('<task>')
    .requiredOption('--parent <pid>', 'the server', wholeNumber)
    .requiredOption('--keep-alive-ms <n>', 'an unused model is unloaded after this', wholeNumber)
    .requiredOption('--workers <n>', 'threads of a model', wholeNumber)
    .requiredOption('--model-memory <bytes>', 'that models may take in all', wholeNumber)
    .requiredOption('--room-wait-ms <n>', 'how long a model waits for the memory of others', wholeNumber)
    .requiredOption('--native-dir <dir>', 'where native libraries are unpacked')
    .requiredOption('--models <dir>', 'where models are installed')
    .option('--pronunciations <file>', "the user's pronunciation dictionary")
    .action(async (task: Task, flags: EngineFlags) => {
      if (task === 'automatic-speech-recognition') giveWay()
      setNativeDir(flags.nativeDir)
      const folder = new ModelsFolder(flags.models)
      const builtIn = new Set(cards.filter((card) => card.builtIn).map(({ id }) => id))
      const { runEngine } = await import('../engine/worker.ts')
      const { speechArchitectures, transcriptionArchitectures } = await import('../models/registry.ts')
      runEngine({
        task,
        cards,
        speechArchitectures,
        transcriptionArchitectures,
        filesDir: (cardId) => (builtIn.has(cardId) ? null : folder.model(cardId)),
        pronunciations: flags.pronunciations === undefined ? null : readFileSync(flags.pronunciations, 'utf8'),
        workers: flags.workers,
        keepAliveMs: flags.keepAliveMs,
        modelMemoryBytes: flags.modelMemory,
        roomWaitMs: flags.roomWaitMs,
        device: 'cpu',
        deviceReason: null,
        parentPid: flags.parent,
      })
      // The channel to the server keeps the process; the command itself never returns.
      await new Promise(() => {})
    })

/**
 * Both engines may use every core. Speech is listened to while it is made, a transcript is waited for as a whole: it
 * takes what speech leaves. On two cores that it kept busy, the first audio took 0.3 s instead of 0.8 s. Called before
 * threads are started, for they inherit it.
 */
function giveWay(): void {
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // A sandbox may forbid it: then both are served alike.
  }
}
