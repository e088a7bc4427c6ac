/** How a clone ends when it does not simply become ready: cancelled, deleted, failed, shut down, crashed. */
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MynaError } from '../../domain/error.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { type Instance, startInstance, type VoiceJson } from '../../testing/instance.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import { until } from '../../testing/until.ts'

const priced = { freeClones: 0, cloneMicros: 400 }

const get = async (instance: Instance, path: string, key: string) =>
  (await (await instance.fetch(path, { key })).json()) as Record<string, unknown>

const balance = async (instance: Instance, key: string) => (await get(instance, '/v1/me', key)).balance_micros

const foldersOf = ({ dataDir }: Pick<Instance, 'dataDir'>, name = 'voices'): string[] => {
  const folder = join(dataDir, name)
  return existsSync(folder) ? readdirSync(folder) : []
}

/** A clone that is being made until `learned` is settled. */
async function underWay(instance: Instance, key: string) {
  const learned = Promise.withResolvers<Uint8Array>()
  const began = Promise.withResolvers<void>()
  instance.engine.learn = () => {
    began.resolve()
    return learned.promise
  }
  const answer = await instance.clone(key)
  const { voice_id: id, operation_id: operation } = (await answer.json()) as VoiceJson
  expect(answer.status).toBe(201)
  await began.promise
  return { id, operation: `/v1/operations/${operation}`, learned }
}

describe('cancel', () => {
  test('ends the work, refunds, and leaves a failed voice', async () => {
    await using instance = await startInstance(priced)
    const key = await instance.key({ prepaidMicros: 1000 })
    const { id, operation } = await underWay(instance, key)
    expect(await balance(instance, key)).toBe(600)
    const cancel = () => instance.fetch(`${operation}/cancel`, { method: 'POST', key })
    expect(await (await cancel()).json()).toEqual({ ok: true })
    expect(await instance.voice(key, id)).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
    expect(await get(instance, operation, key)).toMatchObject({ outcome: 'cancelled', charged_micros: 0 })
    expect(await (await cancel()).json()).toEqual({ ok: false })
    expect(await balance(instance, key)).toBe(1000)
    expect([instance.engine.forgotten, foldersOf(instance)]).toEqual([1, []])
    const spoken = await instance.speak(key, { voice: id })
    expect([spoken.status, await spoken.json()]).toMatchObject([400, { error: { code: 'voice_unusable' } }])
  })

  test('during the preview leaves no files either', async () => {
    await using instance = await startInstance(priced)
    const key = await instance.key({ prepaidMicros: 1000 })
    const speaking = Promise.withResolvers<void>()
    instance.engine.plan = () => ({
      before: () => {
        speaking.resolve()
        return new Promise(() => {})
      },
    })
    const { voice_id: id, operation_id: operation } = (await (await instance.clone(key)).json()) as VoiceJson
    await speaking.promise
    await instance.fetch(`/v1/operations/${operation}/cancel`, { method: 'POST', key })
    expect(await instance.voice(key, id)).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
    expect([await balance(instance, key), foldersOf(instance)]).toEqual([1000, []])
  })

  test('while it waits for its turn begins no work', async () => {
    await using instance = await startInstance({ ...priced, cloneStreams: 1 })
    const key = await instance.key({ prepaidMicros: 1000 })
    const { learned } = await underWay(instance, key)
    const { voice_id: id, operation_id: operation } = (await (await instance.clone(key)).json()) as VoiceJson
    await instance.fetch(`/v1/operations/${operation}/cancel`, { method: 'POST', key })
    expect(await instance.voice(key, id)).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
    learned.resolve(new Uint8Array(1))
    await until('the first is paid', async () => (await balance(instance, key)) === 600)
    expect(instance.engine.clips).toHaveLength(1)
  })
})

describe('delete', () => {
  test('during its making settles it as cancelled, and nothing of it comes back', async () => {
    await using instance = await startInstance(priced)
    const key = await instance.key({ prepaidMicros: 1000 })
    const { id, operation, learned } = await underWay(instance, key)
    const gone = await instance.fetch(`/v1/voices/${id}`, { method: 'DELETE', key })
    expect(gone.status).toBe(204)
    expect(await get(instance, operation, key)).toMatchObject({ outcome: 'cancelled', charged_micros: 0 })
    learned.resolve(new Uint8Array(1))
    await until('the clone is over', async () =>
      (await instance.metrics()).includes('voice_clones_total{result="cancelled"} 1'),
    )
    expect((await instance.fetch(`/v1/voices/${id}`, { key })).status).toBe(404)
    expect([await balance(instance, key), foldersOf(instance)]).toEqual([1000, []])
  })

  test('at the very moment when it becomes ready: one of the two wins, and no file remains', async () => {
    // A deleted clone may still be writing when the next one begins, so all of them may run at once.
    await using instance = await startInstance({
      ...priced,
      clonesPerMinute: 100,
      cloneConcurrency: 12,
      cloneStreams: 12,
    })
    const key = await instance.key({ prepaidMicros: 100_000 })
    let charged = 0
    for (let turn = 0; turn < 12; turn++) {
      const { id, operation, learned } = await underWay(instance, key)
      learned.resolve(new Uint8Array(1))
      // Later in each turn, so that the deletion comes before, among and after the writes.
      for (let step = 0; step < turn; step++) await instance.fetch('/health')
      expect((await instance.fetch(`/v1/voices/${id}`, { method: 'DELETE', key })).status).toBe(204)
      const { outcome, charged_micros: micros } = await get(instance, operation, key)
      expect([turn, outcome, micros]).toEqual(outcome === 'completed' ? [turn, outcome, 400] : [turn, 'cancelled', 0])
      charged += Number(micros)
    }
    const settled = /voice_clones_total\{result="\w+"\} (\d+)/g
    await until('all are over', async () => {
      const metrics = await instance.metrics()
      return [...metrics.matchAll(settled)].reduce((sum, [, count]) => sum + Number(count), 0) === 12
    })
    expect([await balance(instance, key), foldersOf(instance)]).toEqual([100_000 - charged, []])
  })

  test('sets voice_id to null on agents that use it; they stay', async () => {
    await using instance = await startInstance()
    const key = await instance.key()
    const { voice_id: id } = await instance.cloned(key)
    const { id: account } = await get(instance, '/v1/me', key)
    const books = new Database(join(instance.dataDir, 'myna.db'))
    books.run('PRAGMA foreign_keys = ON')
    books.run('INSERT INTO agents (id, account_id, voice_id) VALUES (?, ?, ?)', ['agent_1', String(account), id])
    await instance.fetch(`/v1/voices/${id}`, { method: 'DELETE', key })
    expect(books.query('SELECT id, voice_id FROM agents').all()).toEqual([{ id: 'agent_1', voice_id: null }])
    books.close()
  })

  test('removes clip, reference, state, preview and pictures, and lets running speech finish', async () => {
    await using instance = await startInstance()
    const key = await instance.key()
    const { voice_id: id } = await instance.cloned(key, { name: 'Ada' })
    for (const form of ['preview?response_format=mp3', 'preview.png']) {
      expect((await instance.fetch(`/v1/voices/${id}/${form}`, { key })).status).toBe(200)
    }
    expect([foldersOf(instance), foldersOf(instance, 'previews')]).toEqual([[id], [id]])
    const more = Promise.withResolvers<void>()
    instance.engine.plan = () => ({ before: (frame) => (frame === 1 ? more.promise : undefined) })
    const speech = await instance.speak(key, { voice: 'ada' })
    expect((await instance.fetch(`/v1/voices/${id}`, { method: 'DELETE', key })).status).toBe(204)
    more.resolve()
    expect((await speech.arrayBuffer()).byteLength).toBe(4 * 4800)
    expect([foldersOf(instance), foldersOf(instance, 'previews')]).toEqual([[], []])
    for (const path of ['', '/preview', '/preview?response_format=mp3', '/preview.png']) {
      expect([path, (await instance.fetch(`/v1/voices/${id}${path}`, { key })).status]).toEqual([path, 404])
    }
    expect((await instance.fetch(`/v1/voices/${id}`, { method: 'DELETE', key })).status).toBe(404)
    expect((await instance.speak(key, { voice: 'ada' })).status).toBe(404)
  })
})

describe('failure', () => {
  test.each<[string, unknown, string, string]>([
    ['the model refuses the clip', new MynaError('clip_refused', 'Too noisy.'), 'clip_refused', 'Too noisy.'],
    [
      'the model is broken',
      new MynaError('model_unavailable', 'No x.', { cause: 'secret' }),
      'model_unavailable',
      'No x.',
    ],
    ['no memory is left', new MynaError('engine_overloaded', 'Later.'), 'engine_overloaded', 'Later.'],
    ['the engine dies', new MynaError('engine_unavailable', 'secret'), 'engine_failed', 'The engine failed while'],
    ['the model throws', new Error('tensor [1,2] in secret place'), 'engine_failed', 'The engine failed while'],
  ])('%s: refunded, without files, and reported to the owner', async (_, thrown, code, message) => {
    await using instance = await startInstance(priced)
    const key = await instance.key({ prepaidMicros: 400 })
    instance.engine.learn = () => {
      throw thrown
    }
    const voice = await instance.cloned(key)
    expect(voice).toMatchObject({ status: 'failed', error: { code, message: expect.stringContaining(message) } })
    expect(JSON.stringify(voice)).not.toContain('secret')
    expect([await balance(instance, key), foldersOf(instance)]).toEqual([400, []])
    expect(await instance.metrics()).toContain('voice_clones_total{result="failed"} 1')
  })

  test('a voice that cannot speak its preview', async () => {
    await using instance = await startInstance(priced)
    const key = await instance.key({ prepaidMicros: 400 })
    instance.engine.plan = () => ({ failAt: 0 })
    expect(await instance.cloned(key)).toMatchObject({ status: 'failed', error: { code: 'engine_failed' } })
    expect([await balance(instance, key), foldersOf(instance)]).toEqual([400, []])
  })

  test('storage that accepts no files', async () => {
    await using instance = await startInstance(priced)
    const key = await instance.key({ prepaidMicros: 400 })
    writeFileSync(join(instance.dataDir, 'voices'), 'in the way')
    const voice = await instance.cloned(key)
    expect(voice).toMatchObject({ status: 'failed', error: { code: 'engine_failed' } })
    expect(JSON.stringify(voice)).not.toContain(instance.dataDir)
    expect(await balance(instance, key)).toBe(400)
  })

  test('a database that accepts no ending: the write is retried until it works, and nothing new begins', async () => {
    await using instance = await startInstance(priced)
    const key = await instance.key({ prepaidMicros: 1000 })
    const { id, operation, learned } = await underWay(instance, key)
    const other = new Database(join(instance.dataDir, 'myna.db'))
    other.run('BEGIN IMMEDIATE')
    learned.resolve(new Uint8Array(3))
    const readiness = async () => (await instance.fetch('/readyz')).json() as Promise<{ checks: { disk: string } }>
    await until('the server says so', async () => (await readiness()).checks.disk === 'full')
    expect(await get(instance, operation, key)).toMatchObject({ state: 'pending', charged_micros: 400 })
    const refused = await instance.clone(key)
    expect([refused.status, await refused.json()]).toMatchObject([507, { error: { code: 'storage_full' } }])
    other.run('ROLLBACK')
    other.close()
    expect(await instance.voice(key, id)).toMatchObject({ status: 'ready' })
    await until('the server says so', async () => (await readiness()).checks.disk === 'ok')
    expect([await balance(instance, key), foldersOf(instance)]).toEqual([600, [id]])
  })

  test('a failed voice disappears after a day', async () => {
    const clock = new ManualClock()
    await using instance = await startInstance({}, { clock, timer: clock })
    const key = await instance.key()
    instance.engine.learn = () => {
      throw new MynaError('clip_refused', 'Too noisy.')
    }
    const { voice_id: id } = await instance.cloned(key)
    const status = async () => (await instance.fetch(`/v1/voices/${id}`, { key })).status
    clock.advance(60_000)
    expect(await status()).toBe(200)
    clock.jump(24 * 3_600_000)
    await until('it is swept', async () => {
      clock.advance(60_000)
      return (await status()) === 404
    })
  })
})

describe('the end of the server', () => {
  test('shut down: started clones have failed, waiting ones were not accepted, all are refunded', async () => {
    const dataDir = temporaryFolder()
    const settings = { ...priced, dataDir, cloneStreams: 1 }
    let key: string
    let ids: string[]
    {
      await using instance = await startInstance(settings)
      key = await instance.key({ prepaidMicros: 1000 })
      const { id } = await underWay(instance, key)
      const waiting = (await (await instance.clone(key)).json()) as VoiceJson
      ids = [id, waiting.voice_id]
    }
    await using again = await startInstance(settings)
    expect(again.server.settledCrashed).toBe(0)
    expect(await get(again, `/v1/voices/${ids[0]}`, key)).toMatchObject({ error: { code: 'engine_failed' } })
    const second = await get(again, `/v1/voices/${ids[1]}`, key)
    expect(second).toMatchObject({ status: 'failed', error: { code: 'not_started' } })
    const operation = await get(again, `/v1/operations/${String(second.operation_id)}`, key)
    expect(operation).toMatchObject({ outcome: 'not_accepted', charged_micros: 0 })
    expect([await balance(again, key), foldersOf(again)]).toEqual([1000, []])
  })

  test('a crash: settled and refunded at the next start, and no file is left over', async () => {
    await using instance = await startInstance(priced)
    const key = await instance.key({ prepaidMicros: 1000 })
    const kept = await instance.cloned(key)
    const { id, operation } = await underWay(instance, key)
    // kill -9 leaves the files that exist now, and what a running write had written.
    const dataDir = temporaryFolder()
    cpSync(instance.dataDir, dataDir, { recursive: true, filter: (path) => !path.endsWith('.sock') })
    for (const folder of [`voices/${id}`, 'voices/.new-abc', 'voices/voice_nobody', `previews/${id}`]) {
      mkdirSync(join(dataDir, folder), { recursive: true })
      writeFileSync(join(dataDir, folder, 'clip'), 'half a clip')
    }
    await using again = await startInstance({ ...priced, dataDir })
    expect(again.server.settledCrashed).toBe(1)
    expect(await get(again, operation, key)).toMatchObject({ outcome: 'failed', charged_micros: 0 })
    expect(await get(again, `/v1/voices/${id}`, key)).toMatchObject({ status: 'failed' })
    expect(await balance(again, key)).toBe(600)
    expect([foldersOf(again), foldersOf(again, 'previews')]).toEqual([[kept.voice_id], []])
    expect((await again.speak(key, { voice: kept.voice_id })).status).toBe(200)
    expect((await again.fetch(`/v1/voices/${kept.voice_id}/preview`, { key })).status).toBe(200)
    rmSync(dataDir, { recursive: true })
  })
})

test('a removed account loses its voices, and a running clone is refunded', async () => {
  await using instance = await startInstance(priced)
  const key = await instance.key({ account: 'leaver', prepaidMicros: 1000 })
  const { voice_id: ready } = await instance.cloned(key)
  const { id, operation } = await underWay(instance, key)
  const answer = await instance.fetch('/console/api/admin/accounts/remove', {
    method: 'POST',
    key: instance.adminKey,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'leaver' }),
  })
  expect([answer.status, await answer.json()]).toEqual([200, { object: 'account.deleted', voices_deleted: 2 }])
  expect((await instance.fetch('/v1/me', { key })).status).toBe(401)
  await until('nothing is pending', async () => (await instance.server.status()).pendingOperations === 0)
  expect(foldersOf(instance)).toEqual([])
  for (const voice of [ready, id]) {
    expect((await instance.fetch(`/v1/voices/${voice}`, { key: instance.adminKey })).status).toBe(404)
  }
  const database = new Database(join(instance.dataDir, 'myna.db'), { readonly: true })
  const row = database.query('SELECT outcome, charged_micros FROM operations WHERE id = ?')
  expect(row.get(operation.split('/').at(-1)!)).toEqual({ outcome: 'cancelled', charged_micros: 0 })
  database.close()
})
