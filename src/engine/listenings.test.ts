import { afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { concatS16 } from '../audio/pcm.ts'
import { MynaError } from '../domain/error.ts'
import type { TranscriptionOrder, TranscriptPart } from '../service/ports/transcription.ts'
import { Clip, order, textOf, transcriptionTask as task } from '../testing/dictation.ts'
import type { TestEngine } from '../testing/engine-child.ts'
import { silence, speech, words } from '../testing/speech-clips.ts'
import { listenerMaxWindowMs } from '../testing/test-listener.ts'
import { until } from '../testing/until.ts'
import { TestClients } from './client.fixture.ts'
import type { EngineClient, EngineClientOptions } from './client.ts'
import { clipRateHz } from './protocol.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const never = new AbortController().signal
const clients = new TestClients()
const { lines } = clients
/** Two windows of the test listener. */
let spoken: Int16Array
beforeAll(async () => {
  spoken = await speech(words)
})
afterEach(() => clients.close())

const connect = (options: Partial<EngineClientOptions> = {}, engine: Partial<TestEngine> = {}): EngineClient =>
  clients.connect({ task, ...engine }, options)

const iterate = (client: EngineClient, clip: Clip, prompt = '', signal = never): AsyncIterator<TranscriptPart> =>
  client.transcribe(order(prompt), clip, signal)[Symbol.asyncIterator]()
const hear = (client: EngineClient, clip: Clip, prompt = '', changes: Partial<TranscriptionOrder> = {}) =>
  Array.fromAsync(client.transcribe(order(prompt, changes), clip, never))
const told = (error: unknown): unknown =>
  error instanceof MynaError ? [error.code, error.message, error.param] : String(error)
/** The error that it throws. */
const failing = (promise: Promise<unknown>) => promise.then((value) => ({ unexpected: value }), told)
const childStreams = async (client: EngineClient) =>
  (await client.status()).models.reduce((sum, model) => sum + model.activeStreams, 0)

test('speech comes in order, with the times of the clip, and silence gives no text', async () => {
  const clip = Clip.of(concatS16([silence(1), spoken, silence(2), spoken, silence(3)]))
  const parts = await hear(connect(), clip, 'a b c d !crash', { words: true, temperature: 0.5 })
  expect(textOf(parts)).toBe(' a b c d')
  expect(parts.map(({ language }) => language)).toEqual(Array(parts.length).fill('de'))
  const segments = parts.flatMap((part) => part.segments)
  const spokenMs = spoken.length / 16
  const starts = [1000, 1000 + spokenMs / 2, 3000 + spokenMs, 3000 + 1.5 * spokenMs]
  for (const [index, { startMs, endMs, seekMs, temperature, words: timed }] of segments.entries()) {
    expect(Math.abs(startMs - starts[index]!)).toBeLessThan(spokenMs / 4)
    expect(endMs - startMs).toBeWithin(500, listenerMaxWindowMs + 1)
    expect(startMs).toBeGreaterThanOrEqual(segments[index - 1]?.endMs ?? 0)
    expect([seekMs, temperature]).toEqual([startMs, 0.5])
    expect(timed?.map((word) => [word.startMs, word.endMs])).toEqual([[startMs + 100, endMs]])
  }
  const heardMs = parts.map((part) => part.heardMs)
  expect(heardMs).toEqual(heardMs.toSorted((a, b) => a - b))
  expect(heardMs.at(-1)).toBe(Math.round(clip.read / 16))
  expect(clip.hasEnded).toBe(true)
})

test('silence gives no text and no language', async () => {
  const parts = await hear(connect(), Clip.of(silence(25)), '!crash')
  expect(parts.at(-1)).toEqual({ segments: [], language: null, heardMs: 25_000 })
  expect(textOf(parts)).toBe('')
  expect(await hear(connect(), Clip.of(silence(0.05)), '!crash', { language: 'fr' })).toEqual([
    { segments: [], language: 'fr', heardMs: 50 },
  ])
  expect(await hear(connect(), Clip.of(silence(0)), '!crash')).toEqual([])
})

test('a clip may come in blocks of any size', async () => {
  const client = connect()
  const pcm = concatS16([silence(1), spoken, silence(6), spoken])
  const [whole, ...others] = await Promise.all(
    [pcm.length, 100, 12_345].map((blockSamples) => hear(client, Clip.of(pcm, blockSamples), 'a b c d')),
  )
  expect(textOf(whole!)).toBe(' a b c d')
  expect(others).toEqual([whole!, whole!])
})

test('the clip is read as it is transcribed: flat memory in the child, however long it is', async () => {
  const client = connect()
  const residentBytes = async () => (await client.status()).residentBytes ?? 0
  const minute = concatS16([spoken, silence(60 - spoken.length / clipRateHz)])
  const minutes = (count: number) => Clip.of(concatS16(Array<Int16Array>(count).fill(minute)))
  await hear(client, minutes(2))
  const before = await residentBytes()
  // 38 MB in floats; what a busy machine has not collected yet is less.
  const parts = await hear(client, minutes(10))
  expect(parts.at(-1)?.heardMs).toBe(600_000)
  expect((await residentBytes()) - before).toBeLessThan(25e6)
}, 60_000)

test("a slow decoder is not the engine's fault", async () => {
  const client = connect({ stallMs: 300 })
  const go = Promise.withResolvers<void>()
  const clip = new Clip(async function* () {
    yield concatS16([spoken, silence(2)])
    await go.promise
    yield concatS16([spoken, silence(2)])
  })
  const parts = iterate(client, clip, 'a b c d')
  const heard = [await parts.next(), await parts.next()]
  const { pid } = await client.status()
  const startMs = performance.now()
  await until('stall deadlines went by', () => performance.now() - startMs > 900)
  go.resolve()
  for (let next = await parts.next(); !next.done; next = await parts.next()) heard.push(next)
  expect(textOf(heard.map(({ value }) => value as TranscriptPart))).toBe(' a b c d')
  expect((await client.status()).pid).toBe(pid)
})

test('without a reader, the clip is not read either', async () => {
  const client = connect({ stallMs: 300 })
  const clip = Clip.endless(concatS16([spoken, silence(2)]))
  const parts = iterate(client, clip)
  await parts.next()
  const startMs = performance.now()
  let [read, sinceMs] = [0, startMs]
  await until('reading rests for three deadlines', () => {
    if (clip.read !== read) [read, sinceMs] = [clip.read, performance.now()]
    return performance.now() - sinceMs > 900
  })
  // 16 unread parts of two in a block, what the child may have ahead, and a block of the clip.
  const blockSamples = spoken.length + 2 * clipRateHz
  expect(read).toBeWithin(4 * clipRateHz, 11 * blockSamples + 4 * clipRateHz)
  for (let count = 0; count < 40; count++) expect((await parts.next()).done).toBe(false)
  expect(clip.read).toBeGreaterThan(read)
  expect((await client.status()).restarts).toBe(0)
  await parts.return?.()
})

test('a long clip does not delay others: windows take turns, and a newcomer is first', async () => {
  const client = connect()
  const long = iterate(client, Clip.endless(spoken), '!slow=30')
  await long.next()
  let heard = 0
  const reading = (async () => {
    for (; ; heard++) if ((await long.next()).done) return
  })()
  await until('it continues', () => heard > 2)
  const before = heard
  expect(textOf(await hear(client, Clip.of(spoken), 'a b'))).toBe(' a b')
  expect(heard - before).toBeWithin(1, 10)
  await long.return?.()
  await reading
})

const stages: [string, string, (client: EngineClient) => Promise<Clip> | Clip][] = [
  ['while the engine starts', '!crash', () => Clip.endless(spoken)],
  [
    'while the clip is waited for',
    '',
    () =>
      new Clip(() =>
        (async function* () {
          yield silence(1)
          await new Promise(() => {})
        })(),
      ),
  ],
  ['in a window', '!deaf', () => Clip.endless(spoken)],
  ['in the last window', '!deaf', () => Clip.of(spoken)],
  ['between windows', '!slow=5', () => Clip.endless(spoken)],
]

test.each(stages)('an abort ends it immediately with its reason: %s', async (stage, prompt, makeClip) => {
  const client = connect()
  const clip = await makeClip(client)
  const abort = new AbortController()
  if (stage !== 'while the engine starts') await client.start()
  const reading = failing(Array.fromAsync(client.transcribe(order(prompt), clip, abort.signal)))
  if (stage === 'while the engine starts') await until(stage, async () => (await client.status()).state === 'starting')
  else if (prompt === '!deaf') await until(stage, () => lines.includes('now !deaf'))
  else await until(stage, async () => (await childStreams(client)) === 2 && clip.read > 0)
  abort.abort(new Error('client gone'))
  expect(await reading).toBe('Error: client gone')
  await until('the engine stopped', async () => (await client.status()).activeStreams === 0)
  await until('the engine is ready', async () => (await client.status()).state === 'ready')
  expect([await childStreams(client), (await client.status()).restarts]).toEqual([0, 0])
  expect(textOf(await hear(client, Clip.of(spoken), 'a b'))).toBe(' a b')
})
