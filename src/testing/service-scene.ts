/** The real service over a real store in a folder of its own, with a manual clock and an engine that obeys the test. */
import type { Caller } from '../domain/account.ts'
import type { SpeechRequest } from '../domain/speech.ts'
import type { Speaking } from '../service/speaking.ts'
import { temporaryFolder } from './folder.ts'
import { ManualClock } from './manual-clock.ts'
import { Seeded } from './seeded.ts'
import { Watched } from './simulation/client.ts'
import type { Sound } from './simulation/model.ts'
import { drained } from './simulation/files.ts'
import { type EngineStream, SimulatedProcess } from './simulation/process.ts'
import type { Settings } from './simulation/facts.ts'

export interface Scene {
  clock: ManualClock
  process: SimulatedProcess
  /** A caller of an account, which is created if it is new. */
  caller(account?: string, prepaidMicros?: number | null): Promise<Caller>
  /** Begins a request, and lets everything happen that needs no time. */
  begin(caller: Caller, change?: Partial<SpeechRequest>, options?: BeginOptions): Promise<Watched<Speaking>>
  /** The engine's most recent work. */
  engine(): EngineStream
  settled: typeof drained
}

interface BeginOptions {
  key?: string
  gone?: AbortSignal
}

const plainRequest: SpeechRequest = {
  model: null,
  voice: 'alloy',
  // 20 characters: 300 micros.
  input: 'twenty characters ok',
  format: 'pcm',
  speed: 1,
  streamFormat: 'audio',
  instructions: null,
  language: null,
  seed: null,
  sampleRateHz: 24_000,
}

/** Default: four frames of 240 samples, one stream at a time, one waiting. */
export async function openScene(settings: Partial<Settings> = {}, sound: Partial<Sound> = {}): Promise<Scene> {
  const clock = new ManualClock()
  const process = await SimulatedProcess.start({
    folder: temporaryFolder(),
    clock,
    random: new Seeded(5).fill,
    settings: {
      microsPerChar: 15,
      streams: 1,
      waiting: 1,
      concurrency: 4,
      queueWaitMs: 20_000,
      unreadMs: 120_000,
      cloneMicros: 1_000_000,
      freeClones: 1,
      maxVoices: 2,
      cloneStreams: 1,
      cloneWaiting: 1,
      cloneConcurrency: 1,
      listenStreams: 1,
      listenWaiting: 1,
      listenConcurrency: 2,
      ...settings,
    },
    soundOf: () => ({ frames: 4, samples: 240, failAt: null, ...sound }),
    learningOf: () => 'voice',
    clipHeardOf: () => ({ parts: 2, failAt: null }),
  })
  const { verbs, authenticator } = process
  return {
    clock,
    process,
    async caller(account = 'ada', prepaidMicros = null) {
      const known = (await verbs.listAccounts()).some(({ name }) => name === account)
      if (!known) await verbs.createAccount({ name: account, role: 'user', balanceMicros: prepaidMicros })
      const { secret } = await verbs.createKey({ account, name: 'test', scopes: null, expires: null })
      return authenticator.authenticate({ kind: 'secret', secret }, 'here')
    },
    async begin(caller, change = {}, { key, gone = new AbortController().signal } = {}) {
      const begun = new Watched(process.speech.begin(caller, { ...plainRequest, ...change }, key ?? null, gone))
      await drained()
      return begun
    },
    engine() {
      const stream = [...process.streams.values()].at(-1)
      if (stream === undefined) throw new Error('the engine has no work')
      return stream
    },
    settled: drained,
  }
}
