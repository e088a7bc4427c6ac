/**
 * What the database records about a transcription: from before the engine receives it until it has ended, and how it
 * ended.
 */
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { StreamingDecoder } from '../../audio/decode/stream.ts'
import { MynaError } from '../../domain/error.ts'
import { systemTimer } from '../../domain/time.ts'
import type { StreamDecoder } from '../../service/ports/transcription.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { type Instance, startInstance } from '../../testing/instance.ts'
import { until } from '../../testing/until.ts'
import { errorOf, formOf, recordingOf, startListening, transcribe, usageOf } from './transcription.fixture.ts'

const minute = () => new File([recordingOf(...Array.from({ length: 60 }, () => 9))], 'minute.wav')

function rows(dataDir: string, sql: string): unknown[] {
  const books = new Database(join(dataDir, 'myna.db'), { readonly: true })
  try {
    return books.query(sql).all()
  } finally {
    books.close()
  }
}
const underWay = ({ dataDir }: Instance) => rows(dataDir, 'SELECT model, heard_ms FROM transcriptions')
const ended = ({ dataDir }: Pick<Instance, 'dataDir'>) =>
  rows(dataDir, 'SELECT outcome, error_code, audio_ms FROM usage ORDER BY id')

/** Stops before each part until it is released. */
function stepwise(instance: Instance) {
  let allowed = 0
  let reached = -1
  let wake = Promise.withResolvers<void>()
  instance.transcriber.plan = () => ({
    before: async (part) => {
      reached = part
      while (part >= allowed) await wake.promise
    },
  })
  const allow = (parts: number) => {
    allowed = parts
    wake.resolve()
    wake = Promise.withResolvers()
  }
  const allowTo = async (parts: number) => {
    allow(parts)
    await until(`part ${parts} is reached`, () => reached === parts)
  }
  return { allow, allowTo }
}

test('a running transcription is in the database, and in no report as ended', async () => {
  await using instance = await startListening()
  const key = await instance.key()
  const { allow, allowTo } = stepwise(instance)
  const answer = transcribe(instance, key)
  await allowTo(0)
  expect([underWay(instance), ended(instance)]).toEqual([[{ model: 'whisper-base', heard_ms: 0 }], []])
  await allowTo(1)
  instance.clock.advance(5000)
  await allowTo(2)
  await until('progress was recorded', () =>
    Bun.deepEquals(underWay(instance), [{ model: 'whisper-base', heard_ms: 2000 }]),
  )
  expect(ended(instance)).toEqual([])
  expect(await usageOf(instance, key)).toEqual({ requests: 0, seconds: 0, charged_micros: 0 })
  expect(await instance.metrics()).not.toMatch(/voice_transcriptions_total\{/)
  allow(3)
  expect((await answer).status).toBe(200)
  expect([underWay(instance), ended(instance)]).toEqual([
    [],
    [{ outcome: 'completed', error_code: null, audio_ms: 3000 }],
  ])
  expect(await usageOf(instance, key)).toMatchObject({ requests: 1, seconds: 3 })
})

test('work of a killed server is counted up to the recorded progress, before the port opens', async () => {
  await using instance = await startListening()
  const key = await instance.key()
  const { allow, allowTo } = stepwise(instance)
  const answers = [transcribe(instance, key, { file: minute() }).catch(() => null)]
  await allowTo(1)
  instance.clock.advance(5000)
  await allowTo(2)
  await until('it was recorded', () => Bun.deepEquals(underWay(instance), [{ model: 'whisper-base', heard_ms: 2000 }]))
  answers.push(transcribe(instance, key, { file: minute() }).catch(() => null))
  await until('both are running', () => underWay(instance).length === 2)
  // What is on the disk at this moment is what kill -9 leaves.
  const dataDir = temporaryFolder()
  for (const name of ['myna.db', 'myna.db-wal']) {
    if (existsSync(join(instance.dataDir, name))) copyFileSync(join(instance.dataDir, name), join(dataDir, name))
  }
  await using again = await startInstance({ dataDir })
  expect(again.server.endedCrashed).toBe(2)
  expect(underWay(again)).toEqual([])
  expect(ended(again)).toEqual([
    { outcome: 'stream_failed', error_code: 'server_stopped', audio_ms: 2000 },
    { outcome: 'failed', error_code: 'server_stopped', audio_ms: 0 },
  ])
  expect(await usageOf(again, key)).toEqual({ requests: 1, seconds: 2, charged_micros: 0 })
  allow(60)
  await Promise.all(answers)
}, 30_000)

test('each ending is reported in the words of operations', async () => {
  await using instance = await startListening()
  const key = await instance.key()
  const failWith = new MynaError('engine_unavailable', 'Not now.', { retryAfterMs: 5000 })
  for (const failAt of [0, 2]) {
    instance.transcriber.plan = () => ({ failAt, failWith })
    expect((await transcribe(instance, key)).status).toBe(503)
  }
  instance.transcriber.plan = () => ({})
  expect((await transcribe(instance, key, { file: new File([recordingOf(0, 0)], 'quiet.wav') })).status).toBe(200)
  expect((await transcribe(instance, key, { file: new File(['no audio'], 'talk.wav') })).status).toBe(400)
  const { allowTo } = stepwise(instance)
  const leaving = new AbortController()
  const init = { method: 'POST', key, body: formOf(), signal: leaving.signal }
  const answer = instance.fetch('/v1/audio/transcriptions', init).catch(() => null)
  await allowTo(1)
  leaving.abort()
  await answer
  await until('it has ended', () => underWay(instance).length === 0)
  expect(ended(instance)).toEqual([
    { outcome: 'failed', error_code: 'engine_unavailable', audio_ms: 0 },
    { outcome: 'stream_failed', error_code: 'engine_unavailable', audio_ms: 2000 },
    { outcome: 'completed', error_code: null, audio_ms: 2000 },
    { outcome: 'stream_failed', error_code: 'client_disconnected', audio_ms: 1000 },
  ])
})

test('a database that cannot be written is reported before the engine is asked', async () => {
  await using instance = await startListening()
  const key = await instance.key()
  const other = new Database(join(instance.dataDir, 'myna.db'))
  other.run('BEGIN IMMEDIATE')
  const refused = await transcribe(instance, key)
  expect([refused.status, await errorOf(refused)]).toMatchObject([507, { code: 'storage_full' }])
  expect(instance.transcriber.orders).toEqual([])
  other.run('ROLLBACK')
  other.close()
  expect((await transcribe(instance, key)).status).toBe(200)
  expect(ended(instance)).toHaveLength(1)
}, 30_000)

test('a client that disconnects during its first write to the database leaves nothing running', async () => {
  const decoder = new StreamingDecoder({ timer: systemTimer })
  const decoded = Promise.withResolvers<void>()
  const streamDecoder: StreamDecoder = {
    async open(...given) {
      const clip = await decoder.open(...given)
      return { ...clip, pcm: noticed(clip.pcm, decoded.resolve) }
    },
  }
  await using instance = await startListening({}, ['whisper-base'], { streamDecoder })
  const key = await instance.key()
  const other = new Database(join(instance.dataDir, 'myna.db'))
  other.run('BEGIN IMMEDIATE')
  const leaving = new AbortController()
  const init = { method: 'POST', key, body: formOf(), signal: leaving.signal }
  const answer = instance.fetch('/v1/audio/transcriptions', init).catch(() => null)
  await decoded.promise
  leaving.abort()
  await answer
  await until('the disconnection was noticed', () => decoder.files === 0)
  other.run('ROLLBACK')
  other.close()
  await until('it has ended', async () =>
    (await instance.metrics()).includes('voice_transcriptions_total{result="client_gone"} 1'),
  )
  expect([underWay(instance), ended(instance)]).toEqual([
    [],
    [{ outcome: 'stream_failed', error_code: 'client_disconnected', audio_ms: 0 }],
  ])
  expect(instance.transcriber.orders).toEqual([])
  decoder.close()
})

async function* noticed<T>(items: AsyncIterable<T>, onItem: () => void): AsyncGenerator<T> {
  for await (const item of items) {
    onItem()
    yield item
  }
}
