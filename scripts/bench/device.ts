/**
 * The performance of models on a device: how soon, how fast, how many at once, in how much memory, and after a crash.
 */
import { toS16 } from '../../src/audio/pcm.ts'
import type { Card } from '../../src/domain/card.ts'
import type { EngineClient } from '../../src/engine/client.ts'
import { until } from '../../src/testing/until.ts'
import { type Bench, cardFacts, type Device, engineOn } from './engines.ts'
import { medianOf } from './figures.ts'
import { talk } from './talk.ts'

const never = new AbortController().signal
const rateHz = 24_000
/** Enough for the longest windows. */
const memorySoundS = 25
const text =
  'It rained all morning, and by noon the little stream behind the house had become a brown river. Nobody was ' +
  'surprised. The old bridge, which had stood there for a hundred years, was gone before the children came home.'

interface Spoken {
  firstMs: number
  wholeMs: number
  seconds: number
}

async function speak(engine: EngineClient, card: Card): Promise<Spoken> {
  const voice = { voiceId: card.defaultVoice ?? '', voiceState: null, speed: 1, seed: 1, share: 'bench' }
  const order = { ...voice, model: card.id, text, sampleRateHz: rateHz, language: null, instructions: null }
  const beganMs = performance.now()
  let firstMs = Number.NaN
  let samples = 0
  for await (const { pcm } of engine.speak(order, never)) {
    if (samples === 0) firstMs = performance.now() - beganMs
    samples += pcm.length
  }
  return { firstMs, wholeMs: performance.now() - beganMs, seconds: samples / rateHz }
}

async function hear(engine: EngineClient, card: Card, pcm: Int16Array): Promise<void> {
  const order = {
    model: card.id,
    share: 'account',
    task: 'transcribe',
    language: 'en',
    prompt: null,
    temperature: 0,
    words: false,
  } as const
  for await (const _ of engine.transcribe(order, whole(pcm), never)) {
    // The text of a model with random weights means nothing.
  }
}

async function* whole(pcm: Int16Array): AsyncGenerator<Int16Array> {
  yield pcm
}

export interface SpeechFigures {
  loadS: number
  firstMs: number
  realtime: number
  /**
   * Keyed by the number of parallel streams: seconds of audio per second, all streams together; this many streams could
   * be played.
   */
  together: { streams: number; audioSPerS: number; firstMs: number }[]
}

/** @param streams how many at once, one measurement after another */
export async function measureSpeech(
  engine: EngineClient,
  card: Card,
  rounds: number,
  streams: readonly number[],
): Promise<SpeechFigures> {
  const first = await speak(engine, card)
  const alone = []
  for (let round = 0; round < rounds; round++) alone.push(await speak(engine, card))
  const together = []
  for (const count of streams) {
    const beganMs = performance.now()
    const spoken = await Promise.all(Array.from({ length: count }, () => speak(engine, card)))
    const wallS = (performance.now() - beganMs) / 1000
    const audioSPerS = spoken.reduce((sum, { seconds }) => sum + seconds, 0) / wallS
    together.push({ streams: count, audioSPerS, firstMs: medianOf(spoken.map(({ firstMs }) => firstMs)) })
  }
  const firstMs = medianOf(alone.map((one) => one.firstMs))
  const realtime = medianOf(alone.map(({ seconds, wholeMs }) => (1000 * seconds) / wholeMs))
  return { loadS: (first.firstMs - firstMs) / 1000, firstMs, realtime, together }
}

export interface HearingFigures {
  realtime: number
  together: { streams: number; audioSPerS: number }[]
}

export async function measureHearing(
  engine: EngineClient,
  card: Card,
  rounds: number,
  streams: readonly number[],
): Promise<HearingFigures> {
  const pcm = await soundOfTalk()
  const seconds = pcm.length / 16_000
  const timed = async (count: number) => {
    const beganMs = performance.now()
    await Promise.all(Array.from({ length: count }, () => hear(engine, card, pcm)))
    return (1000 * count * seconds) / (performance.now() - beganMs)
  }
  await timed(1)
  const alone = []
  for (let round = 0; round < rounds; round++) alone.push(await timed(1))
  const together = []
  for (const count of streams) together.push({ streams: count, audioSPerS: await timed(count) })
  return { realtime: medianOf(alone), together }
}

/**
 * In MB: for the engine's process, and for the whole card as its driver reports; null: it has ended, or there is none.
 */
export interface MemoryFigures {
  when: string
  engine: number | null
  card: number | null
}

/** Before, with the model in memory, while it speaks, and after it was unloaded for being idle. */
export async function measureMemory(device: Device, bench: Bench, card: Card): Promise<MemoryFigures[]> {
  const where = device.device
  const engine = engineOn(device, bench, card.task, 500)
  const figures: MemoryFigures[] = []
  const note = async (when: string) => {
    const { residentBytes } = await engine.status()
    const facts = where.kind === 'cuda' ? await cardFacts(where.id) : null
    figures.push({ when, engine: residentBytes === null ? null : residentBytes / 1e6, card: facts?.usedMb ?? null })
  }
  try {
    await note('before')
    const first = again(engine, card)
    await until('it is loaded', async () => (await engine.status()).models.some(({ id }) => id === card.id), 600_000)
    await note('loaded')
    await Promise.all([first, ...[1, 2, 3].map(() => again(engine, card))])
    await note('used')
    await until(
      'it was unloaded, and its engine ended',
      async () => (await engine.status()).state === 'stopped',
      60_000,
    )
    await note('unloaded')
    await again(engine, card)
    await note('used again')
  } finally {
    await engine.close()
  }
  return figures
}

/** Made once, because the source voice is slow to begin. */
let sound: Promise<Int16Array> | null = null
const soundOfTalk = (): Promise<Int16Array> => (sound ??= talk().then(toS16))

const again = async (engine: EngineClient, card: Card): Promise<void> =>
  card.task === 'text-to-speech'
    ? void (await speak(engine, card))
    : hear(engine, card, (await soundOfTalk()).subarray(0, 16_000 * memorySoundS))

export interface CrashFigures {
  /** Running streams that failed, as they must: all of them. */
  failed: number
  of: number
  /** From the kill to the first audio of the next stream, including loading the model anew. */
  backMs: number
}

/** Kills the engine in the middle of several streams, again and again. */
export async function measureCrashes(
  device: Device,
  bench: Bench,
  card: Card,
  crashes: number,
): Promise<CrashFigures[]> {
  const engine = engineOn(device, bench, card.task)
  const figures: CrashFigures[] = []
  try {
    await speak(engine, card)
    for (let crash = 0; crash < crashes; crash++) {
      const under = Array.from({ length: 4 }, () =>
        speak(engine, card).then(
          () => 'ended',
          () => 'failed',
        ),
      )
      await until('they are running', async () => (await engine.status()).activeStreams === under.length)
      process.kill((await engine.status()).pid ?? 0, 'SIGKILL')
      const killedMs = performance.now()
      const ends = await Promise.all(under)
      const afterMs = performance.now() - killedMs
      const { firstMs } = await speak(engine, card)
      figures.push({
        failed: ends.filter((end) => end === 'failed').length,
        of: ends.length,
        backMs: afterMs + firstMs,
      })
    }
  } finally {
    await engine.close()
  }
  return figures
}
