/** Clones whose model was removed: their answers, and how they are made again from their clip. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { cards } from '../../catalog/cards.ts'
import { CardCatalog } from '../../catalog/catalog.ts'
import type { Card } from '../../domain/card.ts'
import { MynaError } from '../../domain/error.ts'
import { hum, type Instance, startInstance, type VoiceJson } from '../../testing/instance.ts'
import { until } from '../../testing/until.ts'
import { jsonOf, refusalOf } from './voice.fixture.ts'

const hibari = cards.find(({ id }) => id === 'hibari')!
/** A preferred model that clones, until it is removed. */
const flite: Card = { ...hibari, id: 'flite', family: 'flite', preference: 50, voices: [], defaultVoice: null }

let instance: Instance
let isThere: boolean
beforeAll(async () => {
  const catalog = new CardCatalog(
    () => (isThere ? [hibari, flite] : [hibari]),
    () => false,
  )
  const limits = { clonesPerMinute: 1000, maxVoices: 1 }
  instance = await startInstance({ ...limits, cloneMicros: 500, freeClones: 1 }, { catalog })
})
afterAll(() => instance[Symbol.asyncDispose]())

/** A voice made with the model that is removed afterwards. */
async function oldVoice(key: string, fields: Record<string, string> = {}): Promise<VoiceJson> {
  isThere = true
  const voice = await instance.cloned(key, { name: 'Ada', aliases: '["nova"]', ...fields })
  isThere = false
  expect(voice).toMatchObject({ model: 'flite', usable: true })
  return voice
}

const remake = (key: string, id: string) => instance.fetch(`/v1/voices/${id}/remake`, { method: 'POST', key })
const voiceOf = (key: string, id: string) => jsonOf(instance, `/v1/voices/${id}`, key)

async function ended(key: string, operationId: string): Promise<Record<string, unknown>> {
  let operation: Record<string, unknown> = {}
  await until('it has ended', async () => {
    operation = await jsonOf(instance, `/v1/operations/${operationId}`, key)
    return operation.state === 'terminal'
  })
  return operation
}

/** Holds the engine's learning until the test ends it. */
function held() {
  const { learn } = instance.engine
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
  promise.catch(() => {})
  instance.engine.learn = () => promise
  const free = () => (instance.engine.learn = learn)
  return { resolve: (state: Uint8Array) => (free(), resolve(state)), reject: (error: Error) => (free(), reject(error)) }
}

test('reports it, is remade free of charge, and keeps its id, its aliases and its address', async () => {
  const key = await instance.key({ prepaidMicros: 1000 })
  const { voice_id: id, preview_url: address, aliases, samples } = await oldVoice(key)
  expect(await voiceOf(key, id)).toMatchObject({ status: 'ready', usable: false, model: 'flite' })
  expect(await refusalOf(await instance.speak(key, { voice: 'nova' }))).toMatchObject({
    status: 400,
    code: 'voice_unusable',
    message: expect.stringContaining(`free of charge: myna voices remake ${id}`),
  })
  const refused = await instance.speak(key, { voice: id, model: 'hibari' })
  expect(await refusalOf(refused)).toMatchObject({ code: 'voice_unusable' })
  const preview = async () => (await instance.fetch(`/v1/voices/${id}/preview?response_format=mp3`, { key })).bytes()
  const oldPreview = await preview()
  const first = instance.engine.clips.at(-1)!
  instance.engine.plan = () => ({ frames: 2 })
  const answer = await remake(key, id)
  expect(answer.status).toBe(202)
  const operation = (await answer.json()) as { id: string }
  expect(operation).toMatchObject({ object: 'operation', type: 'clone', state: 'pending', voice_id: id })
  expect(answer.headers.get('location')).toBe(`/v1/operations/${operation.id}`)
  expect(answer.headers.get('x-request-id')).toBe(operation.id)
  expect(await ended(key, operation.id)).toMatchObject({ outcome: 'completed', charged_micros: 0 })
  instance.engine.plan = () => ({})
  expect(await voiceOf(key, id)).toMatchObject({
    voice_id: id,
    name: 'Ada',
    status: 'ready',
    usable: true,
    model: 'hibari',
    fidelity: 'approximate',
    operation_id: operation.id,
    preview_url: address as never,
    aliases: aliases as never,
    samples: samples as never,
  })
  // Learnt by the first model.
  expect(instance.engine.clips.at(-1)).toEqual(first)
  expect((await preview()).length).toBeLessThan(oldPreview.length)
  const spoken = await instance.speak(key, { voice: 'nova' }).then((response) => response.arrayBuffer())
  expect(spoken.byteLength).toBe(4 * 4800)
  expect(instance.engine.orders.at(-1)).toMatchObject({ model: 'hibari', voiceId: id })
  // Work of the old model keeps that model's name.
  const usage = (await jsonOf(instance, '/v1/usage?group_by=model', key)) as unknown as { data: object[] }
  expect(JSON.stringify(usage)).toContain('"flite"')
})

test('only its owner may remake it, only if needed, and once at a time', async () => {
  const key = await instance.key()
  const { voice_id: id } = await oldVoice(key)
  const stranger = await instance.key()
  expect(await refusalOf(await remake(stranger, id))).toMatchObject({ status: 404, code: 'voice_not_found' })
  const { voice_id: open } = await oldVoice(instance.adminKey, { public: 'true', aliases: '[]' })
  expect(await refusalOf(await remake(key, open))).toMatchObject({ status: 403, code: 'voice_not_owned' })
  expect(await refusalOf(await remake(key, 'lark'))).toMatchObject({ status: 404 })
  const { resolve } = held()
  const { id: operation } = (await (await remake(key, id)).json()) as { id: string }
  expect(await refusalOf(await remake(key, id))).toMatchObject({ status: 409, code: 'voice_not_ready' })
  resolve(new Uint8Array(4))
  await ended(key, operation)
  expect(await refusalOf(await remake(key, id))).toMatchObject({ status: 422, code: 'validation_error' })
})

test('a failure and a cancellation change nothing, and it can be tried again', async () => {
  const key = await instance.key()
  const { voice_id: id } = await oldVoice(key)
  const before = await voiceOf(key, id)
  const failing = held()
  const { id: failed } = (await (await remake(key, id)).json()) as { id: string }
  failing.reject(new MynaError('clip_refused', 'No voice in it.'))
  expect(await ended(key, failed)).toMatchObject({ outcome: 'failed', error: { code: 'clip_refused' } })
  const waiting = held()
  const { id: cancelled } = (await (await remake(key, id)).json()) as { id: string }
  await instance.fetch(`/v1/operations/${cancelled}/cancel`, { method: 'POST', key })
  expect(await ended(key, cancelled)).toMatchObject({ outcome: 'cancelled' })
  waiting.resolve(new Uint8Array(4))
  expect(await voiceOf(key, id)).toEqual(before)
  const folder = join(instance.dataDir, 'voices', id)
  expect(await Bun.file(join(folder, 'clip')).bytes()).toEqual(await hum(3).bytes())
  const { id: operation } = (await (await remake(key, id)).json()) as { id: string }
  expect(await ended(key, operation)).toMatchObject({ outcome: 'completed' })
})

test('removed meanwhile, it leaves nothing behind', async () => {
  const key = await instance.key()
  const { voice_id: id } = await oldVoice(key)
  const { resolve } = held()
  const { id: operation } = (await (await remake(key, id)).json()) as { id: string }
  expect((await instance.fetch(`/v1/voices/${id}`, { method: 'DELETE', key })).status).toBe(204)
  expect(await ended(key, operation)).toMatchObject({ outcome: 'cancelled' })
  resolve(new Uint8Array(4))
  await until('its files are gone', async () => !existsSync(join(instance.dataDir, 'voices', id)))
})
