/** The engines of a server, one for each task: how each is started, and what of the machine it may have. */
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { childEnv, type Config } from '../config.ts'
import type { Task } from '../domain/card.ts'
import { EngineClient } from '../engine/client.ts'
import type { Log } from '../log.ts'
import { parseLexicon } from '../text/lexicon.ts'
import { engineArguments, ownProgram } from './engine.ts'
import { defaultModelMemoryBytes } from './memory-limit.ts'
import { modelsFolder } from './models-here.ts'
import { Failure } from './terminal.ts'

/** More threads make no model faster, for all wait for each other at every step. */
const speechThreadsMax = 4
const transcriptionThreadsMax = 8

/**
 * A window is one call to a recogniser's encoder. Whisper's largest computes 2.3e12 operations in it: 40 s on two cores
 * that were measured to do 6e10 a second.
 */
const transcriptionPatience = 4

/** @throws Failure when the device or the user's dictionary cannot be had */
export const speechEngine = (config: Config, log: Log): EngineClient =>
  engineOf('text-to-speech', config, log, {
    workers: config.voiceWorkers || Math.min(speechThreadsMax, availableParallelism()),
    stallMs: config.engineStallMs,
    pronunciations: pronunciationsOf(config),
  })

/** Nothing of it runs before it is first used. @throws Failure when the device cannot be had */
export const transcriptionEngine = (config: Config, log: Log): EngineClient =>
  engineOf('automatic-speech-recognition', config, log, {
    workers: config.transcriptionThreads || Math.min(transcriptionThreadsMax, availableParallelism()),
    stallMs: transcriptionPatience * config.engineStallMs,
    pronunciations: null,
  })

interface Difference {
  workers: number
  stallMs: number
  pronunciations: string | null
}

function engineOf(task: Task, config: Config, log: Log, { stallMs, ...share }: Difference): EngineClient {
  if (config.device !== 'auto' && config.device !== 'cpu') {
    const why = 'this build of ONNX Runtime has no CUDA; use --device auto or cpu'
    throw new Failure(`--device ${config.device} cannot be had: ${why}.`, 'no_device')
  }
  const settings = {
    ...share,
    task,
    parentPid: process.pid,
    keepAliveMs: config.keepAliveMs,
    modelMemoryBytes: config.modelMemoryBytes || defaultModelMemoryBytes(),
    roomWaitMs: config.queueWaitMs,
    nativeDir: config.nativeDir,
    modelsDir: modelsFolder(config).path,
  }
  return new EngineClient({
    task,
    command: [...ownProgram(), ...engineArguments(settings)],
    env: childEnv(),
    readyMs: config.engineReadyMs,
    stallMs,
    loadMs: config.engineLoadMs,
    log: (line) => log.info(line),
  })
}

/** The user's dictionary, if there is one. @throws Failure naming the file and the line that cannot be read */
function pronunciationsOf(config: Config): string | null {
  const path = config.pronunciations || join(config.dataDir, 'pronunciations.txt')
  if (config.pronunciations === '' && !existsSync(path)) return null
  try {
    parseLexicon(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new Failure(`The pronunciations in ${path} cannot be read: ${(error as Error).message}`, 'bad_pronunciations')
  }
  return path
}
