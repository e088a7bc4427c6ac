/**
 * The compiled executable with a neural model that it got from a hub while it was serving: from the pull to the last
 * byte of a stream, and back to a machine without it. The model is Pocket TTS in Dutch, because the hashes of its files
 * are not public, so graphs of its shape with random weights can replace it.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { freshExecutable } from '../../../build/compile.ts'
import { cards } from '../../catalog/cards.ts'
import { decodeFile } from '../../audio/decode/clip.ts'
import { audioFormats } from '../../domain/speech.ts'
import { runCommand } from '../../testing/command.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { TestHub } from '../../testing/hub.ts'
import { type Program, startProgram } from '../../testing/program.ts'
import { pocketFolder, publishFolder } from '../../testing/small-models.ts'
import { breaks, eventsOf } from '../../testing/streams.ts'
import { until } from '../../testing/until.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const model = 'pocket-tts-dutch'
const sentence = 'De vogels in de oude tuin leren elk lied dat ze horen. '
/** An hour of noise, so that no stream of it ends before the test looks at it. */
const story = sentence.repeat(1000)

let hub: TestHub
let myna: string
let env: Record<string, string>
let program: Program
let key: string
beforeAll(async () => {
  const home = temporaryFolder()
  myna = join(home, 'myna')
  copyFileSync(await freshExecutable(), myna)
  hub = await TestHub.start()
  const dutch = cards.find(({ id }) => id === model)
  if (dutch === undefined) throw new Error(`there is no ${model}`)
  await publishFolder(hub, dutch, await pocketFolder('daan'))
  const folders = { HOME: home, XDG_CACHE_HOME: join(home, 'cache'), MYNA_DATA: join(home, 'data') }
  env = { PATH: '/usr/bin:/bin', ...folders, HF_ENDPOINT: hub.url, MYNA_MAX_INPUT_CHARS: '1000000' }
  program = await startProgram(join(home, 'data'), env, [], [myna])
  key = program.key
}, 120_000)
afterAll(async () => {
  await program?.end()
  await hub?.stop()
})

const run = (...args: string[]) => runCommand(args, { program: [myna], env })
const speak = (body: Record<string, unknown>) => program.speak(key, { input: sentence, ...body })
const errorOf = async (answer: Response) => ({
  status: answer.status,
  ...((await answer.json()) as { error: { code: string; message: string } }).error,
})
const get = async (path: string) => (await (await program.fetch(path, key)).json()) as Record<string, unknown>
const operation = (answer: Response) => get(`/v1/operations/${answer.headers.get('x-request-id')}`)
const ids = async (path: string, list: string, id: string) =>
  ((await get(path))[list] as Record<string, unknown>[]).map((one) => one[id])
const metrics = async () => program.metrics()
const settled = (answer: Response) =>
  until('it is settled', async () => (await operation(answer)).state === 'terminal', 20_000)

/** Of a long text, once its first bytes have arrived. */
async function begun(body: Record<string, unknown> = {}) {
  const answer = await speak({ input: story, response_format: 'pcm', ...body })
  expect(answer.status).toBe(200)
  const reader = answer.body!.getReader()
  expect((await reader.read()).value?.length).toBeGreaterThan(0)
  return { answer, reader }
}

test('before it is installed, its name and its voice are errors that explain how to get it', async () => {
  const how = `Install it with: myna models pull ${model}`
  const byModel = await errorOf(await speak({ model }))
  expect(byModel).toMatchObject({ status: 404, code: 'model_not_found', message: expect.stringContaining(how) })
  const byVoice = await errorOf(await speak({ voice: 'daan' }))
  expect(byVoice).toMatchObject({ status: 404, code: 'voice_not_found', message: expect.stringContaining(how) })
  expect(await ids('/v1/voices', 'voices', 'voice_id')).not.toContain('daan')
})

test('a running server has it as soon as a pull ends, and prefers it', async () => {
  const pulled = await run('models', 'pull', model)
  expect([pulled.code, pulled.stdout]).toEqual([0, expect.stringContaining(`${model} is installed`)])
  const answer = await speak({ response_format: 'pcm' })
  expect([answer.status, answer.headers.get('x-audio-sample-rate')]).toEqual([200, '24000'])
  expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(20_000)
  expect(await operation(answer)).toMatchObject({ outcome: 'completed', voice_id: 'daan' })
  expect(await ids('/v1/models', 'data', 'id')).toContain(model)
  expect(await ids('/v1/voices', 'voices', 'voice_id')).toContain('daan')
  expect(await get('/readyz')).toMatchObject({
    status: 'ready',
    models: expect.arrayContaining([expect.objectContaining({ id: model, state: 'loaded', active_streams: 0 })]),
  })
  const loaded = `voice_model_memory_bytes{task="text-to-speech",model="${model}",device="cpu"} 600000000`
  expect(await metrics()).toContain(loaded)
  expect((await run('ps')).stdout).toMatch(new RegExp(`${model} +cpu +600 MB`))
  expect((await run('models', 'list')).stdout).toMatch(new RegExp(`${model} +speech +yes`))
  expect((await run('models', 'verify', model)).code).toBe(0)
})

test.each([...audioFormats])('it speaks %s', async (format) => {
  const answer = await speak({ response_format: format, model, voice: 'daan' })
  expect(answer.status).toBe(200)
  const bytes = new Uint8Array(await answer.arrayBuffer())
  if (format === 'pcm') return expect(bytes.length).toBeGreaterThan(20_000)
  const { pcm } = await decodeFile(bytes, 600)
  expect(pcm.some((sample) => Math.abs(sample) > 0.01)).toBe(true)
})

test('the same seed gives the same audio, another seed another', async () => {
  const audio = async (seed: number) =>
    Bun.hash(await (await speak({ model, seed, response_format: 'wav' })).arrayBuffer())
  const one = await audio(11)
  expect(await audio(11)).toBe(one)
  expect(await audio(12)).not.toBe(one)
})

test('the first audio arrives while the rest is still being made, and cancelling the operation stops it', async () => {
  const { answer, reader } = await begun()
  const id = answer.headers.get('x-request-id')
  expect(await get(`/v1/operations/${id}`)).toMatchObject({ state: 'pending' })
  const models = (await get('/readyz')).models as Record<string, unknown>[]
  expect(models.find((one) => one.id === model)).toMatchObject({ active_streams: 1, idle_seconds_left: null })
  const cancelled = await program.fetch(`/v1/operations/${id}/cancel`, key, { method: 'POST' })
  expect(await cancelled.json()).toEqual({ ok: true })
  expect(await breaks(reader)).toBe(true)
  expect(await operation(answer)).toMatchObject({ state: 'terminal', outcome: 'cancelled' })
})

test('a client that disconnects ends the work, and pays for the audio it received', async () => {
  const { answer, reader } = await begun()
  await reader.cancel()
  await settled(answer)
  const { outcome, charged_micros, error } = await operation(answer)
  expect([outcome, error]).toMatchObject(['stream_failed', { code: 'client_disconnected' }])
  expect(charged_micros).toBeGreaterThan(0)
  expect(charged_micros).toBeLessThan(15 * story.length)
  await until('the engine is free', async () => (await program.engine()).activeStreams === 0, 10_000)
})

test('events carry the same bytes as a plain stream', async () => {
  const body = { model, seed: 3, response_format: 'pcm' }
  const plain = Buffer.from(await (await speak(body)).arrayBuffer())
  const events = eventsOf(await (await speak({ ...body, stream_format: 'sse' })).text())
  const deltas = events.filter(({ type }) => type === 'speech.audio.delta')
  expect(Buffer.concat(deltas.map(({ audio }) => Buffer.from(String(audio), 'base64'))).equals(plain)).toBe(true)
  expect(events.at(-1)).toMatchObject({ type: 'speech.audio.done', usage: { characters: sentence.length } })
})

test('a long text is spoken to its end', async () => {
  const one = (await (await speak({ model, seed: 1, response_format: 'pcm' })).arrayBuffer()).byteLength
  const answer = await speak({ model, seed: 1, response_format: 'pcm', input: sentence.repeat(40) })
  expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(10 * one)
  expect(await operation(answer)).toMatchObject({ outcome: 'completed', charged_micros: 15 * 40 * sentence.length })
})

test('killing the engine aborts the stream, free of charge, and the next request gets a new engine', async () => {
  const { answer, reader } = await begun({ model })
  const { pid } = await program.engine()
  process.kill(pid!, 'SIGKILL')
  expect(await breaks(reader)).toBe(true)
  expect(await operation(answer)).toMatchObject({ outcome: 'stream_failed', charged_micros: 0 })
  const next = await speak({ model })
  expect([next.status, (await next.arrayBuffer()).byteLength > 1000]).toEqual([200, true])
  expect((await program.engine()).pid).not.toBe(pid)
  expect(await metrics()).toContain('voice_engine_restarts{task="text-to-speech",device="cpu"} 1')
})

test('it is removed only while not in use; then its name is again an error that says how to get it', async () => {
  const { reader } = await begun({ model })
  const refused = await run('models', 'rm', model)
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(`is using ${model}`)])
  await reader.cancel()
  await until('the engine is free', async () => (await program.engine()).activeStreams === 0, 10_000)
  expect((await run('models', 'rm', model)).code).toBe(0)
  expect(await errorOf(await speak({ model }))).toMatchObject({ status: 404, code: 'model_not_found' })
  await until('it is out of memory', async () => (await program.engine()).models.every(({ id }) => id !== model))
  // The built-in voice still speaks.
  expect((await speak({})).status).toBe(200)
})
