/** Uploads as HTTP and MIME allow them, byte by byte: what libraries and old programs send and no `fetch` would. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Instance } from '../../testing/instance.ts'
import { recording, said, startListening, uploadsOf } from './transcription.fixture.ts'

let instance: Instance
let key: string
beforeAll(async () => {
  instance = await startListening()
  key = await instance.key()
})
afterAll(() => instance[Symbol.asyncDispose]())

const part = (headers: string, content: string | Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`--b\r\nContent-Disposition: form-data; ${headers}\r\n\r\n`), Buffer.from(content), crlf])
const crlf = Buffer.from('\r\n')
const file = part('name="file"; filename="talk.wav"', recording)
const ended = (...parts: Buffer[]): Buffer => Buffer.concat([...parts, Buffer.from('--b--\r\n')])
const form = ended(file, part('name="model"', 'whisper-1'))

function chunked(body: Buffer, size: number): Buffer {
  const chunks: Buffer[] = []
  for (let at = 0; at < body.length; at += size) {
    const chunk = body.subarray(at, at + size)
    chunks.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, crlf)
  }
  return Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')])
}

interface Sent {
  version?: string
  type?: string
  headers?: string
  body: Buffer
}

/** @returns everything that came back until the server closed */
async function send({ version = '1.1', type = 'multipart/form-data; boundary=b', headers, body }: Sent) {
  const length = headers ?? `Content-Length: ${body.length}\r\n`
  const head =
    `POST /v1/audio/transcriptions HTTP/${version}\r\nHost: x\r\nConnection: close\r\n` +
    `Authorization: Bearer ${key}\r\nContent-Type: ${type}\r\n${length}\r\n`
  let unsent = Buffer.concat([Buffer.from(head), body])
  const received: Buffer[] = []
  const closed = Promise.withResolvers<void>()
  const write = (socket: { write(bytes: Uint8Array): number }) => {
    unsent = unsent.subarray(socket.write(unsent))
  }
  await Bun.connect({
    hostname: '127.0.0.1',
    port: Number(new URL(instance.url).port),
    socket: {
      open: write,
      drain: write,
      data: (_, bytes) => void received.push(Buffer.from(bytes)),
      close: () => closed.resolve(),
      error: (_, error) => closed.reject(error),
    },
  })
  await closed.promise
  return Buffer.concat(received).toString('latin1')
}

test.each<[string, Sent]>([
  ['with its length', { body: form }],
  ['by HTTP/1.0', { version: '1.0', body: form }],
  ['in chunks, without a length', { headers: 'Transfer-Encoding: chunked\r\n', body: chunked(form, 7001) }],
  ['that waits to be asked on', { headers: `Content-Length: ${form.length}\r\nExpect: 100-continue\r\n`, body: form }],
  ['with a quoted boundary', { type: 'multipart/form-data; charset=utf-8; boundary="b"', body: form }],
  ['in capitals', { type: 'Multipart/Form-Data; Boundary=b', body: form }],
  ['with a preamble', { body: Buffer.concat([Buffer.from('This is a form.\r\n'), form]) }],
  ['without the last line break', { body: form.subarray(0, -2) }],
  ['with names that are not quoted', { body: ended(part('name=file; filename=talk.wav', recording)) }],
  ['with a name in UTF-8', { body: ended(part(`name="file"; filename*=UTF-8''t%C3%A4lk.wav`, recording)) }],
])('%s', async (_, sent) => {
  const answer = await send(sent)
  expect(answer).toContain('HTTP/1.1 200 OK')
  expect(answer).toContain(`"text":"${said}"`)
  expect(uploadsOf(instance)).toEqual([])
})

test.each<[string, Sent]>([
  ['no boundary', { type: 'multipart/form-data', body: form }],
  ['no end', { body: file }],
  ['nothing', { body: Buffer.alloc(0) }],
  ['compressed', { headers: 'Content-Encoding: gzip\r\nContent-Length: 4\r\n', body: Buffer.from('\x1f\x8b\x08\0') }],
])('refused: %s', async (_, sent) => {
  const answer = await send(sent)
  expect(answer).toStartWith('HTTP/1.1 400')
  expect(answer).toContain('"code":"invalid_form"')
  expect(uploadsOf(instance)).toEqual([])
})
