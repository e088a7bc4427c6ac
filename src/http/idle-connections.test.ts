/**
 * Unused connections are closed, whatever was answered on them: a client that has vanished never closes its
 * own, and each one takes a descriptor and what was written to it.
 */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Instance, startInstance } from '../testing/instance.ts'
import { until } from '../testing/until.ts'
import { formOf } from './transcription/transcription.fixture.ts'

let instance: Instance
let key: string
beforeAll(async () => {
  instance = await startInstance({ idleConnectionS: 1, unreadMs: 300 })
  key = await instance.key()
})
afterAll(() => instance[Symbol.asyncDispose]())

async function connected(request: Uint8Array | string) {
  const closed = Promise.withResolvers<void>()
  let received = ''
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port: Number(new URL(instance.url).port),
    socket: {
      data: (_, bytes) => void (received += bytes.toString('latin1')),
      close: () => closed.resolve(),
      error: () => closed.resolve(),
    },
  })
  socket.write(request)
  return { socket, closed: closed.promise, text: () => received }
}

/** The bytes of a request with a key. */
async function requestOf(path: string, body: FormData | Record<string, unknown> | null): Promise<Uint8Array> {
  const sent = new Response(body === null || body instanceof FormData ? body : JSON.stringify(body))
  const type = sent.headers.get('content-type') ?? 'application/json'
  const bytes = await sent.bytes()
  const head =
    `${body === null ? 'GET' : 'POST'} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
    `Content-Type: ${type}\r\nContent-Length: ${bytes.length}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), bytes])
}

const words = { input: 'hello there', voice: 'alloy', response_format: 'pcm' }
const cases: [string, string, () => FormData | Record<string, unknown> | null][] = [
  ['an answer at once', '/v1/models', () => null],
  ['a preview', '/v1/voices/wren/preview', () => null],
  ['speech', '/v1/audio/speech', () => words],
  ['speech in events', '/v1/audio/speech', () => ({ ...words, stream_format: 'sse' })],
  ['speech with captions', '/dev/captioned_speech', () => ({ ...words, stream: false })],
  ['a transcript', '/v1/audio/transcriptions', () => formOf()],
  ['a transcript in events', '/v1/audio/transcriptions', () => formOf({ stream: 'true' })],
  ['a clone', '/v1/voices', () => formOf()],
  ['a refused clone', '/v1/voices', () => new FormData()],
]
test.concurrent.each(cases)(
  'after %s',
  async (_, path, body) => {
    const client = await connected(await requestOf(path, body()))
    await client.closed
    expect(client.text()).toMatch(/^HTTP\/1\.1 (200|201|422) /)
  },
  30_000,
)

const dripping: [string, string, string][] = [
  ['a body that the route does not read', 'POST /v1/operations/op_x/cancel', '404'],
  ['a body where none belongs', 'GET /v1/me', '200'],
  ['a body that is too large', 'POST /v1/audio/speech', '413'],
]
test.concurrent.each(dripping)(
  'a caller with a key cannot hold a connection by dripping %s',
  async (_, line, status) => {
    const head = `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n`
    const client = await connected(`${head}Content-Length: 99999999\r\n\r\n{`)
    let isClosed = false
    void client.closed.then(() => (isClosed = true))
    await until(
      'the connection is closed',
      () => {
        client.socket.write(' ')
        return isClosed
      },
      30_000,
    )
    expect(client.text().split(' ')[1]).toBe(status)
  },
  60_000,
)

/** Whether the server still has it, by the table of the system. */
function isOpen(clientPort: number): boolean {
  const port = (number: number) => `:${number.toString(16).toUpperCase().padStart(4, '0')} `
  const server = Number(new URL(instance.url).port)
  const established = '01 '
  return ['tcp', 'tcp6']
    .flatMap((table) => readFileSync(`/proc/net/${table}`, 'utf8').split('\n'))
    .some((line) => line.includes(`${port(server)}`) && line.includes(`${port(clientPort)}${established}`))
}

test('after a stream that its client no longer reads, with what is left of it', async () => {
  instance.engine.plan = () => ({ frames: 20_000, samplesPerFrame: 24_000 })
  const client = await connected(await requestOf('/v1/audio/speech', words))
  await until('it is answered', () => client.text().includes('\r\n\r\n'))
  client.socket.pause()
  expect(isOpen(client.socket.localPort)).toBe(true)
  await until('the server has closed it', () => !isOpen(client.socket.localPort), 30_000)
  client.socket.terminate()
}, 60_000)
