import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { MynaError } from '../domain/error.ts'
import { isDead } from '../testing/process.ts'
import { silence, speech, words } from '../testing/speech-clips.ts'
import { order } from '../testing/talk.ts'
import { testClip } from '../testing/test-voice.ts'
import { until } from '../testing/until.ts'
import { TestClients } from './client.fixture.ts'
import type { EngineClient } from './client.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const never = new AbortController().signal
const clients = new TestClients()
const { lines } = clients
afterEach(() => clients.close())

const connect: TestClients['connect'] = (engine, options) => clients.connect(engine, options)
const fault = (error: unknown): unknown =>
  error instanceof MynaError ? [error.code, error.message, error.param] : String(error)
/** The error that it throws. */
const failing = (promise: Promise<unknown>) => promise.then((value) => ({ unexpected: value }), fault)
const busyModels = async (client: EngineClient) =>
  (await client.status()).models.filter(({ activeStreams }) => activeStreams > 0).map(({ id }) => id)
const failed = ['generation_failed', 'The engine failed while it was working on the clip.', null]

test('the first clip starts the engine; spans and state come back, and the state speaks', async () => {
  const client = connect()
  const pcm = await speech(words)
  const [spans, state] = await Promise.all([client.detectSpeech(pcm, never), client.clone('test', testClip(90), never)])
  expect(spans).toHaveLength(1)
  expect([...state]).toEqual([90])
  const frames = await Array.fromAsync(client.speak(order('bird', { voiceState: state, voiceId: 'mine' }), never))
  expect(frames.map(({ coveredChars }) => coveredChars)).toEqual([4])
  expect(await client.status()).toMatchObject({ state: 'ready', restarts: 0, activeStreams: 0 })
})

test('a view of a larger recording is cut out of it', async () => {
  const recording = new Int16Array(2_000_000).fill(7)
  recording.set(testClip(111).pcm, 500)
  const clip = { pcm: recording.subarray(500, 504), sampleRateHz: 16_000 }
  expect([...(await connect().clone('test', clip, never))]).toEqual([111])
})

test("a refusal has the model's own words; other failures are reported in general words", async () => {
  const client = connect()
  expect(await failing(client.clone('test', testClip(0, 'refuse'), never))).toEqual([
    'clip_refused',
    'There is no pitch in it: say a few sentences.',
    'file',
  ])
  expect(await failing(client.clone('test', testClip(0, 'throw'), never))).toEqual(failed)
  expect(await failing(client.clone('test-16k', testClip(0), never))).toEqual(failed)
  expect(lines.join('\n')).toContain('the engine failed on a clip: Error: the model failed on purpose')
  expect(lines.join('\n')).toContain('test-16k cannot clone')
  expect((await client.status()).restarts).toBe(0)
})

test('an abort immediately ends the wait with its reason, and the work in the engine', async () => {
  const client = connect()
  const aborts = [new AbortController(), new AbortController()] as const
  const waiting = [
    failing(client.detectSpeech(silence(600), aborts[0].signal)),
    failing(client.clone('test', testClip(0, 'untilDropped'), aborts[1].signal)),
  ]
  await until('both are worked on', async () => (await busyModels(client)).length === 2)
  for (const abort of aborts) abort.abort(new Error('client gone'))
  expect(await Promise.all(waiting)).toEqual(['Error: client gone', 'Error: client gone'])
  await until('the work stopped', async () => (await busyModels(client)).length === 0)
  expect((await client.status()).restarts).toBe(0)
})

test('aborted before it began, or while the engine starts: nothing is sent', async () => {
  const client = connect({ start: 'chatty' })
  const gone = AbortSignal.abort(new Error('gone before'))
  expect(await failing(client.clone('test', testClip(1), gone))).toBe('Error: gone before')
  expect((await client.status()).state).toBe('stopped')
  const abort = new AbortController()
  const waiting = failing(client.detectSpeech(silence(1), abort.signal))
  await until('it starts', async () => (await client.status()).state === 'starting')
  abort.abort(new Error('client gone'))
  expect(await waiting).toBe('Error: client gone')
  await client.start()
  expect((await client.status()).models).toEqual([])
})

test('kill -9 while clips are worked on: all fail, the next one works', async () => {
  const client = connect()
  const waiting = [
    failing(client.clone('test', testClip(0, 'untilDropped'), never)),
    failing(client.detectSpeech(silence(600), never)),
  ]
  await until('both are worked on', async () => (await busyModels(client)).length === 2)
  process.kill((await client.status()).pid ?? 0, 'SIGKILL')
  expect(await Promise.all(waiting)).toEqual([failed, failed])
  expect([...(await client.clone('test', testClip(5), never))]).toEqual([5])
  expect(await client.status()).toMatchObject({ restarts: 1, lastError: 'the engine ended (signal SIGKILL)' })
})

test('a crash of the model fails the clip', async () => {
  const client = connect()
  expect(await failing(client.clone('test', testClip(0, 'crash'), never))).toEqual(failed)
  expect((await client.status()).lastError).toContain('the engine crashed on purpose')
})

for (const how of ['hang', 'busy'] as const) {
  test(`an engine that owes an answer and is silent is killed (${how})`, async () => {
    const client = connect({}, { stallMs: 800 })
    await client.clone('test', testClip(1), never)
    const { pid } = await client.status()
    expect(String(await failing(client.clone('test', testClip(0, how), never)))).toContain(
      'the clip: it sent nothing for 0.8 s.',
    )
    await until('it is dead', () => isDead(pid ?? 0))
    expect([...(await client.clone('test', testClip(9), never))]).toEqual([9])
    expect((await client.status()).lastError).toContain('was killed: it sent nothing for 0.8 s')
  })
}

test('a clip that hangs while others speak fails alone; if it cannot be stopped, it costs the engine', async () => {
  const client = connect({ workers: 2 }, { stallMs: 800 })
  const frames = client.speak(order('!slow=5 !endless'), never)[Symbol.asyncIterator]()
  await frames.next()
  const listening = (async () => {
    while (!(await frames.next()).done) continue
  })().catch(fault)
  expect(String(await failing(client.clone('test', testClip(0, 'hang'), never)))).toMatch(
    /the clip: no answer came for [\d.]+ s\./,
  )
  expect(lines.at(-1)).toMatch(/^a query got no answer for [\d.]+ s and was given up: too long for its size here$/)
  const why = 'it did not stop a cancelled query within 0.8 s'
  const told = `The engine failed while it was speaking: ${why}.`
  expect(await listening).toMatchObject(['generation_failed', told, null])
  const words = `the engine was killed: ${why}`
  await until('it was killed', async () => (await client.status()).lastError === words)
})

test('an unused engine ends, but not while it works on a clip', async () => {
  const client = connect({ keepAliveMs: 1 })
  for (let round = 0; round < 12; round++) {
    expect([...(await client.clone('test', testClip(round), never))]).toEqual([round])
    expect(await client.detectSpeech(silence(0.2), never)).toEqual([])
  }
  await until('it ended', async () => (await client.status()).state === 'stopped')
  expect(await client.status()).toMatchObject({ restarts: 0, lastError: null })
})

test('an engine that does not start: unavailable, with a time to retry', async () => {
  const client = connect({ start: 'crash' })
  const reason = await client.detectSpeech(silence(1), never).catch((error: unknown) => error)
  expect(reason).toMatchObject({ code: 'engine_unavailable', retryAfterMs: 5000 })
})
