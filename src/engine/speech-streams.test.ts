/** What becomes of streams when their engine dies: real processes, killed in the middle of them. */
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { MynaError } from '../domain/error.ts'
import type { SpeechFrame } from '../service/ports.ts'
import { order } from '../testing/talk.ts'
import { until } from '../testing/until.ts'
import { TestClients } from './client.fixture.ts'
import { creditFrames, grantFrames, type ToEngine } from './protocol.ts'
import { SpeechStreams } from './speech-streams.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const never = new AbortController().signal
const clients = new TestClients()
const { lines } = clients
afterEach(() => clients.close())

test('a stream of a killed engine continues in the next one, sample for sample', async () => {
  const client = clients.connect({}, { repeats: () => true })
  const text = `!slow=2 ${Array.from({ length: 60 }, (_, n) => `word${n}`).join(' ')}`
  const samplesOf = (frames: readonly SpeechFrame[]) => frames.flatMap(({ pcm }) => [...pcm])
  const whole = await Array.fromAsync(client.speak(order(text), never))
  const heard: SpeechFrame[] = []
  for await (const frame of client.speak(order(text), never)) {
    heard.push(frame)
    if (heard.length === 5) process.kill((await client.status()).pid!, 'SIGKILL')
  }
  expect(samplesOf(heard)).toEqual(samplesOf(whole))
  expect(heard.map(({ coveredChars }) => coveredChars)).toEqual(whole.map(({ coveredChars }) => coveredChars))
  expect(lines.some((line) => /^a stream continues in the next engine, after \d+ samples$/.test(line))).toBe(true)
  expect((await client.status()).restarts).toBe(1)
})

test('a stream whose second engine dies, too, fails', async () => {
  const client = clients.connect({}, { repeats: () => true })
  const frames = client.speak(order('!slow=2 !endless'), never)[Symbol.asyncIterator]()
  const { pid } = (await frames.next(), await client.status())
  process.kill(pid!, 'SIGKILL')
  await until('another engine works on it', async () => {
    await frames.next()
    return ![null, pid].includes((await client.status()).pid)
  })
  process.kill((await client.status()).pid!, 'SIGKILL')
  const rest = (async () => {
    while (!(await frames.next()).done) continue
  })()
  expect(await rest.catch((error: Error) => error.message)).toBe('The engine failed while it was speaking.')
})

test('a stream of a model that never says the same twice fails with its engine', async () => {
  const client = clients.connect()
  const frames = client.speak(order('!slow=2 !endless'), never)[Symbol.asyncIterator]()
  await frames.next()
  process.kill((await client.status()).pid!, 'SIGKILL')
  const rest = (async () => {
    while (!(await frames.next()).done) continue
  })()
  expect(await rest.catch((error: Error) => error.message)).toBe('The engine failed while it was speaking.')
})

test('a slow reader gets the rest from the next engine; one that has left costs it nothing', async () => {
  const client = clients.connect({}, { repeats: () => true })
  const words = `!slow=1 ${Array.from({ length: 60 }, (_, n) => `word${n}`).join(' ')}`
  const whole = await Array.fromAsync(client.speak(order(words), never))
  const heard: SpeechFrame[] = []
  const reading = client.speak(order(words), never)[Symbol.asyncIterator]()
  const leaving = new AbortController()
  const gone = client.speak(order('!slow=1 !endless'), leaving.signal)[Symbol.asyncIterator]()
  heard.push((await reading.next()).value!)
  await gone.next()
  process.kill((await client.status()).pid!, 'SIGKILL')
  leaving.abort(new Error('left'))
  await until('another engine is there', async () => (await client.status()).restarts === 1)
  await client.start()
  for (let step = await reading.next(); !step.done; step = await reading.next()) heard.push(step.value)
  expect(heard.flatMap(({ pcm }) => [...pcm])).toEqual(whole.flatMap(({ pcm }) => [...pcm]))
  await until('nothing is left', async () => (await client.status()).activeStreams === 0)
})

test('what a reader takes is granted again in few messages, and never more than is in flight at most', async () => {
  const sent: ToEngine[] = []
  const streams = streamsThat((message) => sent.push(message))
  const reading = streams.begin(order('a'), never)
  for (let taken = 0; taken < 2 * grantFrames; taken++) {
    const step = reading.next()
    await Promise.resolve()
    streams.receive({ type: 'frame', stream: 1, pcm: new Int16Array(1), coveredChars: 0, engineMs: 0 })
    await step
  }
  expect(sent).toMatchObject([
    { type: 'speak', credits: creditFrames },
    { type: 'credit', frames: grantFrames },
    { type: 'credit', frames: grantFrames },
  ])
})

/** With an engine that only hears. */
const streamsThat = (hear: (message: ToEngine) => void): SpeechStreams =>
  new SpeechStreams({
    nowMs: () => 0,
    nextId: () => 1,
    start: async () => {},
    send: (message) => {
      hear(message)
      return true
    },
    onOpen: () => {},
    patienceMs: () => null,
    repeats: () => false,
    unavailable: () => new MynaError('engine_unavailable', 'It is gone.'),
    failure: () => new MynaError('generation_failed', 'It failed.'),
    log: () => {},
  })
