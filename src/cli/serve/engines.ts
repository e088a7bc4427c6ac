/** The engines of a server, one for each task and device: how each is started, and what of the machine it may have. */
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { cards } from '../../catalog/cards.ts'
import { childEnv, type Config } from '../../config.ts'
import type { Task } from '../../domain/card.ts'
import { EngineClient, type EngineClientOptions } from '../../engine/client.ts'
import { EnginePool } from '../../engine/pool.ts'
import type { Launch } from '../../engine/supervisor.ts'
import type { Log } from '../../log.ts'
import type { Speeds } from '../../service/speeds.ts'
import { parseLexicon } from '../../text/lexicon.ts'
import type { Devices } from './devices.ts'
import { engineArguments, type EngineDevice, ownProgram } from './engine.ts'
import { modelsFolder } from '../models/local.ts'
import { Failure } from '../terminal/terminal.ts'

/** More threads do not make a model faster, because all wait for each other at every step. */
const speechThreadsMax = 4
const transcriptionThreadsMax = 8

/**
 * A window is one call to a recogniser's encoder. Whisper's largest computes 2.3e12 operations in it: 40 s on two cores
 * that were measured to do 6e10 a second.
 */
const transcriptionPatience = 4

/** A piece of speech may take so many times what it takes at the measured speed: the machine may have become slow. */
const patience = 20
/** The architecture whose sound is the same to the bit each time, on one machine: others draw random numbers. */
const repeating = 'hibari'
/** Sound of one piece, at most; and of a character, where it is read by its name. */
const longestPieceMs = 30_000
const msPerChar = 200
/** Of a model that has not spoken here yet. */
const unknownSpeed = 0.1

/** The driver may have to compile the provider's kernels for a card that is newer than they are. */
const cudaReadyMs = 120_000

/** @throws Failure when the user's dictionary cannot be read */
export const speechEngine = (config: Config, devices: Devices, log: Log, speeds?: () => Speeds): EnginePool =>
  enginesOf('text-to-speech', config, devices, log, {
    ...(speeds && {
      repeats: ({ model }) => cards.some(({ id, architecture }) => id === model && architecture === repeating),
      onPace: (model, steps) => speeds().note(model, steps),
      patienceMs: ({ model, text }) => {
        const soundMs = Math.min(longestPieceMs, 1000 + msPerChar * text.length)
        return (patience * soundMs) / (speeds().all.get(model)?.speed ?? unknownSpeed)
      },
    }),
    workers: config.voiceWorkers || Math.min(speechThreadsMax, availableParallelism()),
    stallMs: config.engineStallMs,
    pronunciations: pronunciationsOf(config),
  })

/** Nothing of it runs before it is first used. */
export const transcriptionEngine = (config: Config, devices: Devices, log: Log): EnginePool =>
  enginesOf('automatic-speech-recognition', config, devices, log, {
    workers: config.transcriptionThreads || Math.min(transcriptionThreadsMax, availableParallelism()),
    stallMs: transcriptionPatience * config.engineStallMs,
    pronunciations: null,
  })

interface Difference extends Pick<EngineClientOptions, 'onPace' | 'patienceMs' | 'repeats'> {
  workers: number
  stallMs: number
  pronunciations: string | null
}

function enginesOf(
  task: Task,
  config: Config,
  devices: Devices,
  log: Log,
  { stallMs, onPace, patienceMs, repeats, ...share }: Difference,
): EnginePool {
  const settings = {
    ...share,
    task,
    parentPid: process.pid,
    keepAliveMs: config.keepAliveMs,
    modelMemoryBytes: config.modelMemoryBytes || null,
    roomWaitMs: config.queueWaitMs,
    nativeDir: config.nativeDir,
    modelsDir: modelsFolder(config).path,
  }
  const launch = (device: EngineDevice, env: Record<string, string>): Launch => ({
    command: [...ownProgram(), ...engineArguments({ ...settings, device })],
    env,
  })
  const limits = {
    stallMs,
    loadMs: config.engineLoadMs,
    log: (line: string) => log.info(line),
    warn: log.warn,
    ...(onPace && { onPace }),
    ...(patienceMs && { patienceMs }),
    ...(repeats && { repeats }),
  }
  if (devices.kind === 'cpu') {
    const [device] = devices.devices
    return new EnginePool([
      new EngineClient({ task, ...launch(device, childEnv()), ...limits, readyMs: config.engineReadyMs }),
    ])
  }
  const members = devices.devices.map((device) => {
    const onCpu = (reason: string) => launch({ kind: 'cpu', reason: `cuda:${device.id}: ${reason}` }, childEnv())
    return new EngineClient({
      task,
      ...launch(device, { ...childEnv(), LD_LIBRARY_PATH: devices.libraryPath }),
      ...(devices.mayFallBack && { fallBack: onCpu }),
      ...limits,
      readyMs: Math.max(cudaReadyMs, config.engineReadyMs),
    })
  })
  return new EnginePool(members)
}

/**
 * If a card is to be used, the self-test shows whether it can be, before anything is reported. Engines that may do so
 * fall back to the CPU by themselves.
 * @throws Failure if one was requested by name and computes wrong results
 */
export async function tryCards(devices: Devices, engines: EnginePool, log: Pick<Log, 'warn'>): Promise<void> {
  if (devices.kind === 'cpu') return
  try {
    await engines.start()
  } catch {
    const status = (await engines.engines()).find(({ lastError }) => lastError !== null)
    const why = status?.lastError ?? 'the engine did not start'
    const remedy = 'See myna runtime status, or let --device auto choose the CPU.'
    throw new Failure(`The graphics card cannot be used: ${why}. ${remedy}`, 'no_device')
  }
  for (const { device, deviceReason } of await engines.engines()) {
    if (deviceReason !== null)
      log.warn(`an engine runs on ${device}, not on its graphics card`, { cause: deviceReason })
  }
}

/** Whether models run on graphics cards; until engines report otherwise, where they are meant to run. */
export const areOnCard = (devices: Devices, engines: EnginePool): boolean => devices.kind === 'cuda' && !engines.isOnCpu

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
