/** What ElevenLabs' clients are answered satisfies the schemas of the API's document, which names every code. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { OpenAPIV3_1 } from 'openapi-types'
import { type Instance, startInstance } from '../../testing/instance.ts'

let instance: Instance
let key: string
let document: OpenAPIV3_1.Document
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
beforeAll(async () => {
  instance = await startInstance()
  key = await instance.key({ prepaidMicros: 1000 })
  document = (await (await instance.fetch('/openapi.json')).json()) as OpenAPIV3_1.Document
  ajv.addSchema(document, 'document')
})
afterAll(() => instance[Symbol.asyncDispose]())

const tooLong = JSON.stringify({ text: '7'.repeat(2048), voice_settings: { speed: 0.5 } })

test.each<[string, string, string, string, RequestInit, number]>([
  ['voices', 'get', '/v2/voices', '/v2/voices?page_size=3', {}, 200],
  ['the account', 'get', '/v1/user', '/v1/user', {}, 200],
  ['what is left', 'get', '/v1/user/subscription', '/v1/user/subscription', {}, 200],
  ['a page that is too large', 'get', '/v2/voices', '/v2/voices?page_size=1000', {}, 422],
  ['a wrong key', 'get', '/v1/user', '/v1/user', { headers: { 'xi-api-key': 'wrong' } }, 401],
  ['no text', 'post', '/v1/text-to-speech/{voice_id}', '/v1/text-to-speech/nova', { body: '{}' }, 422],
  ['a long speech', 'post', '/v1/text-to-speech/{voice_id}', '/v1/text-to-speech/nova', { body: tooLong }, 400],
  ['no voice', 'post', '/v1/text-to-speech/{voice_id}', '/v1/text-to-speech/x', { body: '{"text":"Hi."}' }, 404],
  ['no form', 'post', '/v1/voices/{voice_id}/edit', '/v1/voices/lark/edit', { body: '{}' }, 415],
])('%s', async (_, method, path, address, init, status) => {
  const response = await instance.fetch(address, {
    method: method.toUpperCase(),
    ...init,
    headers: { 'xi-api-key': key, ...init.headers },
  })
  expect(response.status).toBe(status)
  const operation = document.paths?.[path]?.[method as 'get']
  const described = operation?.responses?.[status] as OpenAPIV3_1.ResponseObject
  const { schema, examples = {} } = described.content!['application/json']!
  const answer = (await response.json()) as { error?: { code: string } }
  ajv.validate(`document${(schema as { $ref: string }).$ref}`, answer)
  expect(ajv.errorsText()).toBe('No errors')
  if (answer.error !== undefined) expect(Object.keys(examples)).toContain(answer.error.code)
  expect(operation?.security).toEqual([{ xiApiKey: [] }])
})
