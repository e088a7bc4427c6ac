import { afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { concatS16 } from '../audio/pcm.ts'
import { MynaError } from '../domain/error.ts'
import type { TranscriptionOrder, TranscriptPart } from '../service/ports/transcription.ts'
import { Clip, order, textOf, transcriptionTask } from '../testing/dictation.ts'
import type { TestEngine } from '../testing/engine-child.ts'
import { isDead } from '../testing/process.ts'
import { silence, speech, words } from '../testing/speech-clips.ts'
import { order as speechOrder } from '../testing/talk.ts'
import { until } from '../testing/until.ts'
import { TestClients } from './client.fixture.ts'
import type { EngineClient, EngineClientOptions } from './client.ts'

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
  clients.connect(engine, { task: transcriptionTask, ...options })

/** What the engine reported about the failures, in order. */
const causes: unknown[] = []

/** Reads to the end, which must be an error. */
async function failing(client: EngineClient, clip: Clip, prompt: string, changes: Partial<TranscriptionOrder> = {}) {
  const parts: TranscriptPart[] = []
  try {
    for await (const part of client.transcribe(order(prompt, changes), clip, never)) parts.push(part)
  } catch (error) {
    await until('the clip was ended', () => clip.hasEnded)
    causes.push(error instanceof MynaError ? error.cause : undefined)
    const told = error instanceof MynaError ? [error.code, error.message, error.param] : String(error)
    return { text: textOf(parts), told }
  }
  throw new Error('the transcript ended as if nothing had happened')
}
const failed = ['generation_failed', 'The engine failed while it was transcribing.', null]
const hear = async (client: EngineClient, prompt: string) =>
  textOf(await Array.fromAsync(client.transcribe(order(prompt), Clip.of(spoken), never)))
const long = () => Clip.endless(spoken)

test('a refusal by the model is reported in its words, before any result', async () => {
  const client = connect()
  const refusals = ["This model hears 'en' and 'de', not 'tlh'.", 'This model writes what it hears.']
  expect(await failing(client, long(), 'a', { language: 'tlh' })).toEqual({
    text: '',
    told: ['unsupported_value', refusals[0] ?? '', 'language'],
  })
  expect(await failing(client, long(), 'a', { task: 'translate' })).toEqual({
    text: '',
    told: ['unsupported_value', refusals[1] ?? '', 'model'],
  })
  expect([await hear(client, 'a b'), (await client.status()).restarts]).toEqual([' a b', 0])
})

test('an error of the model is reported in general words, and the engine continues', async () => {
  const client = connect()
  expect(await failing(client, long(), 'a b !throw')).toEqual({ text: ' a b', told: failed })
  expect(causes.at(-1)).toContain('the model failed on purpose')
  expect([await hear(client, 'a b'), (await client.status()).restarts]).toEqual([' a b', 0])
})

test('an error of the clip is passed on as it is, after the results so far, and the engine stops', async () => {
  const client = connect()
  const broken = new Clip(function* () {
    yield concatS16([spoken, silence(2)])
    throw new MynaError('clip_too_long', 'too long', { param: 'file' })
  })
  const { text, told } = await failing(client, broken, 'a b')
  expect([told, ' a b'.startsWith(text)]).toEqual([['clip_too_long', 'too long', 'file'], true])
  await until('the engine stopped', async () => (await client.status()).activeStreams === 0)
  expect([await hear(client, 'a b'), (await client.status()).restarts]).toEqual([' a b', 0])
})

test('a reader that leaves the loop ends the work and the clip', async () => {
  const client = connect()
  const clip = long()
  for await (const _ of client.transcribe(order(''), clip, never)) break
  await until('the engine stopped', async () => (await client.status()).activeStreams === 0)
  await until('the clip was ended', () => clip.hasEnded)
})

test('kill -9 in the middle: all fail, the clips are closed, the next one works', async () => {
  const client = connect()
  const clips = [long(), long()]
  const readings = clips.map((clip) => failing(client, clip, ''))
  await until('both are read', () => clips.every((clip) => clip.read > 0))
  const { pid } = await client.status()
  process.kill(pid ?? 0, 'SIGKILL')
  expect((await Promise.all(readings)).map(({ told }) => told)).toEqual([failed, failed])
  expect(await hear(client, 'a b')).toBe(' a b')
  expect(await client.status()).toMatchObject({ restarts: 1, lastError: 'the engine ended (signal SIGKILL)' })
})

test.each(['!crash', '!segv'])('a crash (%s) costs only the running work', async (command) => {
  const client = connect()
  expect(await failing(client, long(), `a ${command}`)).toEqual({ text: ' a', told: failed })
  expect(await hear(client, 'a b')).toBe(' a b')
})

test.each(['!hang', '!busy'])('an engine that owes text and does nothing is killed (%s)', async (command) => {
  const client = connect({ stallMs: 800 })
  await hear(client, 'a b')
  const { pid } = await client.status()
  const told = ['generation_failed', 'The engine failed while it was transcribing: it sent nothing for 0.8 s.', null]
  expect(await failing(client, long(), `a ${command}`)).toEqual({ text: ' a', told })
  await until('it is dead', () => isDead(pid ?? 0))
  expect(await hear(client, 'a b')).toBe(' a b')
  expect((await client.status()).lastError).toContain('was killed: it sent nothing for 0.8 s')
})

test('a window that takes long is not a stall while graphs run, nor is waiting for it', async () => {
  const client = connect({ stallMs: 500 })
  await client.start()
  expect(await Promise.all([hear(client, '!runs=1500 b'), hear(client, 'a b')])).toEqual([' !runs=1500 b', ' a b'])
  expect((await client.status()).restarts).toBe(0)
})

test('a transcription that does not stop when it is cancelled costs the engine', async () => {
  const client = connect({ stallMs: 800 })
  await hear(client, 'a b')
  const abort = new AbortController()
  const reading = Array.fromAsync(client.transcribe(order('!hang'), long(), abort.signal)).catch(String)
  await until('it hangs', () => lines.includes('now !hang'))
  abort.abort(new Error('client gone'))
  expect(await reading).toBe('Error: client gone')
  await until('it was killed', async () => (await client.status()).lastError !== null)
  expect(await hear(client, 'a b')).toBe(' a b')
})

test('a model that cannot be loaded fails the orders that wanted it', async () => {
  const client = connect()
  expect((await failing(client, long(), '', { model: 'test-deaf' })).text).toBe('')
  expect(causes.at(-1)).toContain('model.onnx is cut short')
  expect((await failing(client, long(), '', { model: 'nobody' })).text).toBe('')
  expect(await hear(client, 'a b')).toBe(' a b')
})

test('an engine that does not start: unavailable, and the clip is closed', async () => {
  const client = connect({}, { start: 'crash' })
  const clip = long()
  expect((await failing(client, clip, '')).told).toContain('engine_unavailable')
  expect(clip.read).toBe(0)
})

test('an unused engine ends, and is started again for the next clip', async () => {
  const client = connect({}, { keepAliveMs: 30 })
  await hear(client, 'a b')
  const { pid } = await client.status()
  await until('it ended', async () => (await client.status()).state === 'stopped')
  expect(isDead(pid ?? 0)).toBe(true)
  expect(await hear(client, 'a b')).toBe(' a b')
  expect((await client.status()).restarts).toBe(0)
})

test('kill -9 of one engine does not affect the other', async () => {
  const [speaking, listening] = [connect({ task: 'text-to-speech' }), connect()]
  const frames = speaking.speak(speechOrder('!slow=1 !endless'), never)[Symbol.asyncIterator]()
  await frames.next()
  const reading = failing(listening, long(), '')
  await until('it listens', async () => (await listening.status()).activeStreams === 1)
  process.kill((await listening.status()).pid ?? 0, 'SIGKILL')
  expect((await reading).told).toEqual(failed)
  for (let count = 0; count < 30; count++) expect((await frames.next()).done).toBe(false)
  await frames.return?.()

  const parts = listening.transcribe(order(''), long(), never)[Symbol.asyncIterator]()
  await parts.next()
  process.kill((await speaking.status()).pid ?? 0, 'SIGKILL')
  await until('it was noticed', async () => (await speaking.status()).restarts === 1)
  for (let count = 0; count < 30; count++) expect((await parts.next()).done).toBe(false)
  expect((await listening.status()).restarts).toBe(1)
  await parts.return?.()
})
