/**
 * Many small requests over a few open connections, one at a time on each. It uses raw sockets, because a whole HTTP
 * client would use as much of a small machine as the server that it measures.
 */

export interface Connections {
  kind: 'connections'
  /** Without `/v1`. */
  url: string
  path: string
  key: string
  connections: number
  seconds: number
  /** From an answer to the next request on a connection. */
  pauseMs: number
}

export interface ConnectionsResult {
  answers: number
  failures: number
  wallMs: number
  latencyMs: number[]
}

/** The number of latencies to keep: enough for a percentile. */
const keptMax = 200_000

export async function hammer({
  url,
  path,
  key,
  connections,
  seconds,
  pauseMs,
}: Connections): Promise<ConnectionsResult> {
  const { hostname, port } = new URL(url)
  const request = `GET ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${key}\r\n\r\n`
  const result: ConnectionsResult = { answers: 0, failures: 0, wallMs: 0, latencyMs: [] }
  const beganMs = performance.now()
  const deadlineMs = beganMs + seconds * 1000
  const connection = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    let sentMs = 0
    let text = ''
    void Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        open(socket) {
          sentMs = performance.now()
          socket.write(request)
        },
        data(socket, bytes) {
          text += bytes.toString('latin1')
          const answer = wholeAnswer(text)
          if (answer === null) return
          text = ''
          const nowMs = performance.now()
          if (answer.status === 200) result.answers++
          else result.failures++
          if (result.latencyMs.length < keptMax) result.latencyMs.push(nowMs - sentMs)
          if (nowMs >= deadlineMs) return void socket.end()
          const again = () => {
            sentMs = performance.now()
            socket.write(request)
          }
          if (pauseMs > 0) setTimeout(again, pauseMs)
          else again()
        },
        close: () => resolve(),
        error: () => {
          result.failures++
          resolve()
        },
      },
    })
    return promise
  }
  await Promise.all(Array.from({ length: connections }, connection))
  return { ...result, wallMs: performance.now() - beganMs }
}

/** @returns null while a part of it is still missing */
function wholeAnswer(text: string): { status: number } | null {
  const head = text.indexOf('\r\n\r\n')
  if (head < 0) return null
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? NaN)
  if (Number.isNaN(length)) throw new Error('an answer without a length')
  return text.length >= head + 4 + length ? { status: Number(text.slice(9, 12)) } : null
}
