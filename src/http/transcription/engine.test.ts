import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { sound } from '../../audio/clip.ts'
import { concatS16 } from '../../audio/pcm.ts'
import { CardCatalog } from '../../catalog/catalog.ts'
import type { Task } from '../../domain/card.ts'
import { EngineClient } from '../../engine/client.ts'
import { testEngineCommand } from '../../testing/engine-child.ts'
import { type Instance, startInstance } from '../../testing/instance.ts'
import { silence, speech, words } from '../../testing/speech-clips.ts'
import { listenerCards } from '../../testing/test-listener.ts'
import { testCards } from '../../testing/test-voice.ts'
import { until } from '../../testing/until.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

// Everything is real here except the output of the two models: uploads, decoder, both engine processes, IPC.

const lines: string[] = []
const connect = (task: Task): EngineClient =>
  new EngineClient({
    task,
    command: testEngineCommand({ task }),
    env: {},
    readyMs: 10_000,
    stallMs: 10_000,
    loadMs: 10_000,
    log: (line) => lines.push(line),
  })
const engine = connect('text-to-speech')
const transcriber = connect('automatic-speech-recognition')
let instance: Instance
let key: string
/** Two windows of the test listener. */
let spoken: Int16Array
beforeAll(async () => {
  const listeners = listenerCards.map((card) => ({ ...card, options: { translates: true } }))
  const catalog = new CardCatalog([...testCards, ...listeners], () => false)
  instance = await startInstance({}, { catalog, engine, transcriber })
  key = await instance.key()
  spoken = await speech(words)
})
afterAll(async () => {
  await instance[Symbol.asyncDispose]()
  await Promise.all([engine.close(), transcriber.close()])
})

/** @param prompt the test listener's script */
function transcribe(
  pcm: Int16Array,
  prompt: string,
  fields: Record<string, string> = {},
  options: { route?: string; signal?: AbortSignal } = {},
): Promise<Response> {
  const body = new FormData()
  body.append('file', new File([sound.wav(pcm, 16_000) as Uint8Array<ArrayBuffer>], 'clip.wav'))
  for (const [name, value] of Object.entries({ model: 'test-listener', prompt, ...fields })) body.append(name, value)
  const { route = 'transcriptions', signal = null } = options
  return instance.fetch(`/v1/audio/${route}`, { method: 'POST', key, body, signal })
}

/** The data of server-sent events, as they arrive. */
async function* eventsOf(response: Response): AsyncGenerator<Record<string, unknown> | '[DONE]'> {
  let text = ''
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = (text + chunk).split('\n\n')
    text = blocks.pop() ?? ''
    for (const data of blocks.flatMap((block) => block.match(/^data: (.*)$/m)?.[1] ?? [])) {
      yield data === '[DONE]' ? data : (JSON.parse(data) as Record<string, unknown>)
    }
  }
}

const minute = () => concatS16(Array<Int16Array>(12).fill(spoken))

test('from an upload to a transcript, with the times of the clip', async () => {
  const response = await transcribe(concatS16([silence(2), spoken, silence(1)]), 'Good morning.', {
    response_format: 'verbose_json',
  })
  expect(response.status).toBe(200)
  const { text, language, duration, segments } = (await response.json()) as {
    text: string
    language: string
    duration: number
    segments: { start: number; end: number }[]
  }
  expect([text, language]).toEqual(['Good morning.', 'german'])
  expect(duration).toBeCloseTo(3 + spoken.length / 16_000, 2)
  expect(segments.map(({ start }) => Math.floor(start))).toEqual([1, 4])
  expect(segments.at(-1)?.end).toBeLessThanOrEqual(duration)
})

test('silence is 200 and an empty text, and the model is not asked', async () => {
  const response = await transcribe(silence(30), '!crash')
  expect([response.status, await response.json()]).toMatchObject([200, { text: '' }])
})

test('a stream sends the transcribed part while the rest is not done', async () => {
  const response = await transcribe(minute(), 'a !deaf', { stream: 'true' })
  const events = eventsOf(response)
  expect((await events.next()).value).toMatchObject({ type: 'transcript.text.delta', delta: 'a' })
  await until('the next window is transcribed', () => lines.includes('now !deaf'))
  await events.return(undefined)
  await until('the engine stopped', async () => (await transcriber.status()).activeStreams === 0)
})

test("a refusal by the model is 400, with the model's message", async () => {
  const response = await transcribe(spoken, '', {}, { route: 'translations' })
  const { error } = (await response.json()) as { error: Record<string, unknown> }
  expect([response.status, error.code, error.param]).toEqual([400, 'unsupported_value', 'model'])
  expect(error.message).toBe('This model writes what it hears.')
})

test('a client that disconnects ends the work in the engine', async () => {
  lines.length = 0
  const gone = new AbortController()
  const waiting = transcribe(minute(), '!deaf', {}, { signal: gone.signal }).catch(String)
  await until('it is transcribed', () => lines.includes('now !deaf'))
  gone.abort(new Error('gone'))
  await waiting
  await until('the engine stopped', async () => (await transcriber.status()).activeStreams === 0)
  expect((await transcriber.status()).restarts).toBe(0)
})

test('kill -9 of the engine fails its transcription, and speech continues', async () => {
  const body = { model: 'test', voice: 'test-voice', input: '!slow=1 !endless' }
  const speaking = (await instance.speak(key, body)).body?.getReader()
  lines.length = 0
  const streamed = eventsOf(await transcribe(minute(), 'a !deaf', { stream: 'true' }))
  await streamed.next()
  // From here on it holds the turn, and the other one cannot finish.
  await until('it is transcribed', () => lines.includes('now !deaf'), 20_000)
  const whole = transcribe(minute(), 'b')
  await until('both are with the engine', async () => (await transcriber.status()).activeStreams === 2, 20_000)
  process.kill((await transcriber.status()).pid ?? 0, 'SIGKILL')

  const failed = await whole
  const { error } = (await failed.json()) as { error: Record<string, unknown> }
  expect([failed.status, error.code]).toEqual([500, 'generation_failed'])
  const told: unknown[] = []
  const reading = (async () => {
    for await (const event of streamed) told.push(event)
  })()
  // A failed stream is not a complete answer, so its connection is aborted.
  await expect(reading).rejects.toThrow()
  expect(told.at(-1)).toMatchObject({ error: { code: 'generation_failed' } })
  for (let count = 0; count < 30; count++) expect((await speaking?.read())?.done).toBe(false)
  await speaking?.cancel()

  const again = await transcribe(spoken, 'a b')
  expect([again.status, await again.json()]).toMatchObject([200, { text: 'a b' }])
  expect([(await engine.status()).restarts, (await transcriber.status()).restarts]).toEqual([0, 1])
})

test('readiness knows both engines and their models', async () => {
  const response = await instance.fetch('/readyz')
  const { status, checks, models } = (await response.json()) as {
    status: string
    checks: object
    models: { id: string; task: string }[]
  }
  expect([response.status, status, checks]).toMatchObject([200, 'ready', { tts: 'ok', transcription: 'ok' }])
  expect(models.map(({ id, task }) => [id, task])).toEqual([
    ['test', 'text-to-speech'],
    ['test-listener', 'automatic-speech-recognition'],
    ['silero-vad', 'automatic-speech-recognition'],
  ])
})
