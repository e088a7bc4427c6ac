/** Bodies that drip: a slow uplink is waited for, and a client that only holds its connection is not. */
import { afterAll, beforeEach, expect, test } from 'bun:test'
import { MynaError } from '../domain/error.ts'
import { startInstance } from '../testing/instance.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { until } from '../testing/until.ts'
import { errorResponse } from './errors.ts'
import { PacedBody } from './paced-body.ts'

const clock = new ManualClock()
let readBytes = 0
beforeEach(() => (readBytes = 0))

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 0,
  async fetch(request) {
    const body = new PacedBody(request, clock)
    try {
      for (let piece = await body.read(); piece !== null; piece = await body.read()) readBytes += piece.length
      return new Response(`${readBytes} bytes`)
    } catch (error) {
      if (error instanceof MynaError) return errorResponse(error, 'req_x')
      throw error
    }
  },
})
afterAll(() => server.stop(true))

async function connectedTo(port: number) {
  let received = ''
  let isClosed = false
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data: (_, bytes) => void (received += bytes.toString()),
      close: () => void (isClosed = true),
      error: () => void (isClosed = true),
    },
  })
  return {
    write: (text: string) => void socket.write(text),
    leave: () => void socket.terminate(),
    received: () => received,
    isClosed: () => isClosed,
  }
}

/** A client that sends a body in chunks and says when the server has read them. */
async function beginning() {
  const client = await connectedTo(server.port!)
  client.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
  return {
    ...client,
    async send(bytes: number) {
      const before = readBytes
      client.write(`${bytes.toString(16)}\r\n${'a'.repeat(bytes)}\r\n`)
      await until(`${bytes} more bytes are read`, () => readBytes === before + bytes)
    },
    drip: () => client.write('1\r\na\r\n'),
    end: () => client.write('0\r\n\r\n'),
    answer: async () => {
      const received = () => client.received()
      await until('an answer', () => received().includes('\r\n\r\n') && !received().endsWith('\r\n\r\n'))
      return received()
    },
  }
}

const aMinute = 60_000
const leastBytes = 131_072

test('a body that takes many minutes at a steady pace is read', async () => {
  const client = await beginning()
  for (let minute = 0; minute < 5; minute++) {
    for (const half of [leastBytes / 2, leastBytes / 2]) {
      await client.send(half)
      clock.advance(aMinute / 2)
    }
  }
  await client.send(1)
  client.end()
  expect(await client.answer()).toEndWith(`${5 * leastBytes + 1} bytes`)
  expect(clock.waiting).toBe(0)
  client.leave()
})

test.each([
  ['that stops', 0, 'The request body stopped arriving.'],
  ['that drips', leastBytes - 1, 'The request body arrived too slowly: less than 131072 bytes in a minute.'],
])('a body %s gets a 408, and its connection is closed', async (_, bytes, words) => {
  const client = await beginning()
  await client.send(leastBytes)
  clock.advance(aMinute)
  if (bytes > 0) await client.send(bytes)
  clock.advance(aMinute)
  const answer = await client.answer()
  expect(answer).toStartWith('HTTP/1.1 408 ')
  expect(JSON.parse(answer.slice(answer.indexOf('{')))).toMatchObject({
    error: { code: 'request_timeout', message: words },
  })
  await until('the connection is closed', () => {
    client.drip()
    return client.isClosed()
  })
  expect(clock.waiting).toBe(0)
})

test('a client that leaves ends the wait', async () => {
  const client = await beginning()
  await client.send(10)
  client.leave()
  await until('nothing waits any more', () => clock.waiting === 0)
})

test.each(['/v1/audio/transcriptions', '/v1/voices'])('an upload to %s that drips, with a key', async (path) => {
  const timer = new ManualClock()
  await using instance = await startInstance({}, { timer })
  const before = timer.waiting
  const client = await connectedTo(Number(new URL(instance.url).port))
  client.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${await instance.key()}\r\n` +
      'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 500000\r\n\r\n--b',
  )
  await until('the body is waited for', () => timer.waiting > before)
  await until('the connection is closed', () => {
    client.write('a')
    timer.advance(aMinute / 2)
    return client.isClosed()
  })
  expect(client.received()).toStartWith('HTTP/1.1 408 ')
  expect(client.received()).toContain('"request_timeout"')
})
