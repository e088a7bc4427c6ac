import { expect, test } from 'bun:test'
import { cards } from '../catalog/cards.ts'
import { CardCatalog } from '../catalog/catalog.ts'
import type { Task } from '../domain/card.ts'
import type { EngineState, EngineStatus } from '../service/ports/engines.ts'
import { FakeTranscriber } from '../testing/fake-transcriber.ts'
import { startInstance } from '../testing/instance.ts'
import type { ModelStanding } from '../service/model-troubles.ts'
import { readinessOf, type ReadinessFacts } from './readiness.ts'

const engine: EngineStatus = new FakeTranscriber().status()
const of = (...states: EngineState[]): EngineStatus[] => states.map((state) => ({ ...engine, state }))
const sound = { disk: 'ok', database: 'ok', uploads: 'ok' } as const
const well: ReadinessFacts = {
  isDraining: false,
  storage: sound,
  databaseFails: false,
  isDiskFull: false,
  speech: of('ready'),
  transcription: of('ready'),
  models: { troubles: [], able: new Set(['text-to-speech', 'automatic-speech-recognition']) },
}

/** One model of the task is unusable. @param isOnly no other model has the same task */
function without(task: Task, isOnly: boolean): { models: ModelStanding } {
  const able = new Set(well.models.able)
  if (isOnly) able.delete(task)
  return { models: { troubles: [{ id: 'm', task, words: 'm could not be loaded' }], able } }
}
const [speaks, listens] = ['text-to-speech', 'automatic-speech-recognition'] as const

const cases: [string, Partial<ReadinessFacts>, string, boolean][] = [
  ['all is well', {}, 'ready', true],
  ['engines that nobody needed for a while', { speech: of('stopped'), transcription: of('stopped') }, 'ready', true],
  ['no model for transcription', { transcription: null }, 'ready', true],
  ['transcription starts', { transcription: of('starting') }, 'ready', true],
  ['transcription alone has failed', { transcription: of('failed') }, 'degraded', true],
  ['speech starts', { speech: of('starting') }, 'loading', false],
  [
    'speech starts, transcription has failed',
    { speech: of('starting'), transcription: of('failed') },
    'loading',
    false,
  ],
  ['speech has failed', { speech: of('failed') }, 'degraded', false],
  ['one of two has failed', { speech: of('failed', 'ready'), transcription: of('stopped', 'failed') }, 'ready', true],
  ['one of two has failed, the other starts', { speech: of('failed', 'starting') }, 'loading', false],
  ['both of two have failed', { speech: of('failed', 'failed') }, 'degraded', false],
  ['the database fails', { databaseFails: true }, 'degraded', false],
  ['settlements wait for the disk', { isDiskFull: true }, 'degraded', false],
  ['the disk is full', { storage: { ...sound, disk: 'full' } }, 'degraded', false],
  ['the disk is read-only', { storage: { ...sound, disk: 'read_only' } }, 'degraded', false],
  ['the database is damaged', { storage: { ...sound, database: 'damaged' } }, 'degraded', false],
  ['the folder of uploads was deleted', { storage: { ...sound, uploads: 'failed' } }, 'degraded', true],
  ['a model that cannot speak, beside others', without(speaks, false), 'degraded', true],
  ['no model that can speak', without(speaks, true), 'degraded', false],
  ['a model that cannot listen, beside others', without(listens, false), 'degraded', true],
  ['no model that can listen', without(listens, true), 'degraded', true],
  [
    'speech starts, and one model cannot be used',
    { speech: of('starting'), ...without(speaks, false) },
    'loading',
    false,
  ],
  ['it is being stopped', { isDraining: true, speech: of('failed') }, 'draining', false],
]

test.each(cases)('%s', (_, facts, status, isServing) => {
  expect(readinessOf({ ...well, ...facts })).toMatchObject({ status, isServing })
})

test('the check of a task reports whether all of its models are usable', () => {
  const checksOf = (facts: Partial<ReadinessFacts>) => readinessOf({ ...well, ...facts }).checks
  expect(checksOf({})).toMatchObject({ tts: 'ok', transcription: 'ok' })
  expect(checksOf(without(speaks, false))).toMatchObject({ tts: 'degraded', transcription: 'ok' })
  expect(checksOf(without(speaks, true))).toMatchObject({ tts: 'failed', transcription: 'ok' })
  expect(checksOf(without(listens, false))).toMatchObject({ tts: 'ok', transcription: 'degraded' })
  expect(checksOf({ transcription: null, ...without(listens, true) })).toMatchObject({ transcription: 'unavailable' })
})

test('a model that could not be loaded is reported with its name and reason, until it is in memory', async () => {
  const catalog = new CardCatalog(cards, ({ id }) => id === 'kokoro-82m')
  await using instance = await startInstance({}, { catalog })
  instance.engine.known = { failed: [{ id: 'kokoro-82m', reason: 'model.onnx cannot be opened' }] }
  const look = async () => (await (await instance.fetch('/readyz')).json()) as Record<string, unknown>
  const words = 'kokoro-82m could not be loaded: model.onnx cannot be opened'
  expect(await look()).toMatchObject({
    status: 'degraded',
    checks: { tts: 'degraded' },
    models: [{ id: 'kokoro-82m', task: 'text-to-speech', state: 'failed', reason: words, device: null }],
  })
  expect(await instance.server.status()).toMatchObject({ readiness: 'degraded', troubles: [{ words }] })
  const loaded = { id: 'kokoro-82m', device: 'cpu', memoryBytes: 9, activeStreams: 0, idleMsLeft: null }
  instance.engine.known = { failed: instance.engine.known.failed!, models: [loaded] }
  expect(await look()).toMatchObject({ status: 'ready', models: [{ id: 'kokoro-82m', state: 'loaded' }] })
})

test('readiness, metrics and the local status report on both engines', async () => {
  const catalog = new CardCatalog(cards, ({ id }) => id === 'whisper-base')
  await using instance = await startInstance({}, { catalog })
  const model = { id: 'whisper-base', device: 'cpu', memoryBytes: 9, activeStreams: 1, idleMsLeft: null }
  instance.transcriber.known = { state: 'failed', deviceReason: 'no CUDA', models: [model] }
  const response = await instance.fetch('/readyz')
  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({
    status: 'degraded',
    checks: { database: 'ok', tts: 'ok', transcription: 'failed', disk: 'ok', uploads: 'ok' },
    devices: { tts: { device: 'cpu', reason: null }, transcription: { device: 'cpu', reason: 'no CUDA' } },
    models: [
      {
        id: 'whisper-base',
        task: 'automatic-speech-recognition',
        state: 'loaded',
        device: 'cpu',
        memory_bytes: 9,
        active_streams: 1,
        idle_seconds_left: null,
      },
    ],
  })
  const metrics = await instance.metrics()
  expect(metrics).toContain('voice_engine_up{task="text-to-speech",device="cpu"} 1')
  expect(metrics).toContain('voice_engine_up{task="automatic-speech-recognition",device="cpu"} 0')
  const { readiness, engines } = await instance.server.status()
  expect(readiness).toBe('degraded')
  expect(engines.map(({ task }) => task)).toEqual(['text-to-speech', 'automatic-speech-recognition'])
})

test('each of several devices is reported, with its memory use', async () => {
  await using instance = await startInstance()
  const card = { device: 'cuda:0', deviceMemory: { usedBytes: 3, totalBytes: 8 } }
  const other = { device: 'cpu', deviceReason: 'cuda:1: CUDA failure 2: out of memory' }
  const status = instance.engine.status()
  instance.engine.engines = async () => [
    { ...status, ...card },
    { ...status, ...other },
  ]
  const ready = (await (await instance.fetch('/readyz')).json()) as { devices: unknown }
  expect(ready.devices).toEqual({
    transcription: { device: 'cpu', reason: null },
    tts: {
      device: 'cuda:0',
      reason: null,
      memory_used_bytes: 3,
      memory_total_bytes: 8,
      others: [{ device: 'cpu', reason: 'cuda:1: CUDA failure 2: out of memory' }],
    },
  })
  const metrics = await instance.metrics()
  expect(metrics).toContain('voice_engine_up{task="text-to-speech",device="cuda:0"} 1')
  expect(metrics).toContain(
    'voice_engine_fallback{task="text-to-speech",device="cpu",reason="cuda:1: CUDA failure 2: out of memory"} 1',
  )
  expect(metrics).toContain('voice_device_memory_bytes{device="cuda:0",kind="used"} 3')
  expect(metrics).toContain('voice_device_memory_bytes{device="cuda:0",kind="total"} 8')
})
