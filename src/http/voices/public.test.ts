/** An administrator's clone becomes public and private again; other users' clones cannot. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Instance, startInstance } from '../../testing/instance.ts'

let instance: Instance
let key: string
let id: string

beforeAll(async () => {
  instance = await startInstance()
  key = await instance.key()
  id = (await instance.cloned(instance.adminKey, { name: 'House voice' })).voice_id
})
afterAll(() => instance[Symbol.asyncDispose]())

const patch = async (voice: string, as: string, body: unknown) => {
  const init = { method: 'PATCH', key: as, body: JSON.stringify(body) }
  const answer = await instance.fetch(`/v1/voices/${voice}`, init)
  return { status: answer.status, body: (await answer.json()) as { is_public?: boolean; error?: { code: string } } }
}
const statusFor = async (path: string, as?: string) =>
  (await instance.fetch(`/v1/voices/${id}${path}`, as === undefined ? {} : { key: as })).status
const isListed = async () => {
  const listed = (await (await instance.fetch('/v1/audio/voices')).json()) as { data: { voice_id: string }[] }
  return listed.data.some(({ voice_id: one }) => one === id)
}

test('an administrator’s voice becomes public: others find it, play it and speak with it', async () => {
  expect([await statusFor('', key), await statusFor('/preview'), await isListed()]).toEqual([404, 401, false])
  const changed = await patch(id, instance.adminKey, { public: true })
  expect([changed.status, changed.body.is_public]).toEqual([200, true])
  expect([await statusFor('', key), await statusFor('/preview'), await isListed()]).toEqual([200, 200, true])
  const spoken = await instance.speak(key, { voice: 'house voice' })
  expect([spoken.status, (await spoken.bytes()).length > 0]).toEqual([200, true])
})

test('null, and a change of another field, leave it public; false makes it private', async () => {
  expect((await patch(id, instance.adminKey, { public: null, name: 'House' })).body.is_public).toBe(true)
  expect((await patch(id, instance.adminKey, { description: 'Ours.' })).body.is_public).toBe(true)
  expect((await patch(id, instance.adminKey, { public: 'maybe' })).status).toBe(422)
  expect((await patch(id, instance.adminKey, { public: false })).body.is_public).toBe(false)
  expect([await statusFor('', key), await statusFor('/preview'), await isListed()]).toEqual([404, 401, false])
  expect((await instance.speak(key, { voice: id })).status).toBe(404)
})

test('an ordinary account cannot publish', async () => {
  const { voice_id: own } = await instance.cloned(key, { name: 'Mine' })
  const refused = await patch(own, key, { public: true, name: 'Changed' })
  expect([refused.status, refused.body.error?.code]).toEqual([403, 'admin_required'])
  const kept = (await (await instance.fetch(`/v1/voices/${own}`, { key })).json()) as { name: string }
  expect(kept.name).toBe('Mine')
  expect((await patch(own, key, { public: false })).status).toBe(200)
})
