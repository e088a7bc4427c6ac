/** Real engines on real devices, for measurements that compare them. */
import { rmSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { cards } from '../../src/catalog/cards.ts'
import { ModelsFolder } from '../../src/catalog/models-folder.ts'
import { type EngineDevice, engineArguments } from '../../src/cli/serve/engine.ts'
import { childEnv } from '../../src/config.ts'
import type { Card, Task } from '../../src/domain/card.ts'
import { EngineClient } from '../../src/engine/client.ts'
import { cudaRuntime } from '../../src/cuda/installed.ts'
import { cudaRelease } from '../../src/cuda/release.ts'
import { temporaryFolder } from './subject.ts'

const source = [process.execPath, join(import.meta.dir, '..', '..', 'src', 'main.ts')]
const patienceMs = 600_000

export interface Bench {
  /** The command that starts the program. */
  program: readonly string[]
  models: ModelsFolder
  /** The installed models, with or without the published weights. */
  cards: readonly Card[]
  /** Removes what was made for it. */
  remove(): void
}

/** @param given lines `CARD=FOLDER` @param executable null: from source @throws Error naming what is not a card */
export async function benchOf(given: readonly string[], executable: string | null): Promise<Bench> {
  const folder = temporaryFolder()
  const models = new ModelsFolder(join(folder, 'models'))
  await models.make()
  const found = given.map((pair) => {
    const [id = '', files = ''] = pair.split('=')
    const card = cards.find((known) => known.id === id)
    if (card === undefined || files === '') throw new Error(`--model ${pair}: it is CARD=FOLDER`)
    symlinkSync(resolve(files), models.model(id))
    return card
  })
  const remove = () => rmSync(folder, { recursive: true })
  return { program: executable === null ? source : [resolve(executable)], models, cards: found, remove }
}

export interface Device {
  name: string
  device: EngineDevice
  env: Record<string, string>
}

export const cpu: Device = { name: 'cpu', device: { kind: 'cpu', reason: null }, env: childEnv() }

/** @param dataDir where `myna runtime pull cuda` has put CUDA @throws Error that names what is missing */
export function cudaDevice(id: number, dataDir: string, tf32: boolean): Device {
  const runtime = cudaRuntime(dataDir, cudaRelease.onnxRuntime, childEnv().LD_LIBRARY_PATH)
  if ('missing' in runtime) throw new Error(runtime.missing)
  const device = { kind: 'cuda', id, dir: runtime.dir, tf32 } as const
  return { name: `cuda:${id}`, device, env: { ...childEnv(), LD_LIBRARY_PATH: runtime.libraryPath } }
}

/** @param keepAliveMs 0: models stay */
export function engineOn(
  { device, env }: Device,
  { program, models }: Bench,
  task: Task,
  keepAliveMs = 0,
): EngineClient {
  const settings = {
    task,
    device,
    keepAliveMs,
    parentPid: process.pid,
    modelMemoryBytes: null,
    pronunciations: null,
    workers: 4,
    roomWaitMs: 20_000,
    nativeDir: join(models.path, '..', 'native'),
    modelsDir: models.path,
  }
  return new EngineClient({
    task,
    env,
    readyMs: patienceMs,
    stallMs: patienceMs,
    loadMs: patienceMs,
    command: [...program, ...engineArguments(settings)],
    log: (line) => console.error(`  ${line.slice(0, 300)}`),
  })
}

export interface CardFacts {
  name: string
  driver: string
  usedMb: number
}

/** As the driver's own tool reports; null: there is none. */
export async function cardFacts(id: number): Promise<CardFacts | null> {
  const tool = Bun.which('nvidia-smi')
  if (tool === null) return null
  const query = ['--query-gpu=name,driver_version,memory.used', '--format=csv,noheader,nounits', `--id=${id}`]
  const run = Bun.spawn([tool, ...query], { stdout: 'pipe', stderr: 'ignore' })
  const [name = '', driver = '', used = ''] = (await new Response(run.stdout).text()).trim().split(/,\s*/)
  return name === '' ? null : { name, driver, usedMb: Number(used) * 1.048_576 }
}
