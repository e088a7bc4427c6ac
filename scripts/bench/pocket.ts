/**
 * How fast Pocket TTS speaks in its published size. Its weights are not in the repository, so the graphs have random
 * ones (`scripts/fullsize-pocket.py`): they speak noise and never finish by themselves, but time and memory do not
 * depend on the values of weights.
 */
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { SpeechInput, SpeechModel } from '../../src/models/architecture.ts'
import { loadPocket } from '../../src/models/pocket/pipeline.ts'
import { smallCard } from '../../src/models/pocket/small.fixture.ts'
import { createSession } from '../../src/onnx/back-end.ts'
import { medianOf, printTable } from './figures.ts'

const never = new AbortController().signal
const framesPerS = 12.5
const text = 'It rained all morning, and by noon the little stream behind the house had become a brown river.'

/** @param syntheses of half a second, over which memory must not grow */
export async function measurePocket(folder: string | undefined, soundS: number, syntheses: number): Promise<object> {
  const kinds = ['int8', 'fp32'].filter((kind) => folder !== undefined && existsSync(join(folder, kind, 'bundle.json')))
  if (folder === undefined || kinds.length === 0) {
    console.log(
      '\nPocket TTS: skipped, for there are no graphs. scripts/fullsize-pocket.py makes them; --models FOLDER',
    )
    return { skipped: true }
  }
  const records = []
  for (const kind of kinds) records.push({ kind, ...(await measureOne(join(folder, kind), soundS, syntheses)) })
  const head = ['graphs', 'threads', 'load s', 'first ms', 's per s', 'CPU ms per s', 'in graphs', 'clone ms']
  printTable(`Pocket TTS, 6 layers, random weights: ${soundS} s of sound in chunks of 5 s; a clone of 10 s`, [
    head,
    ...records.map(({ kind, threads, loadS, firstMs, perSecond, cpuMs, graphShare, cloneMs }) => {
      return [kind, threads, loadS, firstMs, perSecond, cpuMs, `${Math.round(1000 * graphShare) / 10}%`, cloneMs]
    }),
  ])
  printTable(`Its memory in MB, over ${syntheses} syntheses of half a second`, [
    ['graphs', 'loaded', 'spoken', 'a tenth', 'all'],
    ...records.map(({ kind, megabytes }) => [kind, ...megabytes]),
  ])
  return records
}

async function measureOne(filesDir: string, soundS: number, syntheses: number) {
  const threads = availableParallelism()
  const clock = graphClock()
  const megabytes = () => process.memoryUsage.rss() / 1e6
  let frames = 5 * framesPerS
  const beganMs = performance.now()
  const model = await loadPocket(
    { card: smallCard, filesDir, pronunciations: null, workers: threads },
    { frames: () => frames, createSession: clock.createSession },
  )
  const loadS = (performance.now() - beganMs) / 1000
  try {
    const memory = [megabytes()]
    await speak(model)
    const startMs = performance.now()
    const cpu = process.cpuUsage()
    clock.spentMs = 0
    const firsts: number[] = []
    let spokenS = 0
    while (spokenS < soundS) {
      const { firstMs, seconds } = await speak(model)
      firsts.push(firstMs)
      spokenS += seconds
    }
    const wallMs = performance.now() - startMs
    const { user, system } = process.cpuUsage(cpu)
    const graphShare = clock.spentMs / wallMs
    const cloneMs = await measureClone(model)
    memory.push(megabytes())
    frames = 6
    for (let done = 1; done <= syntheses; done++) {
      await speak(model)
      if (done === Math.round(syntheses / 10) || done === syntheses) memory.push(megabytes())
    }
    const speech = { firstMs: medianOf(firsts), perSecond: (1000 * spokenS) / wallMs, graphShare }
    return { threads, loadS, ...speech, cpuMs: (user + system) / 1e3 / spokenS, cloneMs, megabytes: memory }
  } finally {
    await model.unload()
  }
}

async function speak(model: SpeechModel): Promise<{ firstMs: number; seconds: number }> {
  const voice = { voiceId: 'alba', voiceState: null, language: null, instructions: null }
  const input: SpeechInput = { ...voice, text, speed: 1, seed: 1 }
  const startMs = performance.now()
  let firstMs = 0
  let samples = 0
  for await (const { pcm } of model.speak(input, never)) {
    if (samples === 0) firstMs = performance.now() - startMs
    samples += pcm.length
  }
  return { firstMs, seconds: samples / model.sampleRateHz }
}

async function measureClone(model: SpeechModel): Promise<number> {
  const pcm = Float32Array.from({ length: 10 * 24_000 }, (_, at) => 0.3 * Math.sin(at / 20) * Math.sin(at / 4000))
  const startMs = performance.now()
  await model.clone!({ pcm, sampleRateHz: 24_000 }, never)
  return performance.now() - startMs
}

/** Sessions that measure the time of everything they run. */
function graphClock() {
  const clock = {
    spentMs: 0,
    createSession: async (...given: Parameters<typeof createSession>) => {
      const session = await createSession(...given)
      const timed = async <T>(run: () => Promise<T>): Promise<T> => {
        const startMs = performance.now()
        const result = await run()
        clock.spentMs += performance.now() - startMs
        return result
      }
      return {
        inputs: session.inputs,
        outputs: session.outputs,
        release: () => session.release(),
        run: (feeds: Parameters<typeof session.run>[0]) => timed(() => session.run(feeds)),
        runHolding: (...given: Parameters<typeof session.runHolding>) => timed(() => session.runHolding(...given)),
        loop: (options: Parameters<typeof session.loop>[0]) => {
          const loop = session.loop(options)
          return {
            step: (feeds: Parameters<typeof loop.step>[0]) => timed(() => loop.step(feeds)),
            states: () => loop.states(),
            release: () => loop.release(),
          }
        },
      }
    },
  }
  return clock
}
