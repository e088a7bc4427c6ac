/**
 * How fast Kokoro speaks in its published size. Its weights are not in the repository, so the graph has random ones
 * (`scripts/fullsize-kokoro.py`): it speaks noise of the usual length, but time and memory do not depend on the values
 * of weights.
 */
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { SpeechInput, SpeechModel } from '../../src/models/architecture.ts'
import { card } from '../../src/models/kokoro/kokoro.fixture.ts'
import { loadKokoro } from '../../src/models/kokoro/pipeline.ts'
import { openGraph } from '../../src/models/kokoro/opened.ts'
import { medianOf, printTable } from './figures.ts'

const never = new AbortController().signal
const text =
  'It rained all morning, and by noon the little stream behind the house had become a brown river. Nobody was ' +
  'surprised. The old bridge, which had stood there for a hundred years, was gone before the children came home.'
/** For memory: one chunk, which takes a part of the time. */
const short = 'It rained all morning.'

/** @param syntheses of a short sentence, over which memory must not grow */
export async function measureKokoro(folder: string | undefined, soundS: number, syntheses: number): Promise<object> {
  if (folder === undefined || !existsSync(join(folder, 'kokoro', 'model.onnx'))) {
    console.log('\nKokoro: skipped, for there is no graph. scripts/fullsize-kokoro.py makes it; --models FOLDER')
    return { skipped: true }
  }
  const figures = await measure(join(folder, 'kokoro'), soundS, syntheses)
  const { threads, loadS, firstMs, perSecond, cpuMs, graphShare, megabytes } = figures
  printTable(`Kokoro 82M fp32, random weights: ${soundS} s of sound`, [
    ['threads', 'load s', 'first ms', 's per s', 'CPU ms per s', 'in the graph'],
    [threads, loadS, firstMs, perSecond, cpuMs, `${Math.round(1000 * graphShare) / 10}%`],
  ])
  printTable(`Its memory in MB, over ${syntheses} syntheses of a short sentence`, [
    ['loaded', 'spoken', 'a tenth', 'all'],
    megabytes,
  ])
  return figures
}

async function measure(filesDir: string, soundS: number, syntheses: number) {
  const threads = availableParallelism()
  const megabytes = () => process.memoryUsage.rss() / 1e6
  const clock = { spentMs: 0 }
  const timed: typeof openGraph = async (...given) => {
    const session = await openGraph(...given)
    return {
      inputs: session.inputs,
      outputs: session.outputs,
      loop: (given) => session.loop(given),
      release: () => session.release(),
      runHolding: (...given) => session.runHolding(...given),
      run: async (feeds) => {
        const startMs = performance.now()
        const results = await session.run(feeds)
        clock.spentMs += performance.now() - startMs
        return results
      },
    }
  }
  const beganMs = performance.now()
  const model = await loadKokoro({ card, filesDir, pronunciations: null, workers: threads }, null, timed)
  const loadS = (performance.now() - beganMs) / 1000
  try {
    const memory = [megabytes()]
    await speak(model, text)
    const cpu = process.cpuUsage()
    const startMs = performance.now()
    clock.spentMs = 0
    const firsts: number[] = []
    let spokenS = 0
    while (spokenS < soundS) {
      const { firstMs, seconds } = await speak(model, text)
      firsts.push(firstMs)
      spokenS += seconds
    }
    const wallMs = performance.now() - startMs
    const { user, system } = process.cpuUsage(cpu)
    const speech = {
      firstMs: medianOf(firsts),
      perSecond: (1000 * spokenS) / wallMs,
      cpuMs: (user + system) / 1e3 / spokenS,
      graphShare: clock.spentMs / wallMs,
    }
    memory.push(megabytes())
    for (let done = 1; done <= syntheses; done++) {
      await speak(model, short)
      if (done === Math.round(syntheses / 10) || done === syntheses) memory.push(megabytes())
    }
    return { threads, loadS, ...speech, megabytes: memory }
  } finally {
    await model.unload()
  }
}

async function speak(model: SpeechModel, what: string): Promise<{ firstMs: number; seconds: number }> {
  const voice = { voiceId: 'a', voiceState: null, language: null, instructions: null }
  const input: SpeechInput = { ...voice, text: what, speed: 1, seed: null }
  const startMs = performance.now()
  let firstMs = 0
  let samples = 0
  for await (const { pcm } of model.speak(input, never)) {
    if (samples === 0) firstMs = performance.now() - startMs
    samples += pcm.length
  }
  return { firstMs, seconds: samples / model.sampleRateHz }
}
