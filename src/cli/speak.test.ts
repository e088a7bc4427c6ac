import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished, runCommand, startCommand } from '../testing/command.ts'
import { until } from '../testing/until.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

/**
 * A small server that keeps the contract: audio, then an operation that says how it ended. The test decides how it
 * answers a speech request.
 */
type Speech = (request: Request, body: Record<string, unknown>) => Response | Promise<Response>
const operation = {
  id: 'op_1',
  object: 'operation',
  type: 'speech',
  state: 'terminal',
  outcome: 'completed' as string | null,
  charged_micros: 675,
  completion_bytes: 96_000 as number | null,
  error: null as { code: string; message: string } | null,
}
let speech: Speech
let operations: (typeof operation)[]
let balanceMicros: number | null = 5_000_000
let seen: { path: string; key: string | null; authorization: string | null }[] = []
let cancelled = Promise.withResolvers<void>()
let server: ReturnType<typeof serve>
let folder: string

const serve = () =>
  Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const { pathname } = new URL(request.url)
      const { headers } = request
      seen.push({ path: pathname, key: headers.get('idempotency-key'), authorization: headers.get('authorization') })
      if (pathname === '/v1/audio/speech') return speech(request, (await request.json()) as Record<string, unknown>)
      if (pathname === '/v1/operations/op_1/cancel') {
        cancelled.resolve()
        return Response.json({ ok: true })
      }
      if (pathname === '/v1/me') return Response.json({ balance_micros: balanceMicros })
      const next = operations.length > 1 ? operations.shift() : operations[0]
      return pathname === '/v1/operations/op_1' ? Response.json(next) : new Response('', { status: 404 })
    },
  })

beforeAll(() => {
  server = serve()
  folder = mkdtempSync(join(tmpdir(), 'myna-speak-'))
})
afterAll(async () => {
  await server.stop(true)
  rmSync(folder, { recursive: true })
})
afterEach(() => {
  seen = []
  cancelled = Promise.withResolvers()
})

const audio = new Uint8Array(40_000).map((_, at) => at % 251)
const whole: Speech = () => new Response(audio, { headers: { 'X-Request-Id': 'op_1', 'Content-Type': 'audio/mpeg' } })
const refuse = (status: number, code: string, headers: Record<string, string> = {}) =>
  Response.json({ error: { message: `It says ${code}.`, type: 'x', param: null, code } }, { status, headers })

/** Some audio, then whatever the test does. */
const stream = (then: (controller: ReadableStreamDefaultController<Uint8Array>) => unknown) =>
  new Response(
    new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(audio.slice(0, 1000))
        void then(controller)
      },
    }),
    { headers: { 'X-Request-Id': 'op_1' } },
  )

/**
 * Waits until the first bytes are on the disk: then the command has seen the answer's headers and knows the operation.
 */
const someOf = (name: string): Promise<void> =>
  until(`some of ${name}`, () => existsSync(path(`${name}.part`)) && readFileSync(path(`${name}.part`)).length > 0)

const env = () => ({ MYNA_URL: `${server.url}v1`, MYNA_API_KEY: 'sk-myna-test' })
const speak = (...args: string[]) => runCommand(['speak', ...args], { env: env() })
const path = (name: string) => join(folder, name)

test('an account that pays nothing sees no prices', async () => {
  speech = whole
  operations = [operation]
  balanceMicros = null
  const free = await speak('Good morning', '-o', path('free.wav'))
  operations = [{ ...operation, outcome: 'stream_failed', charged_micros: 90 }]
  const broken = await speak('Good morning', '-o', path('broken.wav'))
  balanceMicros = 5_000_000
  expect(broken.stderr).toContain('The operation: op_1. The part that arrived is in')
  expect(free.stdout).toBe(`${path('free.wav')}: 2.0 s of audio from 12 characters (op_1)\n`)
})

test('a sentence becomes a file, and its length and its price are printed', async () => {
  let body: unknown
  speech = (request, given) => {
    body = given
    return whole(request, given)
  }
  operations = [operation]
  const result = await speak('Hello there.', '-o', path('a.wav'), '--voice', 'nova', '--speed', '1.5')
  expect(result).toMatchObject({ code: 0, stderr: '' })
  expect(result.stdout).toBe(`${path('a.wav')}: 2.0 s of audio from 12 characters, charged $0.000675 (op_1)\n`)
  expect(new Uint8Array(readFileSync(path('a.wav')))).toEqual(audio)
  expect(existsSync(`${path('a.wav')}.part`)).toBe(false)
  expect(body).toEqual({ input: 'Hello there.', voice: 'nova', speed: 1.5, response_format: 'wav' })
  expect(seen[0]).toMatchObject({ path: '/v1/audio/speech', authorization: 'Bearer sk-myna-test' })
  expect(seen[0]?.key).toMatch(/^[0-9a-f-]{36}$/)
})

test('--json gives the same as data, and the input comes from standard input', async () => {
  speech = whole
  operations = [operation]
  const args = ['speak', '-', '-o', path('b.mp3'), '--json']
  const result = await runCommand(args, { env: env(), stdin: 'Zwölf Boxer.\n' })
  expect(JSON.parse(result.stdout)).toEqual({
    file: path('b.mp3'),
    seconds: 2,
    characters: 12,
    charged_micros: 675,
    operation_id: 'op_1',
  })
})

test('a name that will end is said beside the result, once, and not in data for programs', async () => {
  const warning = "The voice 'slt' was removed and stands for 'lark' until the next release. Use 'lark'."
  speech = () => new Response(audio, { headers: { 'X-Request-Id': 'op_1', 'X-Myna-Warning': warning } })
  operations = [operation]
  const result = await speak('Hello there.', '-o', path('former.wav'), '--voice', 'slt')
  expect(result).toMatchObject({
    code: 0,
    stderr: `${warning}\n`,
    stdout: expect.stringContaining('former.wav: 2.0 s'),
  })
  expect(new Uint8Array(readFileSync(path('former.wav')))).toEqual(audio)
  const data = await speak('Hello there.', '-o', path('former.wav'), '--voice', 'slt', '--json')
  expect(data).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('"operation_id": "op_1"') })
})

test('standard output gets only the audio', async () => {
  speech = whole
  operations = [operation]
  const command = startCommand(['speak', 'Hello.', '-o', '-'], { env: env() })
  expect(new Uint8Array(await new Response(command.stdout).arrayBuffer())).toEqual(audio)
  expect(await new Response(command.stderr).text()).toContain('2.0 s of audio')
  expect(await command.exited).toBe(0)
})

test('an aborted stream is reported with its cause, its charge and its rest', async () => {
  speech = () => stream(async (controller) => controller.error(await someOf('c.mp3')))
  const error = { code: 'generation_failed', message: 'The engine failed.' }
  const broken = { ...operation, outcome: 'stream_failed', charged_micros: 0, completion_bytes: null, error }
  operations = [{ ...broken, state: 'pending', outcome: null }, broken]
  const result = await speak('Hello.', '-o', path('c.mp3'))
  expect(result.code).toBe(1)
  expect(result.stderr).toContain(': The engine failed. Charged: $0.00 (op_1). The part that arrived is in ')
  expect(readFileSync(path('c.mp3.part')).length).toBe(1000)
  expect(existsSync(path('c.mp3'))).toBe(false)
})

test('a stream that ends properly without a completed operation counts as failed', async () => {
  speech = whole
  operations = [{ ...operation, outcome: 'cancelled', charged_micros: 15, completion_bytes: null }]
  const result = await speak('Hello.', '-o', path('d.mp3'), '--json')
  expect(result.code).toBe(1)
  const { error } = JSON.parse(result.stderr) as { error: { code: string; message: string } }
  expect(error.code).toBe('cancelled')
  expect(error.message).toContain('Charged: $0.000015')
  expect(existsSync(path('d.mp3'))).toBe(false)
})

test('a busy server is asked again with the same idempotency key', async () => {
  const busy = () => refuse(503, 'engine_overloaded', { 'Retry-After': '1', 'retry-after-ms': '10' })
  const answers = [busy, () => refuse(429, 'rate_limit_exceeded', { 'retry-after-ms': '10' }), whole]
  speech = (request, body) => (answers.shift() ?? whole)(request, body)
  operations = [operation]
  expect(await speak('Hello.', '-o', path('e.mp3'))).toMatchObject({ code: 0 })
  const keys = seen.filter((request) => request.path === '/v1/audio/speech').map((request) => request.key)
  expect(keys.length).toBe(3)
  expect(new Set(keys).size).toBe(1)
})

test('a server that stays busy, or says that trying again is useless, is not asked again', async () => {
  speech = () => refuse(503, 'engine_overloaded', { 'retry-after-ms': '1' })
  expect(await speak('Hello.', '-o', path('f.mp3'))).toMatchObject({ code: 1 })
  expect(seen.length).toBe(4)
  seen = []
  speech = () => refuse(429, 'insufficient_quota', { 'Retry-After': '1', 'x-should-retry': 'false' })
  expect((await speak('Hello.', '-o', path('f.mp3'))).stderr).toContain(
    'It says insufficient_quota. [insufficient_quota]',
  )
  expect(seen.length).toBe(1)
  expect(readdirSync(folder).filter((name) => name.startsWith('f.'))).toEqual([])
})

test('a connection that breaks before the answer is retried, and the charge is reported', async () => {
  let attempts = 0
  const raw = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data: (socket, data) => {
        if (data.includes('GET /v1/operations/op_1')) {
          return void socket.end(httpJson(200, { ...operation, outcome: 'stream_failed', charged_micros: 90 }))
        }
        if (data.includes('GET /v1/me')) return void socket.end(httpJson(200, { balance_micros: balanceMicros }))
        if (attempts++ === 0) return void socket.terminate()
        const error = { message: 'It was used.', code: 'duplicate_request', operation_id: 'op_1' }
        socket.end(httpJson(409, { error }))
      },
    },
  })
  const url = `http://127.0.0.1:${raw.port}`
  const result = await runCommand(['speak', 'Hello.', '-o', path('g.mp3'), '--url', url])
  raw.stop(true)
  expect(result.code).toBe(1)
  expect(attempts).toBe(2)
  expect(result.stderr).toContain('It was used. [duplicate_request] Charged: $0.00009 (op_1).')
})

const httpJson = (status: number, body: unknown): string => {
  const text = JSON.stringify(body)
  const head = [`HTTP/1.1 ${status} X`, 'Content-Type: application/json', `Content-Length: ${text.length}`]
  return [...head, 'Connection: close', '', text].join('\r\n')
}

test('a refused key leads to instructions for a new one, and leaves no file', async () => {
  speech = () => refuse(401, 'invalid_api_key')
  const result = await speak('Hello.', '-o', path('h.mp3'))
  expect(result.code).toBe(1)
  expect(result.stderr).toContain('It says invalid_api_key. Create a key with: myna keys create')
  expect(readdirSync(folder).filter((name) => name.startsWith('h.'))).toEqual([])
})

test('a player gets the raw samples, and its failure is reported', async () => {
  const bin = mkdtempSync(join(folder, 'bin-'))
  const heard = path('heard.pcm')
  writeFileSync(join(bin, 'aplay'), `#!/bin/sh\necho "$@" > ${heard}.args\ncat > ${heard}\n`, { mode: 0o755 })
  let format: unknown
  speech = (request, body) => {
    format = body.response_format
    return whole(request, body)
  }
  operations = [operation]
  const played = await runCommand(['speak', 'Hello.', '--play'], { env: { ...env(), PATH: `${bin}:/usr/bin:/bin` } })
  expect(played).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('2.0 s of audio') })
  expect(format).toBe('pcm')
  expect(readFileSync(heard)).toEqual(Buffer.from(audio))
  expect(readFileSync(`${heard}.args`, 'utf8')).toContain('-f S16_LE -r 24000 -c 1')
  writeFileSync(join(bin, 'aplay'), '#!/bin/sh\ncat > /dev/null\necho "no card" >&2\nexit 3\n', { mode: 0o755 })
  const mute = await runCommand(['speak', 'Hello.', '--play'], { env: { ...env(), PATH: `${bin}:/usr/bin:/bin` } })
  expect(mute).toMatchObject({ code: 1, stderr: expect.stringContaining('aplay cannot play: no card') })
  const none = await runCommand(['speak', 'Hello.', '--play'], { env: { ...env(), PATH: mkdtempSync(path('empty-')) } })
  expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('No player was found') })
})

test('without a server the error says how to start one', async () => {
  const free = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => {} } })
  const { port } = free
  free.stop(true)
  const result = await runCommand(['speak', 'Hi.', '-o', path('i.mp3'), '--url', `http://127.0.0.1:${port}`])
  expect(result.code).toBe(1)
  expect(result.stderr).toContain('Start one with: myna serve')
})

test('Ctrl-C cancels on the server and keeps the received audio', async () => {
  const started = Promise.withResolvers<void>()
  speech = () =>
    stream(async (controller) => {
      started.resolve()
      await cancelled.promise
      controller.error(undefined)
    })
  operations = [{ ...operation, outcome: 'cancelled', charged_micros: 30, completion_bytes: null }]
  const command = startCommand(['speak', 'Hello.', '-o', path('j.mp3')], { env: env() })
  await started.promise
  await someOf('j.mp3')
  command.kill('SIGINT')
  const result = await finished(command)
  expect(result.code).toBe(130)
  expect(result.stderr).toBe(
    `myna: Stopped. Charged: $0.00003 (op_1). The part that arrived is in ${path('j.mp3.part')}.\n`,
  )
})

test('impossible requests are refused before the server is asked', async () => {
  for (const args of [
    ['Hello.', '-o', path('x.docx')],
    ['Hello.', '--format', 'midi'],
    ['Hello.', '--speed', '5'],
    [' '],
    [],
  ]) {
    const result = await speak(...args)
    expect([args, result.code]).toEqual([args, 2])
  }
  const nowhere = await speak('Hello.', '-o', path('no/such/folder.mp3'))
  expect(nowhere.code).toBe(1)
  expect(nowhere.stderr).toContain('Cannot write')
  expect(seen).toEqual([])
})

test('captions are written beside the audio, with the times from the events', async () => {
  operations = [{ ...operation }]
  speech = (_, body) => {
    expect(body).toMatchObject({ stream_format: 'sse', timestamps: ['word'] })
    const word = (text: string, start: number, at: number) => ({
      word: text,
      start,
      end: start + 0.4,
      text_start: at,
      text_end: at + text.length,
    })
    const events = [
      { type: 'speech.audio.delta', audio: Buffer.from(audio.slice(0, 100)).toString('base64') },
      { type: 'speech.audio.timestamps', words: [word('Good', 0.1, 0), word('night', 0.5, 5)], estimated: true },
      { type: 'speech.audio.delta', audio: Buffer.from(audio.slice(100, 300)).toString('base64') },
      { type: 'speech.audio.timestamps', words: [word('Bye', 1.5, 12)], estimated: true },
      { type: 'speech.audio.done' },
    ]
    const lines = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
    const text = `: keepalive\n\n${lines}data: [DONE]\n\n`
    return new Response(text, { headers: { 'X-Request-Id': 'op_1', 'Content-Type': 'text/event-stream' } })
  }
  const result = await speak('Good night. Bye!', '-o', path('c.mp3'), '--captions', path('c.srt'))
  expect([result.code, result.stderr]).toEqual([0, expect.stringContaining('the captions are estimates')])
  expect(Array.from(readFileSync(path('c.mp3')))).toEqual(Array.from(audio.slice(0, 300)))
  expect(readFileSync(path('c.srt'), 'utf8')).toBe(
    '1\n00:00:00,100 --> 00:00:00,900\nGood night.\n\n2\n00:00:01,500 --> 00:00:01,900\nBye!\n',
  )
  seen = []
  expect((await speak('Hello.', '-o', path('d.mp3'), '--captions', path('d.txt'))).stderr).toContain('.srt or .vtt')
  expect((await speak('Hello.', '-o', path('d.mp3'), '--captions', path('no/d.srt'))).stderr).toContain('no folder')
  expect(seen).toEqual([])
})
