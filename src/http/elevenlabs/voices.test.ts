/** ElevenLabs' SDK lists, clones, reads, changes and deletes voices. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { ElevenLabsClient } from '@elevenlabs/elevenlabs-js'
import { MynaError } from '../../domain/error.ts'
import { hum, type Instance, startInstance } from '../../testing/instance.ts'
import { bytesOf, refusal, sdk } from './sdk.fixture.ts'

let instance: Instance
let key: string
let client: ElevenLabsClient
beforeAll(async () => {
  instance = await startInstance({ clonesPerMinute: 1000, cloneMicros: 300, freeClones: 0 })
})
beforeEach(async () => {
  key = await instance.key({ prepaidMicros: 1000 })
  client = sdk(instance, key)
  instance.engine.learn = () => new Uint8Array([1, 2, 3])
})
afterAll(() => instance[Symbol.asyncDispose]())

const clone = (name = 'Ada', files = [hum(3)]) => client.voices.ivc.create({ name, files })

describe('a clone', () => {
  test('speaks as soon as it has an id, is changed and deleted', async () => {
    const labels = { accent: 'welsh' } as never
    const made = await client.voices.ivc.create({ name: 'Ada', files: [hum(3)], description: 'Calm.', labels })
    expect(made).toEqual({ voiceId: expect.stringMatching(/^voice_/), requiresVerification: false })
    const { voiceId } = made
    expect((await bytesOf(await client.textToSpeech.convert(voiceId, { text: 'Hello.' }))).length).toBeGreaterThan(300)
    expect(await client.voices.get(voiceId)).toMatchObject({
      name: 'Ada',
      category: 'cloned',
      description: 'Calm.',
      labels: { accent: 'welsh' },
      isOwner: true,
      samples: [{ fileName: 'hum.wav', mimeType: 'audio/wav' }],
    })
    expect(await client.voices.update(voiceId, { name: 'Eve', description: 'Louder.' })).toEqual({ status: 'ok' })
    const { name, description, labels: kept } = await client.voices.get(voiceId)
    expect([name, description, kept]).toEqual(['Eve', 'Louder.', { accent: 'welsh' }])
    expect(await client.voices.delete(voiceId)).toEqual({ status: 'ok' })
    const gone = { status: 404, detail: expect.objectContaining({ status: 'voice_not_found' }) }
    expect(await refusal(() => client.voices.get(voiceId))).toEqual(gone)
    expect(await refusal(() => client.voices.delete(voiceId))).toEqual(gone)
  })

  test('that fails is an error, and refunded', async () => {
    instance.engine.learn = () => {
      throw new MynaError('clip_refused', 'Too noisy.')
    }
    const { status, detail } = await refusal(() => clone())
    expect([status, detail]).toEqual([422, [expect.objectContaining({ msg: 'Too noisy.' })]])
    expect(await (await instance.fetch('/v1/me', { key })).json()).toMatchObject({ balance_micros: 1000 })
  })

  test('is refused for what is wrong with it', async () => {
    const faults = async (call: () => Promise<unknown>) => (await refusal(call)).detail
    expect(await faults(() => clone('Ada', [hum(3), hum(3)]))).toEqual([
      expect.objectContaining({ type: 'too_many_files' }),
    ])
    expect(await faults(() => clone('Ada', [hum(1)]))).toEqual([expect.objectContaining({ type: 'clip_too_short' })])
    const poor = sdk(instance, await instance.key({ prepaidMicros: 1 }))
    expect(await refusal(() => poor.voices.ivc.create({ name: 'Ada', files: [hum(3)] }))).toMatchObject({
      status: 402,
      detail: { status: 'quota_exceeded' },
    })
    const { voiceId } = await clone()
    const more = () => client.voices.update(voiceId, { name: 'Ada', files: [hum(3)] })
    expect(await faults(more)).toEqual([expect.objectContaining({ loc: ['body', 'files'] })])
  })

  test('of another account cannot be seen', async () => {
    const { voiceId } = await clone()
    const other = sdk(instance, await instance.key())
    for (const call of [
      () => other.voices.get(voiceId),
      () => other.voices.delete(voiceId),
      () => other.voices.update(voiceId, { name: 'Mine' }),
    ]) {
      expect(await refusal(call)).toMatchObject({ status: 404, detail: { status: 'voice_not_found' } })
    }
    expect((await other.voices.search({ voiceIds: [voiceId] })).voices).toEqual([])
  })
})

describe('lists', () => {
  test('have every voice at once, or pages', async () => {
    const { voiceId } = await clone()
    const { voices } = await client.voices.getAll()
    const ids = voices.map((voice) => voice.voiceId)
    expect(ids).toContain(voiceId)
    expect(ids).toContain('lark')
    const paged: string[] = []
    let nextPageToken: string | undefined
    do {
      const page = await client.voices.search({ pageSize: 3, ...(nextPageToken !== undefined && { nextPageToken }) })
      expect(page.totalCount).toBe(ids.length)
      paged.push(...page.voices.map((voice) => voice.voiceId))
      nextPageToken = page.hasMore ? page.nextPageToken : undefined
    } while (nextPageToken !== undefined)
    expect(paged).toEqual(ids)
  })

  test('are filtered', async () => {
    const { voiceId } = await clone('Zoë')
    const idsOf = async (query: Parameters<typeof client.voices.search>[0]) =>
      (await client.voices.search({ pageSize: 100, ...query })).voices.map((voice) => voice.voiceId)
    for (const query of [
      { search: 'zo' },
      { voiceType: 'personal' },
      { voiceType: 'non-default' },
      { category: 'cloned' },
      { voiceIds: [voiceId, 'nobody'] },
    ]) {
      expect(await idsOf(query)).toEqual([voiceId])
    }
    expect(await idsOf({ voiceType: 'default' })).not.toContain(voiceId)
    expect(await idsOf({ category: 'professional' })).toEqual([])
    const { detail } = await refusal(() => client.voices.search({ pageSize: 1000 }))
    expect(detail).toEqual([expect.objectContaining({ loc: ['query', 'page_size'] })])
  })

  test('by id have each voice once, and no clone that is not ready', async () => {
    const learned = Promise.withResolvers<Uint8Array>()
    instance.engine.learn = () => learned.promise
    const body = new FormData()
    body.append('files', hum(3))
    const made = await instance.fetch('/v1/voices', { method: 'POST', key, body })
    const { voice_id: pending } = (await made.json()) as { voice_id: string }
    const page = await client.voices.search({ voiceIds: ['lark', 'lark', pending] })
    expect([page.voices.map((voice) => voice.voiceId), page.totalCount]).toEqual([['lark'], 1])
    learned.resolve(new Uint8Array([1, 2, 3]))
  })

  test('refuse a wrong page by the name that the client gave it', async () => {
    const { status, detail } = await refusal(() => client.voices.search({ nextPageToken: 'nobody' }))
    expect([status, detail]).toEqual([
      422,
      [
        expect.objectContaining({
          loc: ['query', 'next_page_token'],
          msg: 'next_page_token: no such voice in this list',
        }),
      ],
    ])
  })

  test('need the scope', async () => {
    const narrow = sdk(instance, await instance.key({ scopes: ['tts'] }))
    const missing = { status: 403, detail: { status: 'missing_permissions' } }
    expect(await refusal(() => narrow.voices.getAll())).toMatchObject(missing)
    expect(await refusal(() => narrow.voices.search())).toMatchObject(missing)
  })
})
