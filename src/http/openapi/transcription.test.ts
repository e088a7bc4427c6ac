/** The server's transcripts and refusals match the document. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { OpenAPIV3_1 } from 'openapi-types'
import type { Instance } from '../../testing/instance.ts'
import { startListening, transcribe } from '../transcription/transcription.fixture.ts'

let instance: Instance
let key: string
let document: OpenAPIV3_1.Document
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
beforeAll(async () => {
  instance = await startListening({ maxTranscriptionBytes: 200_000 })
  key = await instance.key()
  document = (await (await instance.fetch('/openapi.json')).json()) as OpenAPIV3_1.Document
  ajv.addSchema(document, 'document')
})
afterAll(() => instance[Symbol.asyncDispose]())

const paths = ['/v1/audio/transcriptions', '/v1/audio/translations'] as const

function faults(schema: string, value: unknown): string {
  ajv.validate(`document#/components/schemas/${schema}`, value)
  return ajv.errorsText()
}
const none = 'No errors'

/** The documented content of an answer. */
function foreseen(path: string, response: Response): Record<string, unknown> {
  const described = document.paths?.[path]?.post?.responses?.[response.status] as OpenAPIV3_1.ResponseObject | undefined
  expect(described, `${path} ${response.status}`).toBeDefined()
  const type = response.headers.get('content-type')?.split(';')[0] ?? ''
  expect(Object.keys(described?.content ?? {})).toContain(type)
  return (described?.content?.[type]?.examples ?? {}) as Record<string, unknown>
}

test.each(paths)('%s answers in every form that it describes', async (path) => {
  for (const response_format of ['json', 'verbose_json', 'text', 'srt', 'vtt']) {
    const response = await transcribe(
      instance,
      key,
      { response_format, 'timestamp_granularities[]': ['word', 'segment'] },
      path,
    )
    expect(response.status).toBe(200)
    foreseen(path, response)
    if (response_format === 'json') expect(faults('Transcription', await response.json())).toBe(none)
    if (response_format === 'verbose_json') expect(faults('VerboseTranscription', await response.json())).toBe(none)
  }
})

const schemas: Readonly<Record<string, string>> = {
  'transcript.text.delta': 'TranscriptDeltaEvent',
  'transcript.text.segment': 'TranscriptSegmentEvent',
  'transcript.text.done': 'TranscriptDoneEvent',
}

test.each(paths)('%s streams the events that it describes', async (path) => {
  const response = await transcribe(instance, key, { stream: 'true', 'include[]': 'segments' }, path)
  foreseen(path, response)
  const events = (await response.text()).split('\n\n').filter((event) => event.startsWith('event: '))
  const kinds = ['transcript.text.delta', 'transcript.text.segment']
  expect(events.map((event) => event.slice('event: '.length).split('\n')[0] ?? '')).toEqual([
    ...kinds,
    ...kinds,
    'transcript.text.done',
  ])
  for (const event of events) {
    const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(event) ?? []
    const value = JSON.parse(data ?? '') as { type: string }
    expect(value.type).toBe(name ?? '')
    const schema = schemas[name ?? ''] ?? ''
    expect(faults(schema, value)).toBe(none)
  }
})

test.each<[string, Parameters<typeof transcribe>[2], number]>([
  ['no file', { file: '' }, 400],
  ['text', { file: new File(['text'], 'a') }, 400],
  ['heat', { temperature: '2' }, 400],
  ['no flag', { stream: 'perhaps' }, 400],
  ['speakers', { response_format: 'diarized_json' }, 400],
  ['a long prompt', { prompt: 'x'.repeat(70_000) }, 400],
  ['a long name', { model: 'x'.repeat(300) }, 400],
  ['no model', { model: 'none' }, 404],
  ['a large file', { file: new File([new Uint8Array(300_000)], 'a') }, 413],
])('refused: %s', async (_, fields, status) => {
  for (const path of paths) {
    const response = await transcribe(instance, key, fields, path)
    expect(response.status).toBe(status)
    const examples = foreseen(path, response)
    const body = (await response.json()) as { error: { code: string } }
    expect(faults('Error', body)).toBe(none)
    expect(Object.keys(examples)).toContain(body.error.code)
  }
})

test('the document states the limits as they are configured', async () => {
  const fieldsOf = (document: OpenAPIV3_1.Document, schema: string) =>
    JSON.stringify(document.components?.schemas?.[schema])
  expect(fieldsOf(document, 'TranscriptionRequest')).toContain('at most 200000 bytes (`MYNA_MAX_TRANSCRIPTION_BYTES`)')
  await using other = await startListening({ maxInputChars: 77, maxClipBytes: 3 * 2 ** 20, maxClipSeconds: 21 })
  const changed = (await (await other.fetch('/openapi.json')).json()) as OpenAPIV3_1.Document
  expect(fieldsOf(changed, 'SpeechRequest')).toContain('At most 77 Unicode code points')
  expect(fieldsOf(changed, 'CloneRequest')).toContain('3 to 21 seconds and at most 3 MiB')
})
