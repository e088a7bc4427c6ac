import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { MynaError } from '../domain/error.ts'
import type { SpeechFrame, SpeechOrder } from '../service/ports.ts'
import { onnxRuntimeVersion } from '../embedded/onnx-runtime.ts'
import { isDead } from '../testing/process.ts'
import { order } from '../testing/talk.ts'
import { until } from '../testing/until.ts'
import { TestClients } from './client.fixture.ts'
import type { EngineClient } from './client.ts'
import { creditFrames } from './protocol.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const never = new AbortController().signal
const clients = new TestClients()
const { lines, warnings } = clients
afterEach(() => clients.close())

const connect: TestClients['connect'] = (engine, options) => clients.connect(engine, options)
const read = (client: EngineClient, text: string, changes: Partial<SpeechOrder> = {}) =>
  Array.fromAsync(client.speak(order(text, changes), never))
const iterate = (client: EngineClient, text: string, signal = never): AsyncIterator<SpeechFrame> =>
  client.speak(order(text), signal)[Symbol.asyncIterator]()

/** Reads to the end, which must be an error. */
async function failing(client: EngineClient, text: string): Promise<{ frames: SpeechFrame[]; error: MynaError }> {
  const frames: SpeechFrame[] = []
  try {
    for await (const frame of client.speak(order(text), never)) frames.push(frame)
  } catch (error) {
    if (error instanceof MynaError) return { frames, error }
    throw error
  }
  throw new Error('the stream ended as if nothing had happened')
}
const childStreams = async (client: EngineClient) =>
  (await client.status()).models.reduce((sum, model) => sum + model.activeStreams, 0)

test('the first order starts the engine, and all orders meanwhile wait for the same one', async () => {
  const client = connect()
  const streams = await Promise.all(['one two', 'three', 'four'].map((text) => read(client, text)))
  expect(streams.map((frames) => frames.map((frame) => frame.coveredChars))).toEqual([[4, 7], [5], [4]])
  expect(streams.flat().every((frame) => frame.engineMs >= 0)).toBe(true)
  expect(await client.status()).toMatchObject({ task: 'text-to-speech', state: 'ready', activeStreams: 0, restarts: 0 })
})

test('a long stream is whole and in order, far beyond the first grant', async () => {
  const frames = await read(connect(), '!long=30000')
  expect(frames.length).toBe(150)
  expect(frames.reduce((sum, frame) => sum + frame.pcm.length, 0)).toBe(30 * 24_000)
  expect(frames.map((frame) => frame.coveredChars)).toEqual(frames.map((_, i) => Math.floor((11 * (i + 1)) / 150)))
})

test('an abort immediately ends the iteration with its reason, and the work in the engine', async () => {
  const client = connect()
  const abort = new AbortController()
  const frames = iterate(client, '!slow=1 !endless', abort.signal)
  await frames.next()
  const waiting = (async () => {
    while (!(await frames.next()).done) continue
  })()
  abort.abort(new Error('client gone'))
  await expect(waiting).rejects.toThrow('client gone')
  await until('the engine stopped', async () => (await client.status()).activeStreams === 0)
  expect(await childStreams(client)).toBe(0)
})

test('a reader that leaves the loop ends the work in the engine', async () => {
  const client = connect()
  for await (const _ of client.speak(order('!slow=1 !endless'), never)) break
  await until('the engine stopped', async () => (await client.status()).activeStreams === 0)
  expect(await childStreams(client)).toBe(0)
})

test('an abort while the engine starts sends nothing to it', async () => {
  const client = connect({ start: 'chatty' })
  const abort = new AbortController()
  const first = iterate(client, '!endless', abort.signal).next()
  await until('it starts', async () => (await client.status()).state === 'starting')
  abort.abort(new Error('client gone'))
  await expect(first).rejects.toThrow('client gone')
  await client.start()
  expect(await client.status()).toMatchObject({ activeStreams: 0, models: [] })
})

test('an error of the model is reported in general words, and the engine continues', async () => {
  const client = connect()
  const before = (await read(client, 'a'), await client.status())
  const { frames, error } = await failing(client, 'a b !throw')
  expect(frames.length).toBe(2)
  expect([error.code, error.message]).toEqual(['generation_failed', 'The engine failed while it was speaking.'])
  expect(error.cause).toContain('the model failed on purpose')
  expect((await client.status()).pid).toBe(before.pid)
})

test('a refusal by the model is reported in its words', async () => {
  const { frames, error } = await failing(connect(), '!refuse')
  expect(frames).toEqual([])
  expect([error.code, error.message, error.param]).toEqual([
    'unsupported_value',
    'The test voice does not speak so.',
    'language',
  ])
})

test('kill -9 in the middle of streams: all fail, the next one works', async () => {
  const client = connect()
  const streams = [iterate(client, '!slow=1 !endless'), iterate(client, '!slow=1 !endless')]
  await Promise.all(streams.map((stream) => stream.next()))
  const { pid } = await client.status()
  process.kill(pid ?? 0, 'SIGKILL')
  for (const stream of streams) {
    const drained = (async () => {
      while (!(await stream.next()).done) continue
    })()
    await expect(drained).rejects.toMatchObject({ code: 'generation_failed' })
  }
  expect((await read(client, 'again')).length).toBe(1)
  expect(await client.status()).toMatchObject({ state: 'ready', restarts: 1, activeStreams: 0 })
  expect((await client.status()).lastError).toBe('the engine ended (signal SIGKILL)')
  expect((await client.status()).pid).not.toBe(pid)
})

test('after a crash the status has the last words of the engine', async () => {
  const client = connect()
  expect((await failing(client, 'a !segv')).error.code).toBe('generation_failed')
  const words = 'CUDA error 700: an illegal memory access was encountered'
  expect((await client.status()).lastError).toBe(`the engine ended (signal SIGSEGV): ${words}`)
  expect(lines).toContain(words)
  expect((await failing(client, 'a !crash')).frames.length).toBe(1)
  expect((await client.status()).lastError).toContain('the engine ended (exit code 1): Error: the engine crashed')
})

for (const fault of ['!hang', '!busy']) {
  test(`an engine that owes audio and is silent is killed (${fault})`, async () => {
    const client = connect({}, { stallMs: 800 })
    await read(client, 'a')
    const { pid } = await client.status()
    const { frames, error } = await failing(client, `a ${fault}`)
    expect([frames.length, error.code]).toEqual([1, 'generation_failed'])
    await until('it is dead', () => isDead(pid ?? 0))
    expect((await read(client, 'again')).length).toBe(1)
    expect((await client.status()).lastError).toContain('was killed: it sent nothing for 0.8 s')
    expect(error.message).toBe('The engine failed while it was speaking: it sent nothing for 0.8 s.')
    expect((await client.status()).stalls.silent).toBe(1)
  })
}

test('an engine that is loading may be silent for longer; what it owes others is not counted meanwhile', async () => {
  const client = connect({}, { stallMs: 400 })
  const { pid } = (await read(client, 'a'), await client.status())
  const other = iterate(client, '!slow=5 !endless')
  await other.next()
  const speaking = read(client, 'a', { model: 'test-slow' })
  await until('it loads', async () => (await client.status()).loading.includes('test-slow'))
  expect((await speaking).length).toBe(1)
  expect(await client.status()).toMatchObject({ pid, loading: [], restarts: 0, lastError: null })
  expect((await other.next()).done).toBe(false)
  await other.return?.()
})

test('an engine that hangs in loading is killed, and the log names the model', async () => {
  const client = connect({}, { stallMs: 400, loadMs: 800 })
  await expect(read(client, 'a', { model: 'test-stuck' })).rejects.toMatchObject({ code: 'generation_failed' })
  await until('it was killed', async () => (await client.status()).lastError !== null)
  expect((await client.status()).lastError).toBe('the engine was killed: it did not load test-stuck within 0.8 s')
  const reason = 'the engine ended while it was loading it'
  expect(warnings).toEqual([`test-stuck could not be loaded: ${reason}`])
  expect((await client.status()).failed).toEqual([{ id: 'test-stuck', reason }])
  expect((await read(client, 'again')).length).toBe(1)
})

test('a model that cannot be loaded is named to the client with the reason, which is also the cause', async () => {
  const client = connect()
  const error = await read(client, 'a', { model: 'test-missing' }).catch((reason: unknown) => reason)
  const cause = 'test-missing could not be loaded: model.onnx is cut short'
  expect(error).toMatchObject({ code: 'model_unavailable', message: `The model ${cause}.`, cause })
  expect(lines).toEqual([])
})

test('a model that cannot be loaded causes one warning, and is remembered until its files change', async () => {
  const client = connect()
  await client.start('test-missing')
  const failed = [{ id: 'test-missing', reason: 'model.onnx is cut short' }]
  await until('it was tried', async () => Bun.deepEquals((await client.status()).failed, failed))
  await read(client, 'a', { model: 'test-missing' }).catch(() => {})
  await read(client, 'a')
  expect((await client.status()).failed).toEqual(failed)
  expect(warnings).toEqual(['test-missing could not be loaded: model.onnx is cut short'])
  expect(lines).toEqual([])
  client.dismiss('test-missing')
  expect((await client.status()).failed).toEqual([])
})

test('when the device has no memory left, the client is asked to retry, and the reason is the cause', async () => {
  const client = connect()
  const message = 'The device ran out of memory with the model test, which was unloaded. Try again later.'
  const cause = expect.stringContaining('CUDA failure 2: out of memory')
  const told = { code: 'engine_overloaded', message, retryAfterMs: 5000, cause }
  await expect(read(client, '!full')).rejects.toMatchObject(told)
  expect((await read(client, 'again')).length).toBe(1)
  expect((await client.status()).restarts).toBe(0)
})

test('a lost device costs the streams of that engine, and another engine is started', async () => {
  const client = connect()
  const { error } = await failing(client, '!lost')
  expect(error.code).toBe('generation_failed')
  expect((await read(client, 'again')).length).toBe(1)
  const { restarts, lastError } = await client.status()
  expect(restarts).toBe(1)
  expect(lastError).toContain('the engine ended (exit code 1): cpu is lost: CUDA failure 700')
})

test('the status includes the memory use of the device', async () => {
  const deviceMemory = { usedBytes: 5_000_000_000, totalBytes: 8_000_000_000 }
  const client = connect({ device: 'cuda:0', deviceMemory })
  await client.start()
  expect(await client.status()).toMatchObject({ device: 'cuda:0', deviceMemory })
  expect((await client.engines()).map(({ device }) => device)).toEqual(['cuda:0'])
})

test('a model waits for the memory of others; if it gets none, the client is asked to retry', async () => {
  const client = connect({ modelMemoryBytes: 1_500_000, roomWaitMs: 200 })
  const other = iterate(client, '!slow=1 !endless')
  await other.next()
  const message = 'There is no memory for the model test-16k while others are in use. Try again later.'
  const reason = await read(client, 'a', { model: 'test-16k' }).catch((error: unknown) => error)
  expect(reason).toMatchObject({ code: 'engine_overloaded', message, retryAfterMs: 5000 })
  await other.return?.()
  expect((await read(client, 'a', { model: 'test-16k' })).at(-1)?.coveredChars).toBe(1)
  expect((await client.status()).models).toMatchObject([{ id: 'test-16k', device: 'cpu' }])
})

test('without a reader, the engine makes what was granted, owes nothing and waits', async () => {
  const pauseMs = 1000
  const client = connect({}, { stallMs: 400 })
  const reading = iterate(client, '!endless')
  const madeAtMs = [(await reading.next()).value?.engineMs]
  const { pid } = await client.status()
  const startMs = performance.now()
  await until('stall deadlines went by', () => performance.now() - startMs > pauseMs)
  for (let i = 0; i < 40; i++) madeAtMs.push((await reading.next()).value?.engineMs)
  expect(madeAtMs[creditFrames - 1]).toBeLessThan(pauseMs)
  expect(madeAtMs[creditFrames]).toBeGreaterThan(pauseMs)
  expect((await client.status()).pid).toBe(pid)
  await reading.return?.()
})

test('a stream whose graphs run for long is not a stall, nor is a stream that waits for it', async () => {
  // On a machine with many programs, the engine may take half a second to say that it lives.
  const client = connect({}, { stallMs: 1500 })
  await client.start()
  const [long, other] = await Promise.all([read(client, '!runs=4000 b'), read(client, 'c d')])
  expect([long.length > 0, other.length > 0]).toEqual([true, true])
  expect((await client.status()).restarts).toBe(0)
})

test('a stopped engine is killed, and its streams are answered with the reason', async () => {
  const client = connect({}, { stallMs: 800 })
  const frames = iterate(client, '!slow=5 !endless')
  await frames.next()
  const { pid } = await client.status()
  process.kill(pid!, 'SIGSTOP')
  const rest = (async () => {
    while (!(await frames.next()).done) continue
  })()
  const words = 'The engine failed while it was speaking: it sent nothing for 0.8 s.'
  expect(await rest.catch((error: Error) => error.message)).toBe(words)
  await until('it is dead', () => isDead(pid!))
  expect((await read(client, 'again')).length).toBe(1)
  expect([(await client.status()).restarts, (await client.status()).stalls]).toEqual([
    1,
    { silent: 1, slow: 0, deaf: 0, loading: 0 },
  ])
})

test('a piece that takes far too long for its size is ended alone, and the engine stays', async () => {
  const client = connect({}, { stallMs: 1500, patienceMs: ({ text }) => 300 * text.length })
  const { pid } = (await read(client, 'a'), await client.status())
  // Within the time that its size allows, although longer than the engine may be silent.
  expect((await read(client, '!runs=3000 and more')).length).toBeGreaterThan(0)
  const { error } = await failing(client, '!runs=60000')
  expect(error.message).toMatch(/^The engine failed while it was speaking: no audio came for [\d.]+ s\.$/)
  expect((await read(client, 'b')).length).toBe(1)
  expect(await client.status()).toMatchObject({ pid, restarts: 0, stalls: { silent: 0, slow: 1, deaf: 0, loading: 0 } })
  expect(lines.join('\n')).toContain('and was given up: too long for its size here')
})

test('one hanging stream among others fails alone; one that cannot be stopped costs the engine', async () => {
  const client = connect({ workers: 2 }, { stallMs: 800 })
  const other = iterate(client, '!slow=5 !endless')
  await other.next()
  let heard = 0
  const listening = (async () => {
    while (!(await other.next()).done) heard++
  })().catch((error: unknown) => error)
  expect((await failing(client, 'a !hang')).error.code).toBe('generation_failed')
  const before = heard
  await until('the other continues', () => heard > before)
  expect(await listening).toMatchObject({ code: 'generation_failed' })
  const words = 'the engine was killed: it did not stop a cancelled stream within 0.8 s'
  await until('it was killed', async () => (await client.status()).lastError === words)
})

test('an engine that does not start: unavailable, with a time to retry', async () => {
  const client = connect({ start: 'crash' })
  const reason = await read(client, 'a').catch((error: unknown) => error)
  expect(reason).toMatchObject({ code: 'engine_unavailable', retryAfterMs: 5000 })
  expect(String(reason)).not.toContain('libcudart')
  expect((await client.status()).lastError).toContain('libcudart.so.13: cannot open shared object file')
})

test('an unused engine ends, and is started again for the next order', async () => {
  const client = connect({ keepAliveMs: 30 })
  await read(client, 'a')
  const { pid } = await client.status()
  await until('it ended', async () => (await client.status()).state === 'stopped')
  expect(isDead(pid ?? 0)).toBe(true)
  expect((await read(client, 'again')).length).toBe(1)
  expect(await client.status()).toMatchObject({ state: 'ready', restarts: 0, lastError: null })
})

test('orders that arrive while an unused engine ends are all spoken', async () => {
  const client = connect({ keepAliveMs: 1 })
  for (let round = 0; round < 40; round++) {
    expect((await read(client, 'a')).length).toBe(1)
    // The idle message is in transit at a different moment in each round.
    for (let turn = 0; turn < round % 8; turn++) await client.status()
  }
  expect((await client.status()).restarts).toBe(0)
})

test('engines of two tasks do not affect each other', async () => {
  const speech = connect()
  const transcription = connect({ task: 'automatic-speech-recognition' })
  await transcription.start()
  const frames = iterate(speech, '!slow=1 !endless')
  await frames.next()
  process.kill((await transcription.status()).pid ?? 0, 'SIGKILL')
  await until('it was noticed', async () => (await transcription.status()).restarts === 1)
  for (let i = 0; i < 30; i++) expect((await frames.next()).done).toBe(false)
  expect((await speech.status()).restarts).toBe(0)
  await frames.return?.()
})

test('a model that is loaded in advance is ready before the first order', async () => {
  const client = connect()
  await client.start('test')
  expect(await client.status()).toMatchObject({ state: 'ready', activeStreams: 0, models: [{ id: 'test' }] })
})

test('loading in advance is over, too, when the model cannot be loaded', async () => {
  const client = connect()
  await client.start('test-missing')
  expect((await client.status()).models).toEqual([])
})

test('the probe reports whether ONNX Runtime computes', async () => {
  expect(await connect().probe()).toEqual({ onnxRuntime: onnxRuntimeVersion, isExact: true })
})

test('a model that was loading, or waiting for room, when the engine was closed is not reported', async () => {
  const client = connect({ modelMemoryBytes: 1_000_000 })
  const busy = iterate(client, '!slow=1 !endless')
  await busy.next()
  const waiting = read(client, 'a', { model: 'test-slow' }).catch(String)
  await until('both are with the engine', async () => (await client.status()).activeStreams === 2)
  await client.close()
  await waiting
  expect(warnings).toEqual([])
  const other = connect()
  const starting = other.start('test-stuck')
  await until('it loads', async () => (await other.status()).loading.includes('test-stuck'))
  await other.close()
  await starting
  expect([warnings, (await other.status()).failed]).toEqual([[], []])
})

test('closing leaves no process, fails what is open and starts nothing again', async () => {
  const client = connect()
  const frames = iterate(client, '!slow=1 !endless')
  await frames.next()
  const { pid } = await client.status()
  await client.close()
  expect(isDead(pid ?? 0)).toBe(true)
  const drained = (async () => {
    while (!(await frames.next()).done) continue
  })()
  await expect(drained).rejects.toMatchObject({ code: 'generation_failed' })
  await expect(read(client, 'a')).rejects.toMatchObject({ code: 'engine_unavailable' })
  expect((await client.status()).state).toBe('stopped')
})
