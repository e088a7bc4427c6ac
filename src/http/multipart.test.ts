/** Forms as clients really send them, over HTTP: whole, in chunks, cut, stalled, wrong, too large. */
import { afterAll, afterEach, expect, test } from 'bun:test'
import { createReadStream, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI, { toFile } from 'openai'
import { MynaError } from '../domain/error.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { Seeded } from '../testing/seeded.ts'
import { until } from '../testing/until.ts'
import { errorResponse } from './errors.ts'
import { type Form, withForm } from './multipart.ts'

const dir = mkdtempSync(join(tmpdir(), 'multipart-'))
const clock = new ManualClock()
const maxFileBytes = 10 * 1024 * 1024
const fileFields = new Set(['file', 'files', 'audio_sample'])
let seen: { form: Form; content: Uint8Array | null } | null = null
let failure: unknown = null

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  maxRequestBodySize: 1e12,
  async fetch(request) {
    try {
      return await withForm(request, { maxFileBytes, fileFields, timer: clock, dir }, (form) => {
        seen = { form, content: form.file === null ? null : readFileSync(form.file.path) }
        return Response.json({ text: 'ok', data: [] })
      })
    } catch (error) {
      failure = error
      return error instanceof MynaError ? errorResponse(error, 'req_x') : new Response(String(error), { status: 500 })
    }
  },
})
afterAll(() => {
  server.stop(true)
  rmSync(dir, { recursive: true })
})
afterEach(() => {
  seen = null
  failure = null
  expect(readdirSync(dir)).toEqual([])
})

const audio = new Seeded(7).fill(new Uint8Array(300_000)) as Uint8Array<ArrayBuffer>
const hash = new Bun.CryptoHasher('sha256').update(audio).digest('hex')
const post = (body: Bun.BodyInit, headers: Record<string, string> = {}) =>
  fetch(server.url, { method: 'POST', body, headers })
const formOf = (...entries: [string, string | Blob, string?][]): FormData => {
  const form = new FormData()
  for (const [name, value, fileName] of entries) {
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, value, fileName)
  }
  return form
}
const codeOf = async (response: Response): Promise<[number, string]> => [
  response.status,
  ((await response.json()) as { error: { code: string } }).error.code,
]
const boundary = { 'content-type': 'multipart/form-data; boundary=b' }
const filePart = (name = 'file') =>
  `--b\r\nContent-Disposition: form-data; name="${name}"; filename="a.wav"\r\nContent-Type: audio/wav\r\n\r\n`

test('accepts a file among fields, before and after it', async () => {
  const form = formOf(
    ['name', 'Ada'],
    ['labels[accent]', 'welsh'],
    ['tags[]', 'a'],
    ['file', new Blob([audio], { type: 'audio/wav' }), 'clip.wav'],
    ['tags[]', 'b'],
    ['labels[__proto__]', 'x'],
    ['name', 'Bea'],
    ['Bad Name', 'ignored'],
  )
  expect((await post(form)).status).toBe(200)
  const { fields, file, fileCount } = seen!.form
  expect(fileCount).toBe(1)
  expect(file).toMatchObject({ bytes: audio.length, hash, fileName: 'clip.wav', declaredType: 'audio/wav' })
  expect(Buffer.from(seen!.content!).equals(audio)).toBe(true)
  expect(fields.name).toEqual(['Ada', 'Bea'])
  expect(fields.tags).toEqual(['a', 'b'])
  expect(Object.entries(fields.labels as object)).toEqual([
    ['accent', 'welsh'],
    ['__proto__', 'x'],
  ])
})

test('a second file is counted, a file under another name is not', async () => {
  const clip = new Blob([audio])
  await post(formOf(['other', clip, 'o'], ['files[]', clip, '1'], ['file', new Blob(['zz']), '2'], ['x', '1']))
  expect([seen!.form.fileCount, seen!.form.file!.hash, seen!.form.fields.x]).toEqual([2, hash, '1'])
  await post(formOf(['other', clip, 'o'], ['x', '1']))
  expect([seen!.form.fileCount, seen!.form.file]).toEqual([0, null])
})

test.each([
  ['../../etc/passwd', 'passwd'],
  ['a%20b%2Fc.wav', 'c.wav'],
  ['100%.wav', '100%.wav'],
  ['C:\\Users\\me\\clip.wav', 'clip.wav'],
  ['a\u202e\u0007b.wav', 'ab.wav'],
  ['ü'.repeat(300), 'ü'.repeat(255)],
])('the name %p is shown as %p', async (given, shown) => {
  await post(formOf(['file', new Blob(['x']), given]))
  expect(seen!.form.file!.fileName).toBe(shown)
})

test('the official client, with everything that it accepts as a file', async () => {
  const path = join(dir, 'from-disk.wav')
  await Bun.write(path, audio)
  const client = new OpenAI({ apiKey: 'x', baseURL: server.url.href, maxRetries: 0 })
  for (const file of [createReadStream(path), await toFile(audio, 'from-disk.wav'), Bun.file(path)]) {
    await client.audio.transcriptions.create({ file, model: 'whisper-1' })
    expect(seen!.form.file).toMatchObject({ hash, fileName: 'from-disk.wav' })
    expect(seen!.form.fields.model).toBe('whisper-1')
  }
  rmSync(path)
})

test.each<[string, Bun.BodyInit, Record<string, string>, number, string]>([
  ['no multipart', '{}', { 'content-type': 'application/json' }, 415, 'unsupported_media_type'],
  ['no boundary', 'x', { 'content-type': 'multipart/form-data' }, 422, 'validation_error'],
  ['another boundary', '--c\r\n\r\n--c--', boundary, 422, 'validation_error'],
  ['no body', '', boundary, 422, 'validation_error'],
  ['a form cut in its file', `${filePart()}abc`, boundary, 422, 'validation_error'],
  ['a form cut in its headers', '--b\r\nContent-Disp', boundary, 422, 'validation_error'],
])('%s', async (_, body, headers, status, code) => {
  expect(await codeOf(await post(body, headers))).toEqual([status, code])
})

test('fields have their limits', async () => {
  expect(await codeOf(await post(formOf(['name', 'x'.repeat(65_537)])))).toEqual([422, 'validation_error'])
  const many = formOf(...Array.from({ length: 51 }, (_, i): [string, string] => [`f_${i}`, 'x']))
  expect(await codeOf(await post(many))).toEqual([422, 'validation_error'])
})

/** Sends without a length until it is answered. */
async function upload(bytes: number): Promise<{ response: Response; sent: number }> {
  let sent = 0
  const chunk = new Uint8Array(65_536)
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from(filePart())),
    async pull(controller) {
      if (sent >= bytes || failure !== null) {
        controller.enqueue(Buffer.from('\r\n--b--\r\n'))
        return controller.close()
      }
      const size = Math.min(chunk.length, bytes - sent)
      controller.enqueue(chunk.slice(0, size))
      sent += size
    },
  })
  return { response: await post(body, boundary), sent }
}

test('the file limit is exact to the byte without a Content-Length', async () => {
  expect((await upload(maxFileBytes)).response.status).toBe(200)
  const { response } = await upload(maxFileBytes + 1)
  expect(response.status).toBe(413)
  const { error } = (await response.json()) as { error: Record<string, unknown> }
  expect(error).toMatchObject({ code: 'request_too_large', param: 'file', max_bytes: maxFileBytes })
})

test('200 MB in chunks are refused at once, with flat memory', async () => {
  const before = process.memoryUsage.rss()
  const { response, sent } = await upload(200e6)
  expect(response.status).toBe(413)
  expect(sent).toBeLessThan(60e6)
  expect(process.memoryUsage.rss() - before).toBeLessThan(100e6)
})

test('200 MB with a Content-Length are refused before they are sent', async () => {
  const socket = connect(server.port!, '127.0.0.1')
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n')
  socket.write('Content-Length: 200000000\r\n\r\n')
  const answer = await new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString())))
  expect(answer).toStartWith('HTTP/1.1 413')
  socket.destroy()
})

/** Begins a form and leaves it unfinished. */
async function begin() {
  const socket = connect(server.port!, '127.0.0.1')
  socket.on('error', () => {})
  const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${boundary['content-type']}\r\nContent-Length: 9000\r\n\r\n`
  socket.write(`${head}${filePart()}abc`)
  await until('the file has begun', () => readdirSync(dir).length === 1)
  return socket
}

test('a client that disconnects leaves no file behind', async () => {
  const socket = await begin()
  socket.destroy()
  await until('it is noticed', () => failure !== null)
  expect(failure).toBeInstanceOf(MynaError)
})

test('a stalled client gets an error', async () => {
  const socket = await begin()
  const answer = new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString())))
  await until('the server waits', () => clock.waiting > 0)
  clock.advance(60_001)
  expect(await answer).toStartWith('HTTP/1.1 408')
  socket.destroy()
})

test('the file is deleted when its use fails', async () => {
  const request = new Request('http://x', { method: 'POST', body: formOf(['file', new Blob([audio]), 'a']) })
  const error = new Error('of the service')
  const use = () => Promise.reject(error)
  const options = { maxFileBytes, fileFields, timer: clock, dir }
  expect(await withForm(request, options, use).catch((reason: unknown) => reason)).toBe(error)
})
