import { connect, type Socket } from 'node:net'
import { expect, test } from 'bun:test'
import { until } from '../testing/until.ts'
import { RealtimeClient } from './client.fixture.ts'
import { startListening } from '../http/transcription/transcription.fixture.ts'
import { Outbox } from './outbox.ts'

/** A small WebSocket client that reads only on demand (RFC 6455: no mask from the server). */
async function connectSlowly(url: string, key: string) {
  const { hostname, port } = new URL(url)
  const socket: Socket = connect({ host: hostname, port: Number(port) })
  let held = Buffer.alloc(0)
  const come: Buffer[] = []
  let wake = () => {}
  socket.on('data', (bytes: Buffer) => {
    come.push(bytes)
    wake()
  })
  socket.on('error', () => {})
  const more = async () => {
    while (come.length === 0) await new Promise<void>((resolve) => (wake = resolve))
    held = Buffer.concat([held, ...come.splice(0)])
  }
  const take = async (length: number): Promise<Buffer> => {
    while (held.length < length) await more()
    const taken = held.subarray(0, length)
    held = held.subarray(length)
    return taken
  }
  socket.write(
    `GET /v1/realtime?intent=transcription HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${key}\r\n` +
      'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n' +
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
  )
  while (!held.includes('\r\n\r\n')) await more()
  await take(held.indexOf('\r\n\r\n') + 4)
  return {
    socket,
    send(event: object) {
      const body = Buffer.from(JSON.stringify(event))
      const head = Buffer.alloc(8)
      head[0] = 0x81
      head[1] = 0x80 | 126
      head.writeUInt16BE(body.length, 2)
      // A mask of zeros changes nothing.
      socket.write(Buffer.concat([head, body]))
    },
    async frame(): Promise<{ opcode: number; payload: Buffer }> {
      const head = await take(2)
      const short = head[1]! & 0x7f
      const length =
        short === 126
          ? (await take(2)).readUInt16BE()
          : short === 127
            ? Number((await take(8)).readBigUInt64BE())
            : short
      return { opcode: head[0]! & 0x0f, payload: await take(length) }
    },
  }
}

const settings = (n: number) => ({
  type: 'session.update',
  session: { audio: { input: { noise_reduction: { n, filler: 'x'.repeat(30_000) } } } },
})

test('a client that reads late gets every event, in order', async () => {
  await using instance = await startListening()
  const client = await connectSlowly(instance.url, await instance.key())
  await client.frame()
  client.socket.pause()
  const count = 150
  for (let n = 0; n < count; n++) client.send(settings(n))
  // The server has answered all of them once it has answered a later request of another client.
  for (let round = 0; round < 20; round++) await instance.fetch('/health')
  client.socket.resume()
  const numbers: number[] = []
  while (numbers.length < count) {
    const { payload } = await client.frame()
    const event = JSON.parse(payload.toString()) as {
      session: { audio: { input: { noise_reduction: { n: number } } } }
    }
    numbers.push(event.session.audio.input.noise_reduction.n)
  }
  expect(numbers).toEqual(Array.from({ length: count }, (_, n) => n))
  client.socket.destroy()
})

test('a client that never reads is disconnected, and its memory is freed', async () => {
  await using instance = await startListening({ realtimeSessions: 1 })
  const key = await instance.key()
  const client = await connectSlowly(instance.url, key)
  await client.frame()
  client.socket.pause()
  for (let n = 0; n < 600; n++) client.send(settings(n))
  // The account can use its only place again.
  await until('the session is over', async () => {
    const other = await RealtimeClient.connect(instance.url, { key }).catch(() => null)
    other?.socket.close()
    return other !== null
  })
  client.socket.resume()
  let last = await client.frame()
  while (last.opcode !== 8) last = await client.frame()
  expect(last.payload.readUInt16BE()).toBe(1008)
  client.socket.destroy()
})

test('a full socket is given nothing, and dropped messages are sent again', () => {
  const sent: string[] = []
  const answers = [2, -1, 0, 2, 2]
  const outbox = new Outbox({
    send(text) {
      const answer = answers.shift() ?? 1
      if (answer !== 0) sent.push(text)
      return answer
    },
    close: () => {},
  })
  for (const text of ['a', 'b', 'c', 'd']) outbox.send(text)
  expect(sent).toEqual(['a', 'b'])
  outbox.drained()
  expect(sent).toEqual(['a', 'b'])
  outbox.drained()
  expect(sent).toEqual(['a', 'b', 'c', 'd'])
})
