/** The header of the key chooses the protocol: clients of OpenAI see nothing of ElevenLabs', and the reverse. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { hum, type Instance, startInstance } from '../../testing/instance.ts'

let instance: Instance
let key: string
beforeAll(async () => {
  instance = await startInstance({ clonesPerMinute: 100 })
  key = await instance.key()
})
afterAll(() => instance[Symbol.asyncDispose]())

type Form = 'theirs' | 'ours' | 'envelope'
async function form(path: string, headers: Record<string, string>, method = 'GET'): Promise<Form> {
  const answer = (await (await instance.fetch(path, { method, headers })).json()) as object
  if (Array.isArray(answer) || 'next_page_token' in answer || 'detail' in answer) return 'theirs'
  return 'error' in answer ? 'envelope' : 'ours'
}

test.each<[string, Record<string, string>, Form]>([
  ['xi-api-key', { 'xi-api-key': '$' }, 'theirs'],
  ['xi-api-key beside an empty Authorization', { 'xi-api-key': '$', authorization: '' }, 'theirs'],
  ['Authorization', { authorization: 'Bearer $' }, 'ours'],
  ['both', { authorization: 'Bearer $', 'xi-api-key': '$' }, 'ours'],
  ['another key header', { 'x-api-key': '$' }, 'ours'],
])('%s', async (_, given, expected) => {
  const headers = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, value.replace('$', key)]))
  expect(await form('/v1/models', headers)).toBe(expected)
  expect(await form('/v1/models/', headers)).toBe(expected)
  expect(await form('/v1/voices', headers)).toBe(expected)
})

test.each([
  ['GET', '/v2/voices'],
  ['GET', '/v1/user'],
  ['GET', '/v1/user/subscription'],
  ['POST', '/v1/voices/lark/edit'],
  ['POST', '/v1/text-to-speech/lark'],
  ['POST', '/v1/speech-to-text'],
  ['POST', '/v1/text-to-speech/lark/stream'],
  ['POST', '/v1/text-to-speech/lark/with-timestamps'],
])('%s %s is not an address of OpenAI’s clients', async (method, path) => {
  const response = await instance.fetch(path, { method, key })
  expect(response.status).toBe(404)
  expect(await response.json()).toMatchObject({
    error: { code: 'unknown_url', message: expect.stringContaining('send the key as xi-api-key') },
  })
})

test('errors have a detail for ElevenLabs’ clients alone, wherever they ask', async () => {
  for (const path of ['/v1/nothing', '/v1/models/nothing', '/v1/operations/none', '/v1/user']) {
    expect(await form(path, { 'xi-api-key': key }, path === '/v1/user' ? 'DELETE' : 'GET')).toBe('theirs')
    expect(await form(path, { authorization: `Bearer ${key}` })).toBe('envelope')
  }
})

test('the refusal of a base URL with /v1 says so', async () => {
  const answer = await instance.fetch('/v1/v1/models', { headers: { 'xi-api-key': key } })
  expect(await answer.json()).toMatchObject({
    detail: { message: expect.stringContaining('must not end with /v1'), status: 'unknown_url' },
  })
})

test('a server that takes no such header says so in their words', async () => {
  await using strict = await startInstance({ acceptKeyHeaders: false })
  const response = await strict.fetch('/v1/models', { headers: { 'xi-api-key': await strict.key() } })
  expect([response.status, await response.json()]).toMatchObject([401, { detail: { status: 'needs_authorization' } }])
})

test('HEAD is answered as GET is', async () => {
  const head = await instance.fetch('/v2/voices', { method: 'HEAD', headers: { 'xi-api-key': key } })
  expect([head.status, await head.text()]).toEqual([200, ''])
})

test('clones and deletions keep their own answers for Bearer keys', async () => {
  const body = new FormData()
  body.append('files', hum(3))
  const made = await instance.fetch('/v1/voices/add', { method: 'POST', key, body })
  const { voice_id: id, status } = (await made.json()) as { voice_id: string; status: string }
  expect([made.status, status]).toEqual([201, 'processing'])
  const gone = await instance.fetch(`/v1/voices/${id}`, { method: 'DELETE', key })
  expect([gone.status, await gone.text()]).toEqual([204, ''])
})
