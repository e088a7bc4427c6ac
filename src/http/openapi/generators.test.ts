/**
 * What generators of clients make of the document. Each of these forms is correct and was met by one of them:
 * openapi-generator 7.16 refuses the document or stops, or the client that it writes for Python, Go, TypeScript or Rust
 * cannot be compiled or refuses our answers.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { OpenAPIV3_1 } from 'openapi-types'
import { type Instance, startInstance } from '../../testing/instance.ts'

let instance: Instance
let document: OpenAPIV3_1.Document
beforeAll(async () => {
  instance = await startInstance()
  document = (await (await instance.fetch('/openapi.json')).json()) as OpenAPIV3_1.Document
})
afterAll(() => instance[Symbol.asyncDispose]())

type Node = Record<string, unknown>

/** Every object of the document, with the way to it. */
function* nodes(value: unknown, path = ''): Generator<[path: string, node: Node]> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield [path, value as Node]
  for (const [name, part] of Object.entries(value)) yield* nodes(part, `${path}/${name}`)
}

const where = (isFault: (node: Node, path: string) => boolean): string[] =>
  [...nodes(document)].filter(([path, node]) => isFault(node, path)).map(([path]) => path)

const allowsNull = ({ enum: values }: Node): boolean => Array.isArray(values) && values.includes(null)

test('the licence has an identifier', () => {
  expect(document.info.license).toEqual({ name: 'Apache-2.0', identifier: 'Apache-2.0' })
})

test('what is always null has the type that it would have', () => {
  expect(where(({ type }, path) => type === 'null' && !/\/anyOf\/\d+$/.test(path))).toEqual([])
})

test('a constant is text or a number', () => {
  expect(where((node) => typeof node.const === 'boolean')).toEqual([])
})

test('a field with a default does not offer null', () => {
  expect(where((node) => allowsNull(node) && node.default !== undefined)).toEqual([])
})

test('every field of a form has a type', () => {
  const forms = where((_, path) => /Request\/properties\/[^/]+$/.test(path))
  expect(forms.length).toBeGreaterThan(30)
  const typed = ['type', 'anyOf', '$ref']
  expect(where((node, path) => forms.includes(path) && typed.every((key) => node[key] === undefined))).toEqual([])
})

test('a body is required and has one type', () => {
  const bodies = [...nodes(document.paths)].filter(([path]) => path.endsWith('/requestBody'))
  expect(bodies.length).toBeGreaterThan(8)
  for (const [path, { content, required }] of bodies) {
    expect([path, Object.keys(content as Node).length, required]).toEqual([path, 1, true])
  }
})

test('no schema has the name of what makes another in Go', () => {
  const names = Object.keys(document.components?.schemas ?? {})
  expect(names.filter((name) => names.includes(name.replace(/^New/, '')) && name.startsWith('New'))).toEqual([])
})

test('each form of a transcript is found by the first schema that fits it', () => {
  const media = document.paths?.['/v1/audio/transcriptions']?.post?.responses?.['200'] as OpenAPIV3_1.ResponseObject
  const { schema, examples } = media.content!['application/json']!
  const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(document, 'document')
  const refs = (schema as { anyOf: { $ref: string }[] }).anyOf.map(({ $ref }) => $ref)
  const first = (value: unknown) =>
    refs
      .find((ref) => ajv.validate(`document${ref}`, value))
      ?.split('/')
      .at(-1)
  const found = Object.entries(examples ?? {}).map(([name, one]) => [name, first((one as { value: unknown }).value)])
  expect(Object.fromEntries(found)).toEqual({ json: 'Transcription', verbose_json: 'VerboseTranscription' })
})
