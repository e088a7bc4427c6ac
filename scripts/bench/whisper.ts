/**
 * How fast Whisper hears in its published sizes. Its weights are not in the repository, so the graphs have random ones
 * (`scripts/fullsize-whisper.py`): time and memory do not depend on what weights say. Each window of half a minute is
 * heard once and written in a hundred tokens, as speech is.
 */
import { existsSync, readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { TranscriptionInput } from '../../src/models/architecture.ts'
import { FfiLoop } from '../../src/models/session-ffi-loop.ts'
import { FfiSession } from '../../src/models/session-ffi.ts'
import { smallCard } from '../../src/models/whisper/model.fixture.ts'
import { load } from '../../src/models/whisper/pipeline.ts'
import { printTable } from './figures.ts'
import { talk } from './talk.ts'

const never = new AbortController().signal
const windowS = 30
/** Where the export says which sound it wrote by, words are a part of the work. */
const input: TranscriptionInput = { task: 'transcribe', language: 'en', prompt: null, temperature: 0, words: true }

export async function measureWhisper(folder: string | undefined, windows: number): Promise<object> {
  const whisper = folder === undefined ? null : join(folder, 'whisper')
  const isModel = (kind: string) => existsSync(join(whisper!, kind, 'decoder_model_merged.onnx'))
  const kinds = whisper !== null && existsSync(whisper) ? readdirSync(whisper).filter(isModel).sort() : []
  if (kinds.length === 0) {
    console.log('\nWhisper: skipped, for there are no graphs. scripts/fullsize-whisper.py makes them; --models FOLDER')
    return { skipped: true }
  }
  const records = []
  for (const kind of kinds) records.push({ kind, ...(await measureOne(join(whisper!, kind), windows)) })
  printTable(`Whisper, random weights: windows of ${windowS} s, ${windows} of them`, [
    ['graphs', 'threads', 'load s', 's of sound per s', 'CPU ms per s', 'in the runtime', 'tokens'],
    ...records.map(({ kind, threads, loadS, perSecond, cpuMs, runtimeShare, tokens }) => {
      return [kind, threads, loadS, perSecond, cpuMs, `${(100 * runtimeShare).toFixed(1)}%`, tokens]
    }),
  ])
  printTable('Its memory in MB', [
    ['graphs', 'loaded', 'first window', 'half of them', 'all'],
    ...records.map(({ kind, megabytes }) => [kind, ...megabytes]),
  ])
  return records
}

async function measureOne(filesDir: string, windows: number) {
  const threads = availableParallelism()
  const megabytes = () => process.memoryUsage.rss() / 1e6
  const beganMs = performance.now()
  const model = await load({ card: smallCard, filesDir, pronunciations: null, workers: threads })
  const loadS = (performance.now() - beganMs) / 1000
  const memory = [megabytes()]
  const samples = windowS * model.sampleRateHz
  const sound = await talk()
  const transcribing = model.begin(input)
  const runtime = timeRuntime()
  const cpu = process.cpuUsage()
  const startMs = performance.now()
  let tokens = 0
  try {
    for (let window = 0; window < windows; window++) {
      const at = (window * samples) % (sound.length - samples)
      const segments = await transcribing.hear(sound.slice(at, at + samples), never)
      tokens += segments.reduce((sum, segment) => sum + segment.tokens.length, 0)
      if (window === 0 || window === Math.floor(windows / 2) || window === windows - 1) memory.push(megabytes())
    }
  } finally {
    runtime.stop()
    await model.unload()
  }
  const spentMs = performance.now() - startMs
  const { user, system } = process.cpuUsage(cpu)
  const heardS = windows * windowS
  return {
    threads,
    loadS,
    perSecond: (1000 * heardS) / spentMs,
    cpuMs: (user + system) / 1e3 / heardS,
    runtimeShare: runtime.spentMs() / spentMs,
    tokens: tokens / windows,
    megabytes: memory,
  }
}

/** Takes the time of everything that ONNX Runtime runs in this process, in runs and in loops. */
function timeRuntime(): { stop(): void; spentMs(): number } {
  const { run } = FfiSession.prototype
  const { step } = FfiLoop.prototype
  let spentMs = 0
  const timed = async <T>(work: () => Promise<T>): Promise<T> => {
    const startMs = performance.now()
    const result = await work()
    spentMs += performance.now() - startMs
    return result
  }
  FfiSession.prototype.run = function (feeds) {
    return timed(() => run.call(this, feeds))
  }
  FfiLoop.prototype.step = function (feeds) {
    return timed(() => step.call(this, feeds))
  }
  const stop = () => {
    FfiSession.prototype.run = run
    FfiLoop.prototype.step = step
  }
  return { stop, spentMs: () => spentMs }
}
