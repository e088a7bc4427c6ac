import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { finished, runCommand, startCommand } from '../../testing/command.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import { ApiClient } from '../client/client.ts'
import { Failure } from '../terminal/terminal.ts'
import { clone, type CloneOrder, type VoiceRecord } from './clone.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

/** A small server that keeps the contract of the voice routes; the test decides its answers. */
type Answer = (request: Request, url: URL) => Response | Promise<Response>
let routes: Record<string, Answer> = {}
let seen: string[] = []
let server: ReturnType<typeof serve>
const folder = temporaryFolder()
const path = (name: string) => join(folder, name)

const serve = () =>
  Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      const url = new URL(request.url)
      const route = `${request.method} ${url.pathname}`
      seen.push(route + url.search)
      return routes[route]?.(request, url) ?? refuse(404, 'unknown_url')
    },
  })

beforeAll(() => {
  server = serve()
  writeFileSync(path('clip.wav'), 'RIFF and so on')
})
afterAll(() => server.stop(true))
afterEach(() => {
  routes = {}
  seen = []
})

const refuse = (status: number, code: string, message = `It says ${code}.`, headers: Record<string, string> = {}) =>
  Response.json({ error: { message, type: 'x', param: null, code } }, { status, headers })

const voice: VoiceRecord = {
  voice_id: 'voice_1',
  name: 'Anna',
  description: 'Reads the news.',
  labels: { useCase: 'news' },
  status: 'ready',
  error: null,
  language: 'en-GB',
  is_owner: true,
  is_public: false,
  preview_url: 'http://127.0.0.1/v1/voices/voice_1/preview',
  model: 'hibari',
  fidelity: 'approximate',
  aliases: ['nova'],
  created_at: 1_763_712_000,
  samples: [{ file_name: 'anna.wav', size_bytes: 312_000, duration_secs: 9.75 }],
  operation_id: 'op_1',
}
const processing: VoiceRecord = { ...voice, status: 'processing', preview_url: null }
const operation = {
  id: 'op_1',
  state: 'terminal',
  outcome: 'completed',
  charged_micros: 1_000_000,
  voice_id: 'voice_1',
}
const accepted = () =>
  Response.json({ voice_id: 'voice_1', status: 'processing', operation_id: 'op_1' }, { status: 201 })

async function failureOf(promise: Promise<unknown>): Promise<Failure> {
  const error: unknown = await promise.then(
    () => 'nothing failed',
    (thrown: unknown) => thrown,
  )
  if (error instanceof Failure) return error
  throw error
}

/** One answer after another; the last one forever. */
function inTurn(...answers: (() => Response)[]): Answer {
  let at = 0
  return () => answers[Math.min(at++, answers.length - 1)]!()
}

const env = () => ({ MYNA_URL: `${server.url}v1`, MYNA_API_KEY: 'sk-myna-test' })
const voices = (...args: string[]) => runCommand(['voices', ...args], { env: env() })

test('a clip becomes a voice, and the command says how to speak with it', async () => {
  let sent: Awaited<ReturnType<Request['formData']>> | undefined
  let headers: Headers | undefined
  routes = {
    'POST /v1/voices': async (request) => {
      headers = request.headers
      sent = await request.formData()
      return accepted()
    },
    'GET /v1/voices/voice_1': inTurn(() => Response.json(voice)),
    'GET /v1/operations/op_1': () => Response.json(operation),
    'GET /v1/me': () => Response.json({ balance_micros: 4_000_000 }),
  }
  const named = [
    '--name',
    'Anna',
    '--language',
    'en-GB',
    '--consent',
    'She agreed.',
    '--alias',
    'nova',
    '--alias',
    'a b',
  ]
  const result = await voices('clone', path('clip.wav'), ...named)
  expect(result).toMatchObject({ code: 0, stderr: '' })
  expect(result.stdout).toBe(
    "'Anna' is ready: voice_1 (an approximate clone: a built-in voice adjusted to resemble the clip). Charged " +
      '$1.00.\nSpeak with it: myna speak "Hello." --voice voice_1\n',
  )
  const file = sent?.get('file')
  expect(file instanceof File ? [file.name, await file.text()] : null).toEqual(['clip.wav', 'RIFF and so on'])
  sent?.delete('file')
  expect([...(sent?.entries() ?? [])]).toEqual([
    ['name', 'Anna'],
    ['language', 'en-GB'],
    ['consent', 'She agreed.'],
    ['aliases[]', 'nova'],
    ['aliases[]', 'a b'],
  ])
  expect(headers?.get('authorization')).toBe('Bearer sk-myna-test')
  expect(headers?.get('idempotency-key')).toMatch(/^[0-9a-f-]{36}$/)
})

test.each([
  [422, 'clip_too_short', 'Record more: one person who speaks'],
  [422, 'clip_too_long', 'Cut out the best part'],
  [422, 'clip_silent', 'the right microphone is selected'],
  [422, 'clip_undecodable', 'WAV, FLAC or MP3'],
  [413, 'request_too_large', 'FLAC or MP3'],
  [403, 'voice_limit_reached', 'myna voices rm ID'],
  [402, 'insufficient_balance', 'myna accounts credit NAME AMOUNT'],
  [422, 'consent_required', '--consent'],
  [403, 'insufficient_scope', '--scopes tts,voices'],
  [401, 'invalid_api_key', 'myna keys create'],
  [422, 'validation_error', '[validation_error]'],
])('a refusal %d %s is reported with what to do', async (status, code, what) => {
  routes = { 'POST /v1/voices': () => refuse(status, code) }
  const error = await failureOf(clone(order()))
  expect(error.code).toBe(code)
  expect(error.message).toContain(`It says ${code}. `)
  expect(error.message).toContain(what)
  expect(seen).toEqual(['POST /v1/voices'])
})

test("a clip that the model refuses is reported in the model's words, with the refund and what to record", async () => {
  const error = { code: 'clip_refused', message: 'Two people speak in this clip.' }
  routes = {
    'POST /v1/voices': accepted,
    'GET /v1/voices/voice_1': inTurn(() => Response.json({ ...voice, status: 'failed', error })),
    'GET /v1/operations/op_1': () => Response.json({ ...operation, outcome: 'failed', charged_micros: 0 }),
  }
  const result = await voices('clone', path('clip.wav'), '--name', 'Anna', '--json')
  expect(result.code).toBe(1)
  expect(JSON.parse(result.stderr)).toEqual({
    error: {
      code: 'clip_refused',
      message: expect.stringMatching(/^Two people speak in this clip\. Record it again: .*\. Charged: \$0\.00\.$/),
    },
  })
})

/** An order whose clock moves only while it waits; the pauses are recorded. */
function order(pauses: number[] = [], change: Partial<CloneOrder> = {}): CloneOrder {
  const clock = new ManualClock()
  return {
    client: new ApiClient({ url: server.url.href, apiKey: 'sk-myna-test', wait: async () => {} }),
    form: new FormData(),
    idempotencyKey: 'key',
    onInterrupt: () => () => {},
    progress: () => {},
    wait: async (ms) => {
      pauses.push(ms)
      clock.advance(ms)
    },
    clock,
    ...change,
  }
}

test('the server is asked after 1 s, then after pauses that grow by half, up to 10 s', async () => {
  const pauses: number[] = []
  const unready = Array.from({ length: 7 }, () => () => Response.json(processing))
  const broken = [() => refuse(503, 'engine_overloaded'), () => refuse(429, 'rate_limit_exceeded')]
  routes = {
    'POST /v1/voices': accepted,
    'GET /v1/voices/voice_1': inTurn(...unready, ...broken, () => Response.json(voice)),
    'GET /v1/operations/op_1': () => Response.json(operation),
  }
  expect(await clone(order(pauses))).toEqual({ voice, chargedMicros: 1_000_000 })
  expect(pauses).toEqual([1000, 1500, 2250, 3375, 5062.5, 7593.75, 10_000, 10_000, 10_000, 10_000])
})

test('after ten minutes it says where to look', async () => {
  const pauses: number[] = []
  routes = { 'POST /v1/voices': accepted, 'GET /v1/voices/voice_1': () => Response.json(processing) }
  const error = await failureOf(clone(order(pauses)))
  expect(error.code).toBe('timeout')
  expect(error.message).toContain('myna voices show voice_1')
  const waited = pauses.reduce((sum, ms) => sum + ms, 0)
  expect([waited > 600_000, waited <= 610_000]).toEqual([true, true])
})

test('removing the voice meanwhile ends the wait', async () => {
  routes = { 'POST /v1/voices': accepted, 'GET /v1/voices/voice_1': () => refuse(404, 'voice_not_found') }
  expect((await failureOf(clone(order()))).code).toBe('cancelled')
})

test('a lost answer is found again through its operation', async () => {
  const about = { message: 'It was used.', code: 'duplicate_request', operation_id: 'op_1' }
  routes = {
    'POST /v1/voices': () => Response.json({ error: about }, { status: 409, headers: { 'x-should-retry': 'false' } }),
    'GET /v1/operations/op_1': () => Response.json(operation),
    'GET /v1/voices/voice_1': () => Response.json(voice),
  }
  expect((await clone(order())).voice.voice_id).toBe('voice_1')
})

test('Ctrl-C cancels on the server and reports that nothing was charged', async () => {
  const asked = Promise.withResolvers<void>()
  let cancelled = false
  const error = { code: 'cancelled', message: 'The clone was cancelled.' }
  routes = {
    'POST /v1/voices': accepted,
    'GET /v1/voices/voice_1': () => {
      asked.resolve()
      return Response.json(cancelled ? { ...voice, status: 'failed', error } : processing)
    },
    'POST /v1/operations/op_1/cancel': () => {
      cancelled = true
      return Response.json({ ok: true })
    },
    'GET /v1/operations/op_1': () => Response.json({ ...operation, outcome: 'cancelled', charged_micros: 0 }),
  }
  const command = startCommand(['voices', 'clone', path('clip.wav'), '--name', 'Anna'], { env: env() })
  await asked.promise
  command.kill('SIGINT')
  const result = await finished(command)
  expect(result).toMatchObject({ code: 130, stderr: 'myna: The clone was cancelled. Charged: $0.00.\n' })
})

test('impossible requests are refused before the server is asked', async () => {
  writeFileSync(path('empty.wav'), '')
  mkdirSync(path('folder.wav'))
  for (const [args, code] of [
    [['clone', path('none.wav'), '--name', 'A'], 1],
    [['clone', path('empty.wav'), '--name', 'A'], 1],
    [['clone', path('folder.wav'), '--name', 'A'], 1],
    [['clone', path('clip.wav')], 2],
    [['show', 'lark', '--plot', path('x.gif')], 2],
    [['preview', 'lark', '-o', path('x.docx')], 2],
  ] as const) {
    expect([args, (await voices(...args)).code]).toEqual([args, code])
  }
  expect(seen).toEqual([])
})

test('all voices are listed, page after page', async () => {
  const preset = {
    ...voice,
    voice_id: 'lark',
    name: 'LARK',
    is_owner: false,
    is_public: true,
    samples: [],
    language: null,
  }
  routes = {
    'GET /v1/voices': (_request, url) =>
      Response.json(
        url.searchParams.get('after') === 'voice_1'
          ? { data: [preset], has_more: false }
          : { data: [voice], has_more: true },
      ),
  }
  const { stdout } = await voices('list')
  expect(stdout).toMatch(/^ID +NAME +STATUS +WHOSE +LANGUAGE +MODEL +CREATED +DESCRIPTION\n/)
  expect(stdout).toMatch(/\nvoice_1 +Anna +ready +own +en-GB +hibari +2025-11-21 +Reads the news\.\n/)
  expect(stdout).toMatch(/\nlark +LARK +ready +public +- +hibari/)
  expect(seen.length).toBe(2)
  expect(JSON.parse((await voices('ls', '--json')).stdout)).toEqual([voice, preset])
})

test('a voice is shown, with its labels as they are, and drawn', async () => {
  routes = {
    'GET /v1/voices/voice_1': () => Response.json(voice),
    'GET /v1/voices/voice_1/preview.png': (_request, url) => new Response(`picture ${url.search}`),
  }
  const shown = await voices('show', 'voice_1', '--plot', path('anna.png'), '--dark')
  expect(shown.stdout).toContain('Anna\nReads the news.\n\nId        voice_1\n')
  expect(shown.stdout).toContain('Clip      anna.wav, 9.8 s, 312 kB\n')
  expect(shown.stdout).toContain('Labels    useCase: news\n')
  expect(shown.stdout).toEndWith('Speak with it: myna speak "Hello." --voice voice_1\n')
  expect(readFileSync(path('anna.png'), 'utf8')).toBe('picture ?theme=dark')
  expect(JSON.parse((await voices('show', 'voice_1', '--json')).stdout)).toEqual(voice)
})

test('a failed voice shows why', async () => {
  const error = { code: 'clip_refused', message: 'Two people speak.' }
  routes = { 'GET /v1/voices/voice_1': () => Response.json({ ...voice, status: 'failed', error, preview_url: null }) }
  const { stdout } = await voices('show', 'voice_1')
  expect(stdout).toContain('Status    failed\n          Two people speak. [clip_refused]\n')
  expect(stdout).not.toContain('Speak with it')
})

test('a preview is saved in the format that its file name says', async () => {
  routes = { 'GET /v1/voices/lark/preview': (_request, url) => new Response(`audio${url.search}`) }
  expect((await voices('preview', 'lark', '-o', path('lark.mp3'))).stdout).toBe(`${path('lark.mp3')}: 25 bytes\n`)
  expect(readFileSync(path('lark.mp3'), 'utf8')).toBe('audio?response_format=mp3')
  expect(existsSync(path('lark.mp3.part'))).toBe(false)
  expect((await voices('preview', 'lark', '-o', '-')).stdout).toBe('audio?response_format=wav')
  routes = { 'GET /v1/voices/lark/preview': () => refuse(409, 'voice_not_ready') }
  const early = await voices('preview', 'lark', '-o', path('early.wav'))
  expect(early).toMatchObject({ code: 1, stderr: expect.stringContaining('try again in a few seconds') })
  expect(existsSync(path('early.wav'))).toBe(false)
})

test('a voice is removed; a missing one leads to the list', async () => {
  routes = {
    'DELETE /v1/voices/voice_1': () => new Response(null, { status: 204 }),
    'DELETE /v1/voices/lark': () => refuse(403, 'voice_not_owned'),
    'DELETE /v1/voices/voice_2': () => refuse(404, 'voice_not_found'),
    'GET /v1/voices': () => Response.json({ data: [], has_more: false }),
  }
  expect((await voices('rm', 'voice_1')).stdout).toBe('Removed voice_1.\n')
  expect(JSON.parse((await voices('rm', 'voice_1', '--json')).stdout)).toEqual({ voice_id: 'voice_1', removed: true })
  expect((await voices('rm', 'lark')).stderr).toContain('List your voices: myna voices list')
  const none = await voices('rm', 'voice_2')
  expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('myna voices list') })
})

test('a voice may be given by its alias or its name, and an ambiguous name is refused', async () => {
  const other = { ...voice, voice_id: 'voice_2', name: 'Anna', aliases: [] }
  const unknown = () => refuse(404, 'voice_not_found')
  routes = {
    'GET /v1/voices/narrator': unknown,
    'GET /v1/voices/ANNA': unknown,
    'GET /v1/voices/voice_1': () => Response.json(voice),
    'GET /v1/voices': () => Response.json({ data: [{ ...voice, aliases: ['Narrator'] }, other], has_more: false }),
  }
  expect((await voices('show', 'narrator')).stdout).toContain('Id        voice_1\n')
  const several = await voices('show', 'ANNA')
  expect(several).toMatchObject({ code: 1, stderr: expect.stringContaining('voice_1, voice_2') })
})
