/**
 * An unauthenticated client cannot hold a connection open with a body that drips in, whether the body is read or not.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Instance, startInstance } from '../testing/instance.ts'
import { until } from '../testing/until.ts'

let instance: Instance
beforeAll(async () => (instance = await startInstance()))
afterAll(() => instance[Symbol.asyncDispose]())

/** Sends a large body byte by byte. @returns the status line and how long the server allowed it */
async function drip(head: string): Promise<{ status: string; openMs: number }> {
  const beganMs = performance.now()
  let isClosed = false
  let received = ''
  const { hostname, port } = new URL(instance.url)
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data: (_, bytes) => void (received += bytes.toString()),
      close: () => void (isClosed = true),
      error: () => void (isClosed = true),
    },
  })
  socket.write(`${head}\r\nHost: ${hostname}:${port}\r\nContent-Length: 16000\r\n\r\n{`)
  const dripped = () => {
    socket.write(' ')
    return isClosed
  }
  await until('the connection is closed', dripped, 60_000)
  return { status: received.split('\r\n')[0] ?? '', openMs: performance.now() - beganMs }
}

const cases: [string, () => string, string][] = [
  ['signing in', () => `POST /console/api/session HTTP/1.1\r\nOrigin: ${instance.url}`, '408'],
  ['no key', () => 'POST /v1/audio/speech HTTP/1.1', '401'],
  ['a wrong key', () => 'POST /v1/audio/speech HTTP/1.1\r\nAuthorization: Bearer x', '401'],
  ['no route', () => 'POST /nowhere HTTP/1.1', '404'],
  ['a body where none belongs', () => 'GET /health HTTP/1.1', '200'],
  ['an upload without a key', () => 'POST /v1/voices HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=b', '401'],
]
test.concurrent.each(cases)(
  '%s',
  async (_, head, status) => {
    const answer = await drip(head())
    expect(answer.status).toContain(status)
    // Ten seconds to read, ten after the answer, and the coarse clock of the sockets.
    expect(answer.openMs).toBeLessThan(55_000)
  },
  90_000,
)
