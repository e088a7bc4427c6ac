import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { toS16 } from '../../audio/pcm.ts'
import { testEngineCommand, type TestEngine } from '../../testing/engine-child.ts'
import { engineParentCommand } from '../../testing/engine-parent.ts'
import { cpuTicks, isDead } from '../../testing/process.ts'
import { Talk } from '../../testing/talk.ts'
import { msPerChar, testClip, toneSample } from '../../testing/test-voice.ts'
import { until } from '../../testing/until.ts'
import { selfTestOutputs } from '../protocol.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const talks: Talk[] = []
afterEach(async () => {
  for (const talk of talks) talk.child.kill()
  await Promise.all(talks.splice(0).map((talk) => talk.child.ended))
})

function begin(options: Partial<TestEngine> = {}): Talk {
  const talk = new Talk(testEngineCommand(options))
  talks.push(talk)
  return talk
}
async function ready(options: Partial<TestEngine> = {}): Promise<Talk> {
  const talk = begin(options)
  await talk.until('ready')
  return talk
}
const tone = (samples: number) => toS16(Float32Array.from({ length: samples }, (_, i) => toneSample(i, 24_000)))

test('reports that it is ready, and its identity', async () => {
  const talk = begin()
  const [message] = await talk.until('ready')
  expect(message).toEqual({ type: 'ready', pid: talk.child.pid, device: 'cpu', deviceReason: null })
})

test('a stream is exact in samples and in coverage', async () => {
  const talk = await ready()
  talk.speak(1, 'naïve 鳥 !long=1000 bird', 100)
  await talk.until('end')
  const frames = talk.all('frame', 1)
  const samples = frames.flatMap((frame) => [...frame.pcm])
  const lengths = [6 * msPerChar, 2 * msPerChar, 1000, 4 * msPerChar].map((ms) => ms * 24)
  expect(samples).toEqual([...tone(lengths.reduce((sum, length) => sum + length, 0))])
  expect(frames.map((frame) => frame.pcm.length)).toEqual([1440, 480, 4800, 4800, 4800, 4800, 4800, 960])
  expect(frames.map((frame) => frame.coveredChars)).toEqual([6, 8, 10, 12, 14, 16, 19, 23])
  expect(frames.every((frame) => frame.pcm.buffer.byteLength === frame.pcm.byteLength)).toBe(true)
})

test('frames come at the rate of the order', async () => {
  const talk = await ready()
  talk.speak(1, 'one two three', 100, { model: 'test-16k' })
  talk.speak(2, 'one two three', 100, { sampleRateHz: 8000 })
  await talk.until('end', 2)
  const samplesOf = (stream: number) => talk.all('frame', stream).reduce((sum, frame) => sum + frame.pcm.length, 0)
  expect([samplesOf(1), samplesOf(2)]).toEqual([13 * msPerChar * 24, 13 * msPerChar * 8])
  expect([1, 2].map((stream) => talk.all('frame', stream).at(-1)?.coveredChars)).toEqual([13, 13])
})

test('eight streams take turns, one chunk each: first sounds before all others', async () => {
  const talk = await ready()
  const streams = [1, 2, 3, 4, 5, 6, 7, 8]
  const chunk = '!long=2000'
  // Slow enough that all eight have arrived before the first has its second turn.
  for (const stream of streams) talk.speak(stream, `!slow=20 ${Array(4).fill(chunk).join(' ')}`, 100)
  await talk.until('end', 8)
  const order = talk.all('frame').map((frame) => frame.stream)
  const turns = order.filter((stream, at) => at % 10 === 0 && order.slice(at, at + 10).every((one) => one === stream))
  // Within a round, microseconds decide whose listener runs dry first.
  const rounds = [0, 8, 16, 24].map((from) => turns.slice(from, from + 8).toSorted((a, b) => a - b))
  expect(rounds).toEqual([streams, streams, streams, streams])
})

test('a newcomer is served before the others continue', async () => {
  const talk = await ready()
  for (const stream of [1, 2, 3, 4]) talk.speak(stream, '!slow=10 !endless', 1000)
  await talk.until('frame', 12)
  talk.speak(9, 'now', 10)
  const before = talk.all('frame').length
  await talk.until('frame', 1, 9)
  const overtaking = talk
    .all('frame')
    .slice(before)
    .findIndex((frame) => frame.stream === 9)
  // Each of the others may first be given what its listener needs for a tenth of a second.
  expect(overtaking).toBeLessThanOrEqual(8)
})

test('never sends more frames than were granted, and uses no memory for unwanted ones', async () => {
  const talk = await ready()
  talk.speak(1, '!endless', 5)
  await talk.until('frame', 5)
  const { residentBytes } = await talk.status()
  for (let i = 0; i < 50; i++) await talk.status()
  expect(talk.all('frame').length).toBe(5)
  talk.send({ type: 'credit', stream: 1, frames: 3 })
  await talk.until('frame', 8)
  for (let i = 0; i < 50; i++) await talk.status()
  expect(talk.all('frame').length).toBe(8)
  expect((await talk.status()).residentBytes - residentBytes).toBeLessThan(30_000_000)
})

test('a cancel stops the work and is confirmed; the other stream continues', async () => {
  const talk = await ready()
  talk.speak(1, '!slow=2 !endless', 1000)
  talk.speak(2, '!slow=2 !endless', 1000)
  await talk.until('frame', 3, 1)
  talk.send({ type: 'cancel', stream: 1 })
  await talk.until('end', 1, 1)
  const heard = [talk.all('frame', 1).length, talk.all('frame', 2).length] as const
  await talk.until('frame', heard[1] + 5, 2)
  expect(talk.all('frame', 1).length).toBe(heard[0])
  expect((await talk.status()).models.map((model) => model.activeStreams)).toEqual([1])
})

test('a cancel works even without a credit', async () => {
  const talk = await ready()
  talk.speak(1, '!endless', 2)
  await talk.until('frame', 2)
  talk.send({ type: 'cancel', stream: 1 })
  await talk.until('end', 1, 1)
  expect((await talk.status()).models.map((model) => model.activeStreams)).toEqual([0])
})

test("a model's error fails only its own stream, with its own message", async () => {
  const talk = await ready()
  talk.speak(1, 'a !throw', 100)
  talk.speak(2, 'a b c', 100)
  talk.speak(3, 'a', 100, { model: 'nobody' })
  talk.speak(4, 'a', 100, { model: 'test-missing' })
  await talk.until('failed', 3)
  await talk.until('end', 1, 2)
  const words = [1, 3, 4].map((stream) => talk.all('failed', stream)[0]?.message.split('\n')[0])
  expect(words).toEqual([
    'Error: the model failed on purpose',
    'nobody could not be loaded: there is no such model for text-to-speech',
    'test-missing could not be loaded: model.onnx is cut short',
  ])
  expect([1, 3, 4].map((stream) => talk.all('failed', stream)[0]?.load)).toEqual([
    null,
    { model: 'nobody', reason: 'unusable' },
    { model: 'test-missing', reason: 'unusable' },
  ])
})

test('unused models are unloaded, and the server is notified', async () => {
  const talk = await ready({ keepAliveMs: 20 })
  talk.speak(1, 'a', 10)
  await talk.until('idle')
  expect((await talk.status()).models).toEqual([])
})

test('a model can be loaded in advance; a failure is reported with its reason, and the engine continues', async () => {
  const talk = await ready()
  talk.send({ type: 'warm', model: 'test-missing' })
  talk.send({ type: 'warm', model: 'test' })
  await until('it is loaded', async () => (await talk.status()).models.length > 0)
  expect((await talk.status()).models).toMatchObject([{ id: 'test', activeStreams: 0 }])
  expect(await talk.until('tried', 2)).toEqual([
    { type: 'tried', model: 'test-missing', reason: 'model.onnx is cut short' },
    { type: 'tried', model: 'test', reason: null },
  ])
})

test('a model that was loaded in advance is also warmed, unless a text waits for it', async () => {
  const [idle, busy] = [await ready(), await ready()]
  for (const talk of [idle, busy]) talk.send({ type: 'warm', model: 'test-warm' })
  // One letter could be over before it is decided.
  busy.speak(1, '!slow=2 !endless', 1000, { model: 'test-warm' })
  await Promise.all([idle.until('warmed'), busy.until('warmed')])
  await until('it is warm', () => idle.lines.length > 0)
  expect([idle.lines, busy.lines]).toEqual([['warm'], []])
})

test('a model whose files are gone is dropped once it is unused, and the server is notified', async () => {
  const talk = await ready()
  talk.speak(1, '!slow=2 !endless', 1000)
  await talk.until('frame', 2)
  talk.send({ type: 'dismiss', model: 'test' })
  expect((await talk.status()).models).toMatchObject([{ id: 'test', activeStreams: 1 }])
  talk.send({ type: 'cancel', stream: 1 })
  await talk.until('idle')
  expect((await talk.status()).models).toEqual([])
})

test('on a full device a stream fails for that reason, and room is made for the next', async () => {
  const talk = await ready({ device: 'cuda:3', deviceMemory: { usedBytes: 7, totalBytes: 8 } })
  talk.speak(1, 'idle', 10, { model: 'test-16k' })
  await talk.until('end')
  talk.speak(2, 'a !full', 10)
  const [failed] = await talk.until('failed')
  expect(failed).toMatchObject({ stream: 2, load: { model: 'test', reason: 'out_of_memory' } })
  expect(failed?.message).toContain('CUDA failure 2: out of memory')
  const status = await talk.status()
  expect(status).toMatchObject({ deviceMemory: { usedBytes: 7, totalBytes: 8 }, models: [] })
  expect(talk.lines.join()).toContain('cuda:3 has no memory left for test: CUDA failure 2')
  talk.speak(3, 'again', 10)
  await talk.until('end', 2)
  expect((await talk.status()).models).toMatchObject([{ id: 'test', device: 'cuda:3' }])
})

test('a model in use by other streams is unloaded when they have ended', async () => {
  const talk = await ready({ workers: 2 })
  talk.speak(1, '!slow=2 !endless', 1000)
  await talk.until('frame', 2)
  talk.speak(2, '!full', 10)
  await talk.until('failed')
  expect((await talk.status()).models).toMatchObject([{ id: 'test', activeStreams: 1 }])
  talk.send({ type: 'cancel', stream: 1 })
  await talk.until('idle')
})

test('a model that finds no memory when it is loaded says so', async () => {
  const talk = await ready()
  talk.speak(1, 'a', 10, { model: 'test-full' })
  const [failed] = await talk.until('failed')
  expect(failed?.load).toEqual({ model: 'test-full', reason: 'out_of_memory' })
})

test('a lost device ends it, with the reason as its last words', async () => {
  const talk = await ready({ device: 'cuda:1' })
  talk.speak(1, 'a !lost', 10)
  const { code, tail } = await talk.child.ended
  expect(code).toBe(1)
  expect(tail).toBe(
    'cuda:1 is lost: CUDA failure 700: an illegal memory access was encountered ; GPU=0 ; hostname=here',
  )
})

test('it ends for that reason when a clip is examined, too', async () => {
  const talk = await ready()
  talk.send({ type: 'clone', query: 1, model: 'test', ...testClip(100, 'lost') })
  expect((await talk.child.ended).tail).toContain('cpu is lost: CUDA failure 700')
})

test('reports where a model runs that cannot compute on the card', async () => {
  const talk = await ready({ device: 'cuda:0' })
  talk.send({ type: 'detect', query: 1, pcm: new Int16Array(16_000) })
  await talk.until('detected')
  expect((await talk.status()).models).toMatchObject([{ id: 'silero-vad', device: 'cpu' }])
})

test('8-bit weights on a card: the log explains what that means', async () => {
  const talk = await ready({ device: 'cuda:0' })
  talk.speak(1, 'a', 10, { model: 'test-8bit' })
  await talk.until('end')
  expect(talk.lines).toEqual(['test-8bit has 8-bit weights: on cuda:0 parts of it run on the CPU'])
})

test('the self-test graph runs in it', async () => {
  const talk = await ready()
  talk.send({ type: 'probe', probe: 7 })
  const [answer] = await talk.until('probed')
  expect(answer).toMatchObject({ probe: 7, outputs: [...selfTestOutputs] })
})

test('stop ends it in order, even in the middle of a stream', async () => {
  const talk = await ready()
  talk.speak(1, '!slow=2 !endless', 1000)
  await talk.until('frame', 2)
  talk.send({ type: 'stop' })
  expect(await talk.child.ended).toEqual({ code: 0, signal: null, tail: '' })
  expect(isDead(talk.child.pid)).toBe(true)
})

test('the signals of a terminal do not end it', async () => {
  const talk = await ready()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.kill(talk.child.pid, signal)
    await talk.status()
  }
  talk.speak(1, 'alive', 10)
  await talk.until('end')
})

test('it ends by itself when the channel is closed', async () => {
  const child = Bun.spawn(testEngineCommand(), { env: {}, serialization: 'advanced', ipc: () => child.disconnect() })
  expect(await child.exited).toBe(0)
})

test('it does not start for a server that no longer exists', async () => {
  const talk = begin({ parentPid: 1 })
  expect((await talk.child.ended).code).toBe(1)
  expect(talk.received).toEqual([])
})

// The death signal and /proc are Linux's own.
test.skipIf(process.platform !== 'linux')('it dies with its server even inside an endless call', async () => {
  const parent = Bun.spawn(engineParentCommand('a !busy'), { env: {}, stdout: 'pipe' })
  const reader = parent.stdout.getReader()
  const pid = Number(new TextDecoder().decode((await reader.read()).value))
  const ticks = cpuTicks(pid)
  await until('the engine is busy', () => cpuTicks(pid) > ticks + 20)
  parent.kill('SIGKILL')
  await parent.exited
  await until('the engine is dead', () => isDead(pid), 2000)
})
