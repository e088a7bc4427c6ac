import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { concatS16 } from '../../audio/pcm.ts'
import type { TranscriptionInput, TranscriptionModel } from '../../models/architecture.ts'
import { load as loadWhisper } from '../../models/whisper/pipeline.ts'
import { smallCard, writeSmallModel } from '../../models/whisper/model.fixture.ts'
import { loadDetector, type SpeechDetector } from '../../models/silero/detector.ts'
import type { TranscriptPart } from '../../service/ports/transcription.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { listenerCards, loadListener } from '../../testing/test-listener.ts'
import { silence, speech, words } from '../../testing/speech-clips.ts'
import { Hearing } from './hearing.ts'
import { clipRateHz } from '../protocol.ts'
import type { Lease } from './residency.ts'
import { Turns } from './turns.ts'

// Real runs, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

let detector: SpeechDetector
let model: TranscriptionModel
let leases: number
beforeAll(async () => {
  detector = await loadDetector()
  model = await loadListener({ card: listenerCards[0]!, filesDir: null, pronunciations: null, workers: 1 })
})
afterAll(() => detector.unload())
beforeEach(() => {
  leases = 0
})

function lease<M>(leased: M): Lease<M> {
  leases++
  return { model: leased, release: () => leases-- }
}
const input: TranscriptionInput = { task: 'transcribe', language: null, prompt: 'a b', temperature: 0, words: false }

interface Heard {
  parts: TranscriptPart[]
  run: Promise<void>
  hearing: Hearing
}

/**
 * The whole clip is available, as if the server had been asked for all of it.
 * @param lookMs time between two looks at the clock
 */
function begin(pcm: Int16Array, lookMs: number, use = model, isLast = true): Heard {
  const parts: TranscriptPart[] = []
  let nowMs = 0
  const hearing = new Hearing({
    input,
    isEarly: false,
    acquireModel: async () => lease(use),
    acquireDetector: async () => lease(detector),
    share: 'account',
    turns: new Turns(1, { monotonicMs: () => 0 }),
    timers: { monotonicMs: () => (nowMs += lookMs), after: () => () => {} },
    want: () => {},
    send: (part) => parts.push(part),
  })
  hearing.push(pcm, isLast)
  return { parts, hearing, run: hearing.run() }
}

test('silence is reported from time to time, and its end at once', async () => {
  // The detector's news arrive every 10 s of the clip: here once in 0.7 s of real time.
  const { parts, run } = begin(silence(95), 700)
  await run
  expect(parts.map(({ heardMs }) => Math.floor(heardMs / 1000))).toEqual([30, 60, 90, 95])
  expect(parts.flatMap(({ segments }) => segments)).toEqual([])
  expect(leases).toBe(0)
})

test('silence after speech is reported only when it is due, or at the end', async () => {
  const pcm = concatS16([await speech(words), silence(25)])
  const { parts, run } = begin(pcm, 0)
  await run
  expect(parts.map(({ segments }) => segments.length)).toEqual([1, 1, 0])
  expect(parts.at(-1)?.heardMs).toBe(Math.round((1000 * pcm.length) / clipRateHz))
})

test('a model of another rate is refused, and given back', async () => {
  const { parts, run } = begin(silence(1), 0, { ...model, sampleRateHz: 8000 })
  await expect(run).rejects.toThrow('clips arrive at 16000 Hz, but the model takes 8000')
  expect([parts.length, leases]).toEqual([0, 0])
})

test('a cancel ends it while it waits for the clip, without an error', async () => {
  const { hearing, run } = begin(silence(1), 0, model, false)
  setImmediate(() => hearing.cancel())
  await run
  expect(leases).toBe(0)
})

test('windows go to a model in batches, and the results come in the order of the clip', async () => {
  const filesDir = await writeSmallModel(temporaryFolder())
  const whisper = await loadWhisper({ card: smallCard, filesDir, pronunciations: null, workers: 1 })
  const sizes: number[] = []
  const counted: TranscriptionModel = {
    sampleRateHz: whisper.sampleRateHz,
    maxWindowMs: whisper.maxWindowMs,
    unload: () => whisper.unload(),
    begin(input) {
      const transcribing = whisper.begin({ ...input, language: 'en', prompt: null })
      const { max, hear } = transcribing.batch!
      const batch = {
        max,
        hear: (windows: readonly Float32Array[], signal: AbortSignal) => {
          sizes.push(windows.length)
          return hear(windows, signal)
        },
      }
      return {
        language: 'en',
        batch,
        hear(pcm, signal) {
          sizes.push(1)
          return transcribing.hear(pcm, signal)
        },
      }
    },
  }
  const greeting = await speech('Good morning.')
  const pcm = concatS16(Array.from({ length: 9 }, () => [greeting, silence(2)]).flat())
  const { parts, run } = begin(pcm, 0, counted)
  await run
  await whisper.unload()
  expect(sizes).toEqual([1, 2, 2, 2, 2])
  const times = parts.flatMap(({ segments }) => segments.map(({ startMs }) => startMs))
  expect(times.length).toBeGreaterThan(9)
  expect(times.toSorted((a, b) => a - b)).toEqual(times)
  const heard = parts.map(({ heardMs }) => heardMs)
  expect(heard.toSorted((a, b) => a - b)).toEqual(heard)
  expect(heard.at(-1)).toBe(Math.round((1000 * pcm.length) / clipRateHz))
})
