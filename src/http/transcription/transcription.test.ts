/** The answers to a client that sends a form as curl would: every field, every format, every refusal of the form. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { everyContainer } from '../../audio/decode/containers.fixture.ts'
import { buzz } from '../../audio/encode/readback.fixture.ts'
import { MynaError } from '../../domain/error.ts'
import type { Instance } from '../../testing/instance.ts'
import {
  errorOf,
  formOf,
  recording,
  recordingOf,
  said,
  startListening,
  transcribe,
  uploadsOf,
  usageOf,
  deaf,
} from './transcription.fixture.ts'

let instance: Instance
let key: string
beforeAll(async () => {
  instance = await startListening({}, ['whisper-base', 'parakeet-tdt-0.6b-v2'])
  key = await instance.key()
})
afterAll(() => instance[Symbol.asyncDispose]())
beforeEach(() => {
  instance.transcriber.plan = () => ({})
})

const ask = (fields: Parameters<typeof formOf>[0] = {}, path?: string) => transcribe(instance, key, fields, path)
const translations = '/v1/audio/translations'
const lastOrder = () => instance.transcriber.orders.at(-1)
const segments = [0, 2].map((second, id) => ({
  id,
  seek: 100 * second,
  start: second,
  end: second + 1,
  text: ` heard ${second}.`,
  tokens: [second],
  temperature: 0,
  avg_logprob: -0.25,
  compression_ratio: 1,
  no_speech_prob: 0.125,
}))
const usage = { type: 'duration', seconds: 3 }

describe('the answer', () => {
  test('as json', async () => {
    for (const fields of [{}, { response_format: 'json' }, { response_format: 'JSON', stream: 'false' }]) {
      const response = await ask(fields)
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(response.headers.get('x-request-id')).toMatch(/^req_/)
      expect(response.headers.get('cache-control')).toBe('no-store')
      expect(await response.json()).toEqual({ text: said, languages: [{ code: 'en' }], usage })
    }
    expect(uploadsOf(instance)).toEqual([])
  })

  test.each([
    ['text', 'text/plain; charset=utf-8', `${said}\n`],
    [
      'srt',
      'text/plain; charset=utf-8',
      '1\n00:00:00,000 --> 00:00:01,000\nheard 0.\n\n2\n00:00:02,000 --> 00:00:03,000\nheard 2.\n',
    ],
    [
      'vtt',
      'text/vtt; charset=utf-8',
      'WEBVTT\n\n00:00.000 --> 00:01.000\nheard 0.\n\n00:02.000 --> 00:03.000\nheard 2.\n',
    ],
  ])('as %s', async (response_format, type, body) => {
    const response = await ask({ response_format })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, type])
    expect(await response.text()).toBe(body)
  })

  const verbose = { task: 'transcribe', language: 'english', duration: 3, text: said, usage }
  const words = [
    { word: 'heard', start: 0, end: 0.5 },
    { word: '0.', start: 0.5, end: 1 },
    { word: 'heard', start: 2, end: 2.5 },
    { word: '2.', start: 2.5, end: 3 },
  ]
  test.each<[string, Record<string, string | string[]>, Record<string, unknown>]>([
    ['with segments, unless something else is said', {}, { segments }],
    ['with segments', { 'timestamp_granularities[]': 'segment' }, { segments }],
    ['with words', { 'timestamp_granularities[]': 'word' }, { words }],
    ['with both', { 'timestamp_granularities[]': ['word', 'segment'] }, { words, segments }],
    ['without brackets', { timestamp_granularities: ['segment', 'word'] }, { words, segments }],
    ['with an empty granularity', { 'timestamp_granularities[]': '' }, { segments }],
    ['with a list in one field', { timestamp_granularities: '["word", "segment"]' }, { words, segments }],
    ['with a list without brackets', { timestamp_granularities: 'word,segment' }, { words, segments }],
    ['with numbered ones', { 'timestamp_granularities[0]': 'word' }, { words }],
  ])('as verbose_json %s', async (_, fields, parts) => {
    const response = await ask({ response_format: 'verbose_json', ...fields })
    expect(await response.json()).toEqual({ ...verbose, ...parts })
    expect(lastOrder()?.words).toBe('words' in parts)
  })

  test('of silence is an empty text in every format, not an error', async () => {
    const file = new File([recordingOf(0, 0)], 'silence.wav')
    const silent = async (response_format: string) => (await ask({ file, response_format })).text()
    const seconds = { usage: { type: 'duration', seconds: 2 } }
    expect(JSON.parse(await silent('json'))).toEqual({ text: '', ...seconds })
    expect(JSON.parse(await silent('verbose_json'))).toEqual({
      task: 'transcribe',
      language: 'unknown',
      duration: 2,
      text: '',
      segments: [],
      ...seconds,
    })
    expect([await silent('text'), await silent('srt'), await silent('vtt')]).toEqual(['\n', '\n', 'WEBVTT\n'])
  })

  test('names the detected language', async () => {
    instance.transcriber.plan = () => ({ language: 'yue' })
    expect(await (await ask()).json()).toMatchObject({ languages: [{ code: 'yue' }] })
    expect(await (await ask({ response_format: 'verbose_json' })).json()).toMatchObject({ language: 'cantonese' })
  })

  test('of a translation is English, and comes from a model that translates', async () => {
    expect(await (await ask({}, translations)).json()).toEqual({ text: said, languages: [{ code: 'en' }], usage })
    expect(lastOrder()).toMatchObject({ task: 'translate', model: 'whisper-base', language: null })
    const response = await ask({ response_format: 'verbose_json', language: 'de' }, translations)
    expect(await response.json()).toMatchObject({ task: 'translate', language: 'english', segments })
  })
})

describe('fields', () => {
  test.each<[string, Record<string, string | string[]>, Record<string, unknown>]>([
    [
      'none',
      {},
      { model: 'parakeet-tdt-0.6b-v2', task: 'transcribe', language: null, prompt: null, temperature: 0, words: false },
    ],
    [
      'empty ones',
      { model: '', language: '', prompt: ' ', temperature: '', stream: '' },
      { language: null, prompt: null },
    ],
    [
      'what scripts write for nothing',
      { model: 'undefined', language: 'None', prompt: 'null', temperature: 'null', stream: 'None' },
      { model: 'parakeet-tdt-0.6b-v2', language: null, prompt: null, temperature: 0 },
    ],
    ['an alias', { model: 'whisper-1' }, { model: 'parakeet-tdt-0.6b-v2' }],
    ['auto', { model: 'auto', language: 'auto' }, { model: 'parakeet-tdt-0.6b-v2', language: null }],
    ['a model by its id', { model: 'whisper-base' }, { model: 'whisper-base' }],
    ['a language that the preferred model lacks', { language: 'ja' }, { model: 'whisper-base', language: 'ja' }],
    ['a language with a region', { language: 'en-US' }, { language: 'en' }],
    ['a language by its name', { language: 'German' }, { model: 'whisper-base', language: 'de' }],
    ['a prompt', { prompt: 'Myna, Ada.' }, { prompt: 'Myna, Ada.' }],
    ['a temperature', { temperature: '0.4' }, { temperature: 0.4 }],
    ['subtitles, which are cut by words', { response_format: 'srt' }, { words: true }],
    ['a granularity that json has no place for', { 'timestamp_granularities[]': 'word' }, { words: false }],
    [
      'everything that other services know',
      {
        'include[]': 'logprobs',
        'languages[]': ['de', 'en'],
        'keywords[]': ['Myna'],
        'chunking_strategy[type]': 'server_vad',
        'chunking_strategy[threshold]': '0.5',
        'known_speaker_names[]': ['Ada', 'Bob'],
        'known_speaker_references[]': [`data:audio/wav;base64,${'A'.repeat(300_000)}`],
        vad_filter: 'false',
        user: 'u-1',
        'x-unknown': '1',
      },
      { language: null },
    ],
  ])('%s', async (_, fields, order) => {
    const response = await ask(fields)
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('heard 2.')])
    expect(lastOrder()).toMatchObject(order)
  })

  test('may come in any order, and a file may have any name', async () => {
    const form = new FormData()
    form.append('file', new Blob([recording], { type: 'application/octet-stream' }), 'voice%20memo.m4a')
    form.append('response_format', 'text')
    form.append('model', 'whisper-base')
    const response = await instance.fetch('/v1/audio/transcriptions', { method: 'POST', key, body: form })
    expect(await response.text()).toBe(`${said}\n`)
    expect(lastOrder()?.model).toBe('whisper-base')
  })

  test('where no model is named, word times come from a model that reports them', async () => {
    await using both = await startListening({}, ['whisper-base', 'whisper-tiny-words'])
    const by = await both.key()
    const modelFor = async (fields: Parameters<typeof formOf>[0]) => {
      expect((await transcribe(both, by, fields)).status).toBe(200)
      return both.transcriber.orders.at(-1)?.model
    }
    const words = { response_format: 'verbose_json', 'timestamp_granularities[]': ['segment', 'word'] }
    expect(await modelFor({ model: 'whisper-1', ...words })).toBe('whisper-tiny-words')
    expect(await modelFor(words)).toBe('whisper-tiny-words')
    expect(await modelFor({ model: 'whisper-base', ...words })).toBe('whisper-base')
    expect(await modelFor({ response_format: 'verbose_json' })).toBe('whisper-base')
    expect(await modelFor({ response_format: 'srt' })).toBe('whisper-base')
  })

  test.each(['', '\r\nContent-Type: audio/wav'])('a file needs no name%p', async (type) => {
    const head = `--b\r\nContent-Disposition: form-data; name="file"${type}\r\n\r\n`
    const body = Buffer.concat([Buffer.from(head), recording, Buffer.from('\r\n--b--\r\n')])
    const headers = { 'content-type': 'multipart/form-data; boundary=b' }
    const response = await instance.fetch('/v1/audio/transcriptions', { method: 'POST', key, body, headers })
    expect([response.status, await response.json()]).toMatchObject([200, { text: said }])
  })

  test('an idempotency key has no effect', async () => {
    for (const value of ['once', 'once', '']) {
      const headers = { 'idempotency-key': value }
      const init = { method: 'POST', key, headers, body: formOf() }
      expect((await instance.fetch('/v1/audio/transcriptions', init)).status).toBe(200)
    }
  })
})

describe('refused', () => {
  const noFile: Record<string, string | Blob> = { model: 'whisper-1', file: '' }
  test.each<[string, Record<string, string | Blob | string[]>, number, string, string | null, string]>([
    ['no file', noFile, 400, 'missing_required_parameter', 'file', "Missing required parameter: 'file'."],
    ['a part without a file', { file: new File([], '') }, 400, 'missing_required_parameter', 'file', 'Missing'],
    ['an empty file', { file: new File([], 'a.wav') }, 400, 'invalid_audio', 'file', 'The file is empty.'],
    [
      'text',
      { file: new File(['Call me Ishmael.'], 'a.mp3') },
      400,
      'invalid_audio',
      'file',
      'This is text, not audio.',
    ],
    ['too short', { file: new File([recording.slice(0, 44 + 3000)], 'a') }, 400, 'audio_too_short', 'file', '0.09 s'],
    ['an unknown model', { model: 'whisper-9' }, 404, 'model_not_found', 'model', "'whisper-9' does not exist"],
    [
      'one not installed',
      { model: 'whisper-small' },
      404,
      'model_not_found',
      'model',
      'myna models pull whisper-small',
    ],
    ['a model that speaks', { model: 'hibari' }, 400, 'unsupported_value', 'model', 'speaks; it does not transcribe'],
    ['an alias that speaks', { model: 'tts-1' }, 400, 'unsupported_value', 'model', "'tts-1' speaks"],
    ['no language', { language: 'quite loud' }, 400, 'unsupported_value', 'language', "such as 'en'"],
    ['a language nobody knows', { language: 'tlh' }, 400, 'unsupported_value', 'language', 'No installed model knows'],
    [
      'a language that the model lacks',
      { language: 'de', model: 'parakeet-tdt-0.6b-v2' },
      400,
      'unsupported_value',
      'language',
      "The model 'parakeet-tdt-0.6b-v2' does not know this language (de). Supported values are: en.",
    ],
    ['a format', { response_format: 'yaml' }, 400, 'unsupported_value', 'response_format', "'json', 'text', 'srt'"],
    ['speakers', { response_format: 'diarized_json' }, 400, 'unsupported_value', 'response_format', 'speakers apart'],
    ['heat', { temperature: '1.5' }, 400, 'decimal_above_max_value', 'temperature', 'between 0 and 1'],
    ['cold', { temperature: '-1' }, 400, 'decimal_below_min_value', 'temperature', 'between 0 and 1'],
    ['no number', { temperature: 'warm' }, 400, 'invalid_type', 'temperature', 'a number'],
    ['no flag', { stream: 'perhaps' }, 400, 'invalid_type', 'stream', 'a boolean'],
    ['a named flag', { 'stream[a]': '1' }, 400, 'invalid_type', 'stream', 'a boolean'],
    ['two prompts', { prompt: ['a', 'b'] }, 400, 'invalid_type', 'prompt', 'a string'],
    ['a long prompt', { prompt: 'x'.repeat(70_000) }, 400, 'invalid_form', 'prompt', 'at most 65536 bytes'],
    [
      'a granularity',
      { response_format: 'verbose_json', 'timestamp_granularities[]': 'letter' },
      400,
      'unsupported_value',
      'timestamp_granularities',
      "'word', 'segment'",
    ],
  ])('%s', async (_, fields, status, code, param, words) => {
    const response = await ask(fields)
    expect(response.status).toBe(status)
    expect(response.headers.get('x-request-id')).toMatch(/^req_/)
    const error = await errorOf(response)
    expect(error).toMatchObject({ code, param, type: 'invalid_request_error' })
    expect(error.message).toContain(words)
    expect(uploadsOf(instance)).toEqual([])
  })

  test('two files', async () => {
    const form = formOf()
    form.append('file', new File([recording], 'second.wav'))
    const response = await instance.fetch('/v1/audio/transcriptions', { method: 'POST', key, body: form })
    expect([response.status, await errorOf(response)]).toMatchObject([
      400,
      { code: 'unsupported_value', param: 'file' },
    ])
  })

  test('a translation by a model that cannot translate', async () => {
    const response = await ask({ model: 'parakeet-tdt-0.6b-v2' }, translations)
    expect([response.status, await errorOf(response)]).toMatchObject([
      400,
      { code: 'unsupported_value', param: 'model' },
    ])
    const formats = await ask({ response_format: 'diarized_json' }, translations)
    expect(formats.status).toBe(400)
  })

  test('a body that is not a form, or not a complete one', async () => {
    const post = (body: string, type: string) =>
      instance.fetch('/v1/audio/transcriptions', { method: 'POST', key, body, headers: { 'content-type': type } })
    const json = await post('{"model":"whisper-1"}', 'application/json')
    expect([json.status, await errorOf(json)]).toMatchObject([415, { code: 'unsupported_media_type' }])
    const cut = await post('--b\r\nContent-Disp', 'multipart/form-data; boundary=b')
    expect([cut.status, await errorOf(cut)]).toMatchObject([400, { code: 'invalid_form' }])
  })

  test("with the model's message", async () => {
    const failWith = new MynaError('unsupported_value', 'Only whispers.', { param: 'language' })
    instance.transcriber.plan = () => ({ failAt: 0, failWith })
    const response = await ask()
    expect([response.status, await errorOf(response)]).toMatchObject([400, { message: 'Only whispers.' }])
  })

  test('refusals do not count as usage', async () => {
    const other = await instance.key()
    await (await transcribe(instance, other, { file: new File(['text'], 'a.mp3') })).text()
    expect(await usageOf(instance, other)).toEqual({ requests: 0, seconds: 0, charged_micros: 0 })
  })
})

test.each([...(await everyContainer(buzz(1.2, 24_000)))])('%s is transcribed', async (_, { bytes }) => {
  const response = await ask({ file: new File([bytes], 'clip.bin'), response_format: 'verbose_json' })
  const { text, duration } = (await response.json()) as { text: string; duration: number }
  expect([response.status, text]).toEqual([200, 'heard 0. heard 1.'])
  expect(duration).toBeGreaterThan(1.19)
  expect(duration).toBeLessThan(1.4)
})

describe('limits', () => {
  test('of bytes are enforced while they arrive, whatever the declared length', async () => {
    await using small = await startListening({ maxTranscriptionBytes: 50_000 })
    const by = await small.key()
    const refused = await transcribe(small, by)
    expect([refused.status, await errorOf(refused)]).toMatchObject([
      413,
      { code: 'request_too_large', param: 'file', max_bytes: 50_000 },
    ])
    const chunked = new ReadableStream({
      start(controller) {
        controller.enqueue(
          new TextEncoder().encode('--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'),
        )
        controller.enqueue(new Uint8Array(60_000))
      },
    })
    const headers = { 'content-type': 'multipart/form-data; boundary=b' }
    const init = { method: 'POST', key: by, body: chunked, headers, duplex: 'half' } as RequestInit & { key: string }
    const early = await small.fetch('/v1/audio/transcriptions', init)
    expect(early.status).toBe(413)
    expect(uploadsOf(small)).toEqual([])
  })

  test('of seconds', async () => {
    await using small = await startListening({ maxTranscriptionSeconds: 2 })
    const by = await small.key()
    expect((await transcribe(small, by, { file: new File([recordingOf(1, 1)], 'a') })).status).toBe(200)
    const refused = await transcribe(small, by)
    expect([refused.status, await errorOf(refused)]).toMatchObject([
      400,
      { code: 'audio_too_long', param: 'file', max_seconds: 2, message: 'The audio is longer than 2 seconds.' },
    ])
  })

  test('of requests in a minute', async () => {
    await using small = await startListening({ transcriptionsPerMinute: 2 })
    const by = await small.key()
    for (const path of ['/v1/audio/transcriptions', translations]) {
      const response = await transcribe(small, by, {}, path)
      expect([response.status, response.headers.get('x-ratelimit-limit-requests')]).toEqual([200, '2'])
    }
    const limited = await transcribe(small, by)
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '60'])
    expect((await transcribe(small, await small.key())).status).toBe(200)
  })
})

test('without a model the error names the command that installs one, and every other route works', async () => {
  await using bare = await startListening({}, [], { catalog: deaf })
  const by = await bare.key()
  for (const path of ['/v1/audio/transcriptions', translations]) {
    const response = await transcribe(bare, by, {}, path)
    expect([response.status, response.headers.get('x-should-retry')]).toEqual([503, 'false'])
    const { code, message } = await errorOf(response)
    expect([code, message]).toEqual([
      'transcription_unavailable',
      expect.stringContaining('myna models pull whisper-base'),
    ])
  }
  expect((await bare.speak(by)).status).toBe(200)
  const ready = await bare.fetch('/readyz')
  expect([ready.status, await ready.json()]).toMatchObject([200, { checks: { transcription: 'unavailable' } }])
})
