/**
 * The process behind tests of the engine: the real worker loop over the test voice and listener. Its one argument is
 * JSON, `TestEngine`; `testEngineCommand` makes the command line.
 */
import type { Task } from '../domain/card.ts'
import { runEngine } from '../engine/child/worker.ts'
import { listenerCards, loadListener } from './test-listener.ts'
import { load, loadFull, loadMissing, loadSlow, testCards } from './test-voice.ts'

export interface TestEngine {
  task: Task
  parentPid: number
  /** Default 1. */
  workers?: number
  /** Default 0: models are kept forever. */
  keepAliveMs?: number
  /** Default 100 MB. */
  modelMemoryBytes?: number
  /** Default 10 s. */
  roomWaitMs?: number
  /** The device that it reports; default cpu. Its graphs always run on the CPU. */
  device?: string
  deviceReason?: string
  deviceMemory?: { usedBytes: number; totalBytes: number }
  /**
   * `crash`: prints an error and ends before it is ready; `mute`: never becomes ready; `chatty`: prints a few lines
   * first.
   */
  start?: 'crash' | 'mute' | 'chatty'
  /** The number of lines of `chatty`, one every 150 ms. Default 3. */
  chattyLines?: number
}

/** @param parentPid the process that will start it */
export const testEngineCommand = (options: Partial<TestEngine> = {}): string[] => {
  const full: TestEngine = { task: 'text-to-speech', parentPid: process.pid, ...options }
  return [process.execPath, import.meta.path, JSON.stringify(full)]
}

async function main(options: TestEngine): Promise<void> {
  const { task, parentPid, workers = 1, keepAliveMs = 0, start, chattyLines = 3 } = options
  const { modelMemoryBytes = 100_000_000, roomWaitMs = 10_000 } = options
  const { device = 'cpu', deviceReason = null, deviceMemory = null } = options
  if (start === 'crash') {
    console.error('libcudart.so.13: cannot open shared object file')
    process.exit(3)
  }
  if (start === 'mute') return void setInterval(() => {}, 1000)
  for (let line = 0; start === 'chatty' && line < chattyLines; line++) {
    console.error(`read ${line}`)
    await Bun.sleep(150)
  }
  runEngine({
    task,
    cards: () => [...testCards, ...listenerCards],
    speechArchitectures: {
      test: async () => ({ load }),
      'test-missing': async () => ({ load: loadMissing }),
      'test-full': async () => ({ load: loadFull }),
      'test-slow': async () => ({ load: loadSlow }),
    },
    transcriptionArchitectures: {
      test: async () => ({ load: loadListener }),
      'test-missing': async () => ({ load: loadMissing }),
    },
    filesDir: () => null,
    pronunciations: null,
    workers,
    keepAliveMs,
    modelMemoryBytes,
    roomWaitMs,
    device,
    deviceReason,
    deviceMemory: deviceMemory === null ? null : () => deviceMemory,
    parentPid,
  })
}

if (import.meta.main) await main(JSON.parse(Bun.argv[2] ?? '{}') as TestEngine)
