import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { cards } from '../../catalog/cards.ts'
import type { Card } from '../../domain/card.ts'
import { MynaError } from '../../domain/error.ts'
import { runCommand } from '../../testing/command.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { TestHub } from '../../testing/hub.ts'
import { type Instance, startInstance } from '../../testing/instance.ts'
import { withCards } from '../../testing/models-child.ts'
import { publish, testCard } from '../../testing/test-model.ts'
import { until } from '../../testing/until.ts'
import { installedCatalog } from './local.ts'

// Each command is a process of its own.
setDefaultTimeout(60_000)

let hub: TestHub
let card: Card
let known: Card[]
let program: string[]
let dataDir: string
let instance: Instance
let key: string
beforeAll(async () => {
  hub = await TestHub.start()
  card = testCard('speaker', publish(hub, 'org/speaker', 500, [{ path: 'model.onnx', sizeBytes: 100_000 }]))
  const file = (id: string, seed: number) => publish(hub, `org/${id}`, seed, [{ path: 'model.onnx', sizeBytes: 1000 }])
  const lesser = testCard('lesser', file('lesser', 501), { preference: 0 })
  const listens = { task: 'automatic-speech-recognition', voices: [], defaultVoice: null } as const
  const listener = testCard('listener', file('listener', 502), listens)
  known = [...cards.filter(({ builtIn }) => builtIn), card, lesser, listener]
  program = withCards(known)
})
afterAll(async () => {
  await instance[Symbol.asyncDispose]()
  await hub.stop()
})
beforeEach(async () => {
  await instance?.[Symbol.asyncDispose]()
  dataDir = join(temporaryFolder(), 'data')
  instance = await startInstance({ dataDir }, { catalog: installedCatalog({ dataDir }, known) })
  key = await instance.key()
})

const models = (...args: string[]) =>
  runCommand(['models', ...args], { program, env: { MYNA_DATA: dataDir, HF_ENDPOINT: hub.url } })

async function refusal(answer: Response): Promise<string> {
  const { error } = (await answer.json()) as { error: { code: string; message: string } }
  return `${answer.status} ${error.code} ${error.message}`
}

const how = "belongs to the model 'speaker', which is not installed. Install it with: myna models pull speaker"

test('every command that names a missing model, or its voice, explains how to install it', async () => {
  const speak = async (body: object) => refusal(await instance.speak(key, { ...body }))
  const get = async (path: string) => refusal(await instance.fetch(path, { key }))
  const model = "404 model_not_found The model 'speaker' is not installed. Install it with: myna models pull speaker"
  const voice = `404 voice_not_found The voice 'speaker-voice' ${how}`
  expect(await speak({ model: 'speaker', voice: undefined })).toBe(model)
  expect(await speak({ voice: 'speaker-voice' })).toBe(voice)
  expect(await speak({ voice: 'VOICE OF SPEAKER' })).toBe(`404 voice_not_found The voice 'VOICE OF SPEAKER' ${how}`)
  expect(await speak({ model: 'hibari', voice: 'speaker-voice' })).toBe(voice)
  expect(await get('/v1/models/speaker')).toBe(model)
  expect(await get('/v1/voices/speaker-voice')).toBe(voice)
  expect(await get('/v1/voices/speaker-voice/preview')).toBe(voice)
  expect(await get('/v1/voices/nobody')).toContain("The voice 'nobody' does not exist or you do not have access to it")
})

test('a running server has a model from its installation to its removal', async () => {
  expect((await models('pull', 'speaker')).code).toBe(0)
  const answer = await instance.speak(key, { voice: 'speaker-voice' })
  expect([answer.status, (await answer.arrayBuffer()).byteLength > 0]).toEqual([200, true])
  expect(instance.engine.orders.at(-1)).toMatchObject({ model: 'speaker', voiceId: 'speaker-voice' })
  expect((await instance.fetch('/v1/models/speaker', { key })).status).toBe(200)
  expect((await models('rm', 'speaker')).code).toBe(0)
  expect((await instance.fetch('/v1/models/speaker', { key })).status).toBe(404)
  expect(instance.engine.dismissed).toEqual(['speaker', 'speaker'])
  // Despite the failure, the built-in voice still speaks.
  expect((await instance.speak(key)).status).toBe(200)
})

test('a model that is now preferred is loaded at once, others on demand', async () => {
  for (const id of ['listener', 'lesser', 'speaker', 'speaker']) expect((await models('pull', id)).code).toBe(0)
  expect([instance.engine.warmed, instance.transcriber.warmed]).toEqual([['speaker'], ['listener']])
  expect((await models('rm', 'speaker')).code).toBe(0)
  expect(instance.engine.warmed).toEqual(['speaker'])
})

test('an engine that does not start does not fail the pull, and is logged', async () => {
  instance.transcriber.start = () => Promise.reject(new MynaError('engine_unavailable', 'It does not start.'))
  expect((await models('pull', 'listener')).code).toBe(0)
  await until('it is logged', () => instance.lines.some((line) => line.includes('listener could not be loaded ahead')))
  expect((await instance.speak(key)).status).toBe(200)
})

test('a half-deleted model counts as missing, and a pull repairs it under the server', async () => {
  await models('pull', 'speaker')
  rmSync(join(dataDir, 'models/installed/speaker/model.onnx'))
  expect(await refusal(await instance.speak(key, { model: 'speaker', voice: undefined }))).toContain('is not installed')
  rmSync(join(dataDir, 'models/installed/speaker'), { recursive: true })
  expect((await instance.fetch('/v1/models', { key })).status).toBe(200)
  await models('pull', 'speaker')
  expect((await instance.speak(key, { model: 'speaker', voice: undefined })).status).toBe(200)
})

test('a model in use is removed only with --force', async () => {
  await models('pull', 'speaker')
  instance.engine.known = { inUse: ['speaker'] }
  const refused = await models('rm', 'speaker', '--json')
  expect([refused.code, JSON.parse(refused.stderr)]).toEqual([
    1,
    { error: { code: 'model_in_use', message: expect.stringContaining('is using speaker. Wait') } },
  ])
  expect((await instance.fetch('/v1/models/speaker', { key })).status).toBe(200)
  expect((await models('rm', 'speaker', '--force')).code).toBe(0)
  expect((await instance.fetch('/v1/models/speaker', { key })).status).toBe(404)
})

test('a model that is being loaded for no request can be removed', async () => {
  await models('pull', 'speaker')
  instance.engine.known = { loading: ['speaker'], inUse: ['hibari'], activeStreams: 1 }
  expect((await models('rm', 'speaker')).code).toBe(0)
})
