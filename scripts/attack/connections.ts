/**
 * Connections that are opened and dropped: before the first byte, in the head, in a body, in an upload, and in an
 * answer.
 */
import type { Seeded } from '../../src/testing/seeded.ts'
import { sizeOf, startTarget, uploadsLeft } from './target.ts'

const atOnce = 50

/** @param endMs monotonic time of the last connection */
export async function connections(count: number, random: Seeded, endMs: number): Promise<string> {
  const target = await startTarget()
  const { url } = target.program
  const before = sizeOf(target.program)
  const bearer = `Authorization: Bearer ${target.key}\r\n`
  const upload = 'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 90000\r\n\r\n--b\r\n'
  const part = 'Content-Disposition: form-data; name="file"; filename="a"\r\n\r\nRIFF'
  const starts = [
    '',
    'GET /v1/mod',
    `POST /v1/audio/speech HTTP/1.1\r\nHost: a\r\n${bearer}Content-Length: 900\r\n\r\n{"input":`,
    `POST /v1/voices HTTP/1.1\r\nHost: a\r\n${bearer}${upload}${part}`,
    `GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n`,
  ]
  let [opened, failed] = [0, 0]
  try {
    for (; opened < count && performance.now() < endMs; opened += atOnce) {
      const some = Array.from({ length: atOnce }, () => dropped(url, random.pick(starts), random.whole(0, 20)))
      failed += (await Promise.allSettled(some)).filter(({ status }) => status === 'rejected').length
    }
    await Bun.sleep(15_000)
    const { status } = await target.program.fetch('/health')
    const after = sizeOf(target.program)
    const sizes = `RSS ${before.rssMb} -> ${after.rssMb} MB, descriptors ${before.descriptors} -> ${after.descriptors}`
    const left = `then /health ${status}, uploads left ${uploadsLeft(target)}`
    return `${opened} connections: ${failed} refused, ${left}; ${sizes}`
  } finally {
    await target.end()
  }
}

async function dropped(url: string, start: string, afterMs: number): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = await Bun.connect({ hostname, port: Number(port), socket: { data: () => {}, error: () => {} } })
  socket.write(start)
  await Bun.sleep(afterMs)
  socket.terminate()
}
