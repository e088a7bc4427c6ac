/** A model is installed and removed over the API, from a hub on this machine: with and without events. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import OpenAI from 'openai'
import { CardCatalog } from '../catalog/catalog.ts'
import { cards } from '../catalog/cards.ts'
import { TestHub } from '../testing/hub.ts'
import { type Instance, startInstance } from '../testing/instance.ts'
import { publish, testCard } from '../testing/test-model.ts'
import { until } from '../testing/until.ts'

let hub: TestHub
let instance: Instance
const before = process.env.HF_ENDPOINT

beforeAll(async () => {
  hub = await TestHub.start()
  process.env.HF_ENDPOINT = hub.url
  const files = publish(hub, 'org/small', 9100, [{ path: 'model.onnx', sizeBytes: 200_000 }])
  const catalog = new CardCatalog([...cards, testCard('small', files)], () => false)
  instance = await startInstance({}, { catalog })
})
beforeEach(() => {
  hub.trouble = () => null
})
afterAll(async () => {
  if (before === undefined) delete process.env.HF_ENDPOINT
  else process.env.HF_ENDPOINT = before
  await instance[Symbol.asyncDispose]()
  await hub.stop()
})

interface Answer {
  id?: string
  error?: { code: string; message: string }
}
async function ask(method: string, id: string, key = instance.adminKey): Promise<[number, Answer]> {
  const answer = await instance.fetch(`/v1/models/${id}`, { method, key })
  return [answer.status, (await answer.json()) as Answer]
}
const folder = () => join(instance.dataDir, 'models', 'installed', 'small')

test('a model is installed once the answer arrives, and removed', async () => {
  expect(await ask('POST', 'small')).toMatchObject([201, { id: 'small', object: 'model' }])
  expect(await ask('POST', 'small')).toMatchObject([200, { id: 'small' }])
  const removed = { id: 'small', object: 'model', deleted: true, freed_bytes: 200_000 }
  expect(await ask('DELETE', 'small')).toMatchObject([200, removed])
  expect(existsSync(folder())).toBe(false)
  expect(await ask('DELETE', 'small')).toMatchObject([404, { error: { code: 'model_not_found' } }])
})

test('OpenAI’s library removes it, too', async () => {
  await ask('POST', 'small')
  const client = new OpenAI({ baseURL: `${instance.url}/v1`, apiKey: instance.adminKey })
  expect(await client.models.delete('small')).toMatchObject({ id: 'small', object: 'model', deleted: true })
  expect(existsSync(folder())).toBe(false)
})

test('a client that accepts events gets the progress, and another joins the same download', async () => {
  const held = Promise.withResolvers<void>()
  hub.trouble = () => ({ kind: 'cut', afterBytes: 120_000, arrived: () => held.promise })
  const headers = { accept: 'text/event-stream' }
  const answer = await instance.fetch('/v1/models/small', { method: 'POST', key: instance.adminKey, headers })
  expect(answer.headers.get('content-type')).toStartWith('text/event-stream')
  const events: { type: string; done_bytes?: number; total_bytes?: number | null }[] = []
  let rest = ''
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  const next = async () => {
    const { value = '', done } = await reader.read()
    rest += value
    const [...lines] = rest.split('\n\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.startsWith('data: {')) events.push(JSON.parse(line.slice(6)))
    return done
  }
  await until('bytes have arrived', async () => {
    await next()
    return (events.at(-1)?.done_bytes ?? 0) > 0
  })
  expect(events.at(-1)).toMatchObject({ type: 'model.pull.progress', model: 'small', total_bytes: 200_000 })
  const joined = ask('POST', 'small')
  hub.trouble = () => null
  held.resolve()
  while (!(await next()));
  expect(events.at(-1)).toMatchObject({ type: 'model.pull.done', model: { id: 'small' } })
  expect((await joined)[0]).toBe(201)
  await ask('DELETE', 'small')
})

test('a failed download reports the reason, also as an event', async () => {
  hub.trouble = () => ({ kind: 'refuse', status: 403, headers: { 'x-error-code': 'GatedRepo' } })
  const [status, { error }] = await ask('POST', 'small')
  expect([status, error?.code, error?.message]).toMatchObject([
    502,
    'pull_failed',
    expect.stringContaining('org/small'),
  ])
  const headers = { accept: 'text/event-stream' }
  const answer = await instance.fetch('/v1/models/small', { method: 'POST', key: instance.adminKey, headers })
  let text = ''
  const read = async () => {
    for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) text += chunk
  }
  expect(await read().catch(() => 'cut')).toBe('cut')
  const events = text.split('\n\n').filter((line) => line.startsWith('data: '))
  expect(JSON.parse(events.at(-1)?.slice(6) ?? '')).toMatchObject({ type: 'error', error: { code: 'pull_failed' } })
  const [again] = await ask('POST', 'small')
  expect(again).toBe(502)
})

test("other servers' names for models are understood; unknown, built-in and forbidden ones are refused", async () => {
  expect((await ask('POST', 'Systran/faster-whisper-base'))[1].error?.message).toContain('whisper-base')
  expect(await ask('POST', 'hibari')).toMatchObject([200, { id: 'hibari' }])
  expect(await ask('DELETE', 'hibari')).toMatchObject([422, { error: { code: 'validation_error' } }])
  expect(await ask('POST', 'smal')).toMatchObject([404, { error: { message: expect.stringContaining("'small'") } }])
  const user = await instance.key()
  for (const method of ['POST', 'DELETE']) {
    expect(await ask(method, 'small', user)).toMatchObject([403, { error: { code: 'admin_required' } }])
  }
})
