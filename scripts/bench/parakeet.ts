/**
 * How fast Parakeet transcribes in its published size. Its weights are not in the repository, so the graphs have random
 * ones (`scripts/fullsize-parakeet.py`): time and memory do not depend on the values of weights.
 */
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { cardOf } from '../../src/models/parakeet/graphs.fixture.ts'
import { load } from '../../src/models/parakeet/pipeline.ts'
import { FfiSession } from '../../src/onnx/ffi/session.ts'
import { printTable } from './figures.ts'
import { talk } from './talk.ts'

const never = new AbortController().signal
/** The longest comes last: memory grows with the length of a window, and must not grow after that. */
const windowsS = [5, 10, 20]

export async function measureParakeet(folder: string | undefined, soundS: number): Promise<object> {
  const kinds = (['int8', 'fp32'] as const).filter(
    (kind) => folder !== undefined && existsSync(join(folder, kind, 'vocab.txt')),
  )
  if (folder === undefined || kinds.length === 0) {
    console.log(
      '\nParakeet: skipped, for there are no graphs. scripts/fullsize-parakeet.py makes them; --models FOLDER',
    )
    return { skipped: true }
  }
  const records = []
  for (const kind of kinds) records.push({ kind, ...(await measureOne(join(folder, kind), kind, soundS)) })
  const times = ['graphs', 'threads', 'load s', ...windowsS.map((s) => `${s} s`), 'CPU ms per s', 'in the runtime']
  printTable('Parakeet TDT 0.6b, random weights: s of sound per s, by the length of windows', [
    times,
    ...records.map(({ kind, threads, loadS, perSecond, cpuMs, runtimeShare }) => {
      return [kind, threads, loadS, ...perSecond, cpuMs, `${Math.round(100 * runtimeShare)}%`]
    }),
  ])
  printTable(`Its memory in MB, over ${soundS} s of sound in windows of ${windowsS.at(-1)} s`, [
    ['graphs', 'loaded', 'first window', 'last window'],
    ...records.map(({ kind, megabytes }) => [kind, ...megabytes]),
  ])
  return records
}

async function measureOne(filesDir: string, weights: 'int8' | 'fp32', soundS: number) {
  const threads = availableParallelism()
  const megabytes = () => process.memoryUsage.rss() / 1e6
  const beganMs = performance.now()
  const model = await load({ card: { ...cardOf('en'), weights }, filesDir, pronunciations: null, workers: threads })
  const loadS = (performance.now() - beganMs) / 1000
  const memory = [megabytes()]
  const input = { task: 'transcribe', language: null, prompt: null, temperature: 0, words: true } as const
  const transcribing = model.begin(input)
  const sound = await talk()
  const runtime = timeRuntime()
  const perSecond: number[] = []
  let cpuMs = 0
  let wholeMs = 0
  try {
    for (const windowS of windowsS) {
      const samples = windowS * model.sampleRateHz
      const isLast = windowS === windowsS.at(-1)
      const cpu = process.cpuUsage()
      const startMs = performance.now()
      let heardS = 0
      for (let at = 0; heardS < soundS; heardS += windowS, at = (at + samples) % (sound.length - samples)) {
        await transcribing.hear(sound.slice(at, at + samples), never)
        if (isLast && heardS === 0) memory.push(megabytes())
      }
      const spentMs = performance.now() - startMs
      const { user, system } = process.cpuUsage(cpu)
      wholeMs += spentMs
      perSecond.push((1000 * heardS) / spentMs)
      cpuMs = (user + system) / 1e3 / heardS
    }
    memory.push(megabytes())
  } finally {
    runtime.stop()
    await model.unload()
  }
  return { threads, loadS, perSecond, cpuMs, runtimeShare: runtime.spentMs() / wholeMs, megabytes: memory }
}

/** Measures the time of everything that ONNX Runtime runs in this process. */
function timeRuntime(): { stop(): void; spentMs(): number } {
  const original = FfiSession.prototype.run
  let spentMs = 0
  FfiSession.prototype.run = async function (feeds, signal) {
    const startMs = performance.now()
    const results = await original.call(this, feeds, signal)
    spentMs += performance.now() - startMs
    return results
  }
  return { stop: () => void (FfiSession.prototype.run = original), spentMs: () => spentMs }
}
