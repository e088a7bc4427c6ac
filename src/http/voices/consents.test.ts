/** OpenAI's own SDK stores consents and clones voices with them; invisible ones count as missing. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import OpenAI, { APIConnectionTimeoutError } from 'openai'
import { hum, type Instance, startInstance } from '../../testing/instance.ts'
import { until } from '../../testing/until.ts'

let instance: Instance
let account: string
let key: string
let client: OpenAI
let accounts = 0
beforeAll(async () => {
  instance = await startInstance({ clonesPerMinute: 1000, requireConsent: true })
})
beforeEach(async () => {
  account = `owner ${accounts++}`
  key = await instance.key({ account })
  client = clientOf(key)
  instance.engine.learn = () => new Uint8Array([1, 2, 3])
})
afterAll(() => instance[Symbol.asyncDispose]())

const clientOf = (apiKey: string) => new OpenAI({ baseURL: `${instance.url}/v1`, apiKey, maxRetries: 0 })
const recording = () => new File([hum(4)], 'agreed.wav')
const consent = (name = 'Ada') => client.audio.voiceConsents.create({ name, language: 'en_us', recording: recording() })
const voice = (id: string, by = client) =>
  by.audio.voices.create({ name: 'Ada', audio_sample: new File([hum(3)], 'ada.wav'), consent: id })
const refused = (call: PromiseLike<unknown>) => Promise.resolve(call).catch((reason: unknown) => reason)
const pathOf = (id: string) => join(instance.dataDir, 'consents', id, 'recording')

describe('a consent of OpenAI’s SDK', () => {
  test('is stored with its recording, found, renamed and deleted', async () => {
    const made = await consent()
    expect(made).toEqual({
      id: expect.stringMatching(/^cons_[0-9A-Z]{26}$/),
      object: 'audio.voice_consent',
      name: 'Ada',
      language: 'en-US',
      created_at: Math.floor(instance.clock.nowMs() / 1000),
    } as never)
    expect(readFileSync(pathOf(made.id))).toEqual(Buffer.from(await recording().arrayBuffer()))
    expect(await client.audio.voiceConsents.retrieve(made.id)).toEqual(made)
    expect(await client.audio.voiceConsents.update(made.id, { name: ' Grace ' })).toEqual({ ...made, name: 'Grace' })
    expect(await client.audio.voiceConsents.delete(made.id)).toEqual({
      id: made.id,
      object: 'audio.voice_consent',
      deleted: true,
    })
    expect(existsSync(pathOf(made.id))).toBe(false)
    const gone = { status: 404, code: 'consent_not_found' }
    expect(await refused(client.audio.voiceConsents.delete(made.id))).toMatchObject(gone)
    expect(await refused(client.audio.voiceConsents.retrieve(made.id))).toMatchObject(gone)
    expect(await refused(client.audio.voiceConsents.update('cons_%00', { name: 'x' }))).toMatchObject(gone)
  })

  test('is listed page by page, the newest first', async () => {
    const made: string[] = []
    for (let n = 0; n < 5; n++) {
      instance.clock.advance(1000)
      made.unshift((await consent(`Ada ${n}`)).id)
    }
    const page = await client.audio.voiceConsents.list({ limit: 2 })
    expect([page.data.map(({ id }) => id), page.has_more]).toEqual([made.slice(0, 2), true])
    const all: string[] = []
    for await (const { id } of client.audio.voiceConsents.list({ limit: 2 })) all.push(id)
    expect(all).toEqual(made)
    expect(await refused(client.audio.voiceConsents.list({ after: 'x' }))).toMatchObject({ status: 422 })
  })

  test('clones a voice by its id, which stays in the record of the voice', async () => {
    const { id } = await consent()
    const made = await voice(id)
    const heard = client.audio.speech.create({ model: 'tts-1', voice: { id: made.id }, input: 'Hello.' } as never)
    expect((await (await heard).arrayBuffer()).byteLength).toBeGreaterThan(0)
    await client.audio.voices.delete(made.id)
    expect((await client.audio.voiceConsents.retrieve(id)).id).toBe(id)
  })

  test('that is missing, or of another account, clones nothing', async () => {
    const { id } = await consent()
    const other = clientOf(await instance.key())
    const gone = { status: 404, code: 'consent_not_found', param: 'consent' }
    expect(await refused(voice(id, other))).toMatchObject(gone)
    expect(await refused(voice('cons_1234'))).toMatchObject(gone)
    expect(await refused(voice(id.replace(/.$/, (last) => (last === '0' ? '1' : '0'))))).toMatchObject(gone)
    expect(await refused(other.audio.voiceConsents.retrieve(id))).toMatchObject(gone)
    expect(await refused(other.audio.voiceConsents.delete(id))).toMatchObject(gone)
    expect((await other.audio.voiceConsents.list()).data).toEqual([])
    expect(await refused(voice(''))).toMatchObject({ status: 422, code: 'consent_required' })
    expect((await voice('I am Ada, and I agree.')).object).toBe('audio.voice')
  })

  test.each<[string, () => object, number, string, string]>([
    ['no recording', () => ({ name: 'Ada', language: 'en' }), 422, 'missing_file', 'recording'],
    ['no name', () => ({ language: 'en', recording: recording() }), 422, 'validation_error', 'name'],
    ['no language', () => ({ name: 'Ada', recording: recording() }), 422, 'validation_error', 'language'],
    [
      'noise',
      () => ({ name: 'Ada', language: 'en', recording: new File(['noise'], 'a.wav') }),
      422,
      'clip_undecodable',
      'recording',
    ],
    [
      'a short one',
      () => ({ name: 'Ada', language: 'en', recording: new File([hum(1)], 'a.wav') }),
      422,
      'clip_too_short',
      'recording',
    ],
  ])('%s: refused, and nothing is stored', async (_, body, status, code, param) => {
    const before = readdirSync(join(instance.dataDir, 'consents'))
    const error = await refused(client.audio.voiceConsents.create(body() as never))
    expect(error).toMatchObject({ status, code })
    expect(JSON.stringify((error as { error: object }).error)).toContain(`"${param}"`)
    expect((await client.audio.voiceConsents.list()).data).toEqual([])
    expect(readdirSync(join(instance.dataDir, 'consents'))).toEqual(before)
  })

  test('needs the scope of voices, and a form', async () => {
    const speaker = clientOf(await instance.key({ scopes: ['tts'] }))
    expect(await refused(speaker.audio.voiceConsents.list())).toMatchObject({ status: 403, code: 'insufficient_scope' })
    const init = { method: 'POST', key, body: '{}' }
    const answer = await instance.fetch('/v1/audio/voice_consents', init)
    expect(answer.status).toBe(415)
  })

  test('is deleted with its account', async () => {
    const { id } = await consent()
    expect(existsSync(pathOf(id))).toBe(true)
    await instance.server.administration.removeAccount({ name: account })
    expect(existsSync(join(instance.dataDir, 'consents', id))).toBe(false)
  })
})

test('an account may have as many consents as voices, an administrator any number', async () => {
  await using small = await startInstance({ maxVoices: 1 })
  const [one, admin] = [await small.key(), small.adminKey].map(
    (apiKey) => new OpenAI({ baseURL: `${small.url}/v1`, apiKey, maxRetries: 0 }).audio.voiceConsents,
  )
  const body = () => ({ name: 'Ada', language: 'en', recording: recording() })
  await one!.create(body())
  const full = await refused(one!.create(body()))
  expect(full).toMatchObject({ status: 403, code: 'voice_limit_reached' })
  expect(readdirSync(join(small.dataDir, 'consents'))).toHaveLength(1)
  await admin!.create(body())
  await admin!.create(body())
})

test('a client that gives up after its own timeout: the voice is still made', async () => {
  const { promise, resolve } = Promise.withResolvers<Uint8Array>()
  const begun = Promise.withResolvers<void>()
  instance.engine.learn = () => {
    begun.resolve()
    return promise
  }
  const { id } = await consent()
  const late = client.audio.voices.create(
    { name: 'Ada', audio_sample: new File([hum(3)], 'ada.wav'), consent: id },
    { timeout: 2000 },
  )
  const [reason] = await Promise.all([refused(late), begun.promise])
  expect(reason).toBeInstanceOf(APIConnectionTimeoutError)
  resolve(new Uint8Array([1, 2, 3]))
  const mine = async () =>
    ((await (await instance.fetch('/v1/voices?owner=me', { key })).json()) as { data: { status: string }[] }).data
  await until('the voice is ready', async () => (await mine())[0]?.status === 'ready')
})
