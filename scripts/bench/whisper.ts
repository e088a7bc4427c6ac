/**
 * How fast Whisper transcribes in its published sizes. Its weights are not in the repository, so the graphs have random
 * ones (`scripts/fullsize-whisper.py`): time and memory do not depend on the values of weights. Each window of half a
 * minute is transcribed once, into a hundred tokens, as with real speech. A long clip is transcribed in batches, which
 * are compared with single windows in the same run.
 */
import { existsSync, readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Card } from '../../src/domain/card.ts'
import type { TranscriptionInput } from '../../src/models/architecture.ts'
import { FfiLoop } from '../../src/onnx/ffi/loop.ts'
import { FfiSession } from '../../src/onnx/ffi/session.ts'
import { smallCard } from '../../src/models/whisper/model.fixture.ts'
import { load } from '../../src/models/whisper/pipeline.ts'
import { printTable } from './figures.ts'
import { talk } from './talk.ts'

const never = new AbortController().signal
const windowS = 30
/** If the export reports its attention to the sound, word times are part of the work. */
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
  printTable(`Whisper, random weights: windows of ${windowS} s, ${windows} of them in batches`, [
    [
      'graphs',
      'threads',
      'load s',
      'one by one: s per s',
      'batch',
      's per s',
      'CPU ms per s',
      'in the runtime',
      'tokens',
    ],
    ...records.map(({ kind, threads, loadS, single, batch, tokens }) => {
      const { size, perSecond, cpuMs, runtimeShare } = batch
      const share = `${(100 * runtimeShare).toFixed(1)}%`
      return [kind, threads, loadS, single.perSecond, size, perSecond, cpuMs, share, tokens]
    }),
  ])
  printTable('Its memory in MB', [
    ['graphs', 'loaded', 'one by one', 'first batch', 'half of them', 'all'],
    ...records.map(({ kind, megabytes }) => [kind, ...megabytes]),
  ])
  return records
}

async function measureOne(filesDir: string, windows: number) {
  const threads = availableParallelism()
  const megabytes = () => process.memoryUsage.rss() / 1e6
  const beganMs = performance.now()
  const card: Card = { ...smallCard, weights: filesDir.includes('int8') ? 'int8' : 'fp32' }
  const model = await load({ card, filesDir, pronunciations: null, workers: threads })
  const loadS = (performance.now() - beganMs) / 1000
  const memory = [megabytes()]
  const samples = windowS * model.sampleRateHz
  const sound = await talk()
  const window = (index: number) => {
    const at = (index * samples) % (sound.length - samples)
    return sound.slice(at, at + samples)
  }
  const transcribing = model.begin(input)
  const size = transcribing.batch?.max ?? 1
  let tokens = 0
  const hear = async (from: number, to: number) => {
    const some = Array.from({ length: to - from }, (_, at) => window(from + at))
    const heard =
      some.length > 1 ? await transcribing.batch!.hear(some, never) : [await transcribing.hear(some[0]!, never)]
    tokens += heard.flat().reduce((sum, segment) => sum + segment.tokens.length, 0)
  }
  try {
    const few = Math.ceil(windows / 8)
    const single = await timed(few, async () => {
      for (let index = 0; index < few; index++) await hear(index, index + 1)
    })
    memory.push(megabytes())
    tokens = 0
    const batch = await timed(windows, async () => {
      for (let from = 0; from < windows; from += size) {
        await hear(from, Math.min(windows, from + size))
        const isHalf = from < windows / 2 && from + size >= windows / 2
        if (from === 0 || isHalf) memory.push(megabytes())
      }
    })
    memory.push(megabytes())
    return { threads, loadS, single, batch: { size, ...batch }, tokens: tokens / windows, megabytes: memory }
  } finally {
    await model.unload()
  }
}

async function timed(windows: number, work: () => Promise<void>) {
  const runtime = timeRuntime()
  const cpu = process.cpuUsage()
  const startMs = performance.now()
  try {
    await work()
  } finally {
    runtime.stop()
  }
  const spentMs = performance.now() - startMs
  const { user, system } = process.cpuUsage(cpu)
  const heardS = windows * windowS
  return {
    perSecond: (1000 * heardS) / spentMs,
    cpuMs: (user + system) / 1e3 / heardS,
    runtimeShare: runtime.spentMs() / spentMs,
  }
}

/** Measures the time of everything that ONNX Runtime runs in this process, in runs and in loops. */
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
  FfiSession.prototype.run = function (feeds, signal) {
    return timed(() => run.call(this, feeds, signal))
  }
  FfiLoop.prototype.step = function (feeds, signal) {
    return timed(() => step.call(this, feeds, signal))
  }
  const stop = () => {
    FfiSession.prototype.run = run
    FfiLoop.prototype.step = step
  }
  return { stop, spentMs: () => spentMs }
}
