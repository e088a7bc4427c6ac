/** Speaking with cloned voices: which name means which voice, the answer for a voice that is not ready, and the SDK. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { CursorPage } from 'openai/core/pagination'
import { cards } from '../../catalog/cards.ts'
import { CardCatalog } from '../../catalog/catalog.ts'
import type { Card } from '../../domain/card.ts'
import { hum, type Instance, startInstance, type VoiceJson } from '../../testing/instance.ts'

const hibari = cards.find(({ id }) => id === 'hibari')!
/** A second model with a voice of its own, one that exists and one that does not. */
const other: Card = {
  ...hibari,
  id: 'other',
  family: 'other',
  preference: -1,
  cloning: null,
  mixing: false,
  voices: [{ ...hibari.voices[0]!, id: 'otto', name: 'Otto' }],
  defaultVoice: 'otto',
  voiceAliases: { nova: 'otto' },
}
const known = [
  { ...hibari, cloning: 'approximate' as const, mixing: true },
  other,
  { ...other, id: 'absent', builtIn: false },
]

let instance: Instance
let key: string
let ada: string
beforeAll(async () => {
  const catalog = new CardCatalog(known, () => false)
  const settings = {
    voiceAliases: ['house=otto', 'echo=wren', 'old=kal16'],
    clonesPerMinute: 1000,
    speechPerMinute: 10_000,
  }
  instance = await startInstance(settings, { catalog })
  key = await instance.key()
  ada = (await instance.cloned(key, { name: 'Ada', aliases: '["nova","Mother"]' })).voice_id
})
afterAll(() => instance[Symbol.asyncDispose]())

/** The model and voice that were used, or the code of the refusal. */
async function spokenWith(body: Record<string, unknown>, as = key): Promise<string> {
  const before = instance.engine.orders.length
  const response = await instance.speak(as, body)
  if (response.status !== 200) return ((await response.json()) as { error: { code: string } }).error.code
  await response.arrayBuffer()
  const order = instance.engine.orders[before]
  const kind = order?.voiceState === null ? '' : ' cloned'
  return `${order?.model} ${order?.voiceId === ada ? 'ada' : order?.voiceId}${kind}`
}

describe('a name means', () => {
  test.each<[Record<string, unknown>, string]>([
    [{ voice: 'wren' }, 'hibari wren'],
    [{ voice: 'otto' }, 'other otto'],
    [{ voice: 'OTTO', model: 'tts-1' }, 'other otto'],
    [{ voice: 'otto', model: 'other' }, 'other otto'],
    [{ voice: 'otto', model: 'hibari' }, 'voice_model_mismatch'],
    [{ voice: undefined }, 'hibari lark'],
    [{ voice: undefined, model: 'other' }, 'other otto'],
    [{ voice: 'house' }, 'other otto'],
    [{ voice: 'Echo' }, 'hibari wren'],
    [{ voice: 'alloy' }, 'hibari lark'],
    [{ voice: 'nova' }, 'hibari ada cloned'],
    [{ voice: 'NOVA', model: 'tts-1' }, 'hibari ada cloned'],
    [{ voice: 'mother' }, 'hibari ada cloned'],
    [{ voice: 'ada' }, 'hibari ada cloned'],
    [{ voice: 'Ada', model: 'hibari' }, 'hibari ada cloned'],
    [{ voice: 'Ada', model: 'other' }, 'voice_model_mismatch'],
    [{ voice: 'Ada', model: 'absent' }, 'model_not_found'],
    [{ voice: 'Ada', model: 'nothing' }, 'model_not_found'],
    [{ voice: 'nobody' }, 'voice_not_found'],
    [{ voice: 'nobody', model: 'other' }, 'voice_not_found'],
    [{ voice: 'wren + lark' }, 'hibari wren+lark'],
    [{ voice: ' Wren(2)+Lark(0.5)', model: 'hibari' }, 'hibari wren(2)+lark(0.5)'],
    [{ voice: { id: 'wren+lark+wren' } }, 'hibari wren(2)+lark(1)'],
    [{ voice: 'wren+otto' }, 'unsupported_value'],
    [{ voice: 'wren+ada' }, 'unsupported_value'],
    [{ voice: 'wren+lark(0)' }, 'unsupported_value'],
    [{ voice: 'otto+otto', model: 'other' }, 'unsupported_value'],
    [{ voice: 'wren+nobody' }, 'voice_not_found'],
  ])('%p: %s', async (body, expected) => {
    expect(await spokenWith(body)).toBe(expected)
  })

  test('a mixture, whose operation names it by its ids', async () => {
    const response = await instance.speak(key, { voice: 'Wren(2)+lark' })
    const id = response.headers.get('x-request-id') ?? ''
    await response.arrayBuffer()
    const operation = await instance.fetch(`/v1/operations/${id}`, { headers: { authorization: `Bearer ${key}` } })
    expect(await operation.json()).toMatchObject({ voice_id: 'wren(2)+lark(1)', outcome: 'completed' })
  })

  test('the clone by its id, plain, as an object, or under voice_id', async () => {
    for (const body of [{ voice: ada }, { voice: { id: ada } }, { voice: undefined, voice_id: ada }]) {
      expect(await spokenWith(body)).toBe('hibari ada cloned')
    }
    expect(instance.engine.orders.at(-1)?.voiceState).toEqual(new TextEncoder().encode('state'))
  })

  test('for another account something else, or nothing', async () => {
    const stranger = await instance.key()
    expect(await spokenWith({ voice: 'nova' }, stranger)).toBe('hibari wren')
    for (const voice of [ada, 'Ada', 'mother']) expect(await spokenWith({ voice }, stranger)).toBe('voice_not_found')
  })

  test('an own voice before a public one of the same name; none if two own voices have it', async () => {
    const owner = await instance.key()
    const wren = await instance.cloned(owner, { name: 'wren' })
    expect(await spokenWith({ voice: 'Wren' })).toBe('hibari wren')
    expect(await spokenWith({ voice: 'Wren' }, owner)).toBe(`hibari ${wren.voice_id} cloned`)
    await instance.cloned(owner, { name: 'WREN' })
    expect(await spokenWith({ voice: 'Wren' }, owner)).toBe('voice_not_found')
    expect(await spokenWith({ voice: wren.voice_id }, owner)).toBe(`hibari ${wren.voice_id} cloned`)
  })

  test('an operation names the voice that was used', async () => {
    const response = await instance.speak(key, { voice: 'mother' })
    await response.arrayBuffer()
    const record = await instance.fetch(`/v1/operations/${response.headers.get('x-request-id')}`, { key })
    expect(await record.json()).toMatchObject({ voice_id: ada, outcome: 'completed' })
  })
})

/** A clone that is finished when the test says so. */
async function held(owner: string) {
  const { learn } = instance.engine
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
  instance.engine.learn = () => promise
  const response = await instance.clone(owner, { name: 'Slow' })
  const { voice_id: id } = (await response.json()) as VoiceJson
  const free = () => (instance.engine.learn = learn)
  return { id, ready: () => (free(), resolve(new Uint8Array(4))), fail: () => (free(), reject(new Error('no'))) }
}

describe('the name of a removed voice', () => {
  const warned = async (body: Record<string, unknown>) => {
    const response = await instance.speak(key, { model: undefined, ...body })
    await response.arrayBuffer()
    return [instance.engine.orders.at(-1)?.voiceId, response.headers.get('x-myna-warning')]
  }
  const removed = (what: string, name: string, now: string) =>
    `The ${what} '${name}' was removed and stands for '${now}' until the next release. Use '${now}'.`

  test.each([
    ['rms', 'martin'],
    ['slt', 'lark'],
    ['awb', 'robin'],
    ['kal16', 'jay'],
  ])('%s means %s, with a warning', async (name, now) => {
    expect(await warned({ voice: name })).toEqual([now, removed('voice', name, now)])
    const record = await instance.fetch(`/v1/voices/${name}`, { key })
    expect(await record.json()).toMatchObject({ voice_id: now, status: 'ready' })
  })

  test('as a server alias, as its former name, and as the model', async () => {
    expect(await warned({ voice: 'Old' })).toEqual(['jay', removed('voice', 'kal16', 'jay')])
    expect(await warned({ voice: 'Rowan' })).toEqual(['martin', removed('voice', 'rowan', 'martin')])
    expect(await warned({ voice: 'wren', model: 'flite' })).toEqual(['wren', removed('model', 'flite', 'hibari')])
    expect(await warned({ voice: 'wren' })).toEqual(['wren', null])
    const events = await instance.speak(key, { voice: 'slt', stream_format: 'sse' })
    await events.arrayBuffer()
    expect(events.headers.get('x-myna-warning')).toBe(removed('voice', 'slt', 'lark'))
    const model = await instance.fetch('/v1/models/flite', { key })
    expect(await model.json()).toMatchObject({ root: 'hibari' })
  })

  test("hides none of the account's own voices", async () => {
    const owner = await instance.key()
    const celia = await instance.cloned(owner, { name: 'Celia' })
    expect(await spokenWith({ voice: 'celia' })).toBe('hibari lark')
    expect(await spokenWith({ voice: 'celia' }, owner)).toBe(`hibari ${celia.voice_id} cloned`)
  })
})

describe('a voice that is not ready', () => {
  test('asks for patience, and is forgotten once it failed', async () => {
    const owner = await instance.key({ prepaidMicros: 1000 })
    const { id, fail } = await held(owner)
    const early = await instance.speak(owner, { voice: 'slow' })
    expect([early.status, await early.json()]).toMatchObject([
      409,
      { error: { code: 'voice_not_ready', param: 'voice' } },
    ])
    expect([early.headers.get('retry-after'), early.headers.get('x-should-retry')]).toEqual(['2', null])
    expect(early.headers.get('x-request-id')).toStartWith('req_')
    fail()
    await instance.voice(owner, id)
    expect(await spokenWith({ voice: id }, owner)).toBe('voice_unusable')
    const second = await instance.cloned(owner, { name: 'Slow' })
    expect(await spokenWith({ voice: 'Slow' }, owner)).toBe(`hibari ${second.voice_id} cloned`)
  })

  test('the official SDK waits for it, and then speaks', async () => {
    const owner = await instance.key()
    const { id, ready } = await held(owner)
    let sent = 0
    const client = new OpenAI({
      apiKey: owner,
      baseURL: `${instance.url}/v1`,
      fetch: async (input, init) => {
        const response = await fetch(input as string, init as RequestInit)
        if (++sent === 1) {
          ready()
          await instance.voice(owner, id)
        }
        // The SDK sleeps as long as the server asks; the test need not.
        const headers = new Headers(response.headers)
        if (response.status === 409) headers.set('retry-after-ms', '10')
        return new Response(response.body, { status: response.status, headers })
      },
    })
    const speech = await client.audio.speech.create({
      model: 'tts-1',
      voice: 'slow',
      input: 'hi',
      response_format: 'pcm',
    })
    expect((await speech.arrayBuffer()).byteLength).toBe(4 * 4800)
    expect(sent).toBe(2)
  })
})

test('the official SDK pages through the voices and uploads a clip', async () => {
  const client = new OpenAI({ apiKey: key, baseURL: `${instance.url}/v1`, maxRetries: 0 })
  const body = new FormData()
  body.append('name', 'From the SDK')
  body.append('file', hum(3))
  const made = await client.post<VoiceJson>('/voices', { body })
  expect(made).toMatchObject({ object: 'audio.voice', status: 'processing' })
  await instance.voice(key, made.voice_id)
  const names: string[] = []
  const page = client.getAPIList<
    VoiceJson & { id: string; name: string },
    CursorPage<VoiceJson & { id: string; name: string }>
  >('/voices', CursorPage, { query: { limit: 2 } })
  for await (const voice of page) names.push(voice.name)
  expect(names.toSorted()).toEqual(['Ada', 'From the SDK', 'Jay', 'Lark', 'Martin', 'Merle', 'Otto', 'Robin', 'Wren'])
})
