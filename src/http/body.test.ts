/** JSON bodies as clients send them: whole, in chunks, cut, stalled, too large, not JSON. */
import { afterAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { MynaError } from '../domain/error.ts'
import type { Timer } from '../domain/time.ts'
import { until } from '../testing/until.ts'
import { readJson } from './body.ts'

const maxJsonBytes = 100_000

/** Waits that the test ends. */
class HeldTimer implements Timer {
  readonly waits = new Set<() => void>()

  after(_ms: number, run: () => void): () => void {
    this.waits.add(run)
    return () => void this.waits.delete(run)
  }
  pass(): void {
    for (const run of this.waits) run()
  }
}

const timer = new HeldTimer()
const answers: string[] = []

const server = Bun.serve({
  port: 0,
  async fetch(request) {
    const answer = await readJson(request, { maxJsonBytes, timer }).then(
      (body) => `${Object.keys(body).join()} ${JSON.stringify(body).length}`,
      (error: unknown) => (error instanceof MynaError ? error.code : String(error)),
    )
    answers.push(answer)
    return new Response(answer)
  },
})
afterAll(() => server.stop(true))

const head = (headers: string) => `POST / HTTP/1.1\r\nHost: here\r\n${headers}\r\n\r\n`
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`

/** @returns the answer to these bytes; the client sends no more, but stays */
async function answerTo(bytes: string): Promise<string> {
  const socket = connect(server.port!, '127.0.0.1')
  let text = ''
  socket.on('data', (data) => (text += data.toString()))
  socket.write(bytes, 'latin1')
  await until('an answer', () => text.includes('\r\n\r\n') && !text.endsWith('\r\n\r\n'))
  socket.destroy()
  return text.slice(text.indexOf('\r\n\r\n') + 4)
}

const object = (size: number) => JSON.stringify({ input: 'a'.repeat(size - 12) })

const sent = {
  'a length': (text: string) => head(`Content-Length: ${text.length}`) + text,
  chunks: (text: string) => {
    const half = text.length >> 1
    const chunks = [text.slice(0, half), text.slice(half)].filter((part) => part !== '').map(chunk)
    return `${head('Transfer-Encoding: chunked')}${chunks.join('')}0\r\n\r\n`
  },
}

for (const [how, toBytes] of Object.entries(sent)) {
  test(`a body with ${how} is read, up to the limit`, async () => {
    for (const size of [20, 64 * 1024, 64 * 1024 + 1, maxJsonBytes]) {
      expect(await answerTo(toBytes(object(size)))).toBe(`input ${size}`)
    }
    expect(await answerTo(toBytes(object(maxJsonBytes + 1)))).toBe('request_too_large')
  })

  test(`a body with ${how} that is not a JSON object is refused`, async () => {
    for (const text of ['', '{', '[]', 'null', '"a"', '{"a":1} x', '\xff']) {
      expect([text, await answerTo(toBytes(text))]).toEqual([text, 'invalid_json'])
    }
  })
}

test('a body that stops arriving is refused', async () => {
  for (const bytes of [
    head('Content-Length: 20') + '{"input":',
    head(`Content-Length: ${90_000}`) + '{"input":',
    head('Transfer-Encoding: chunked') + chunk('{"input":'),
  ]) {
    const answer = answerTo(bytes)
    await until('the body is waited for', () => timer.waits.size > 0)
    timer.pass()
    expect(await answer).toBe('request_timeout')
    await until('nothing is waited for', () => timer.waits.size === 0)
  }
})

test('a client that leaves in the middle of its body ends the request', async () => {
  for (const bytes of [head('Content-Length: 20') + '{"input":', head('Transfer-Encoding: chunked') + chunk('{"in')]) {
    answers.length = 0
    const socket = connect(server.port!, '127.0.0.1')
    socket.write(bytes)
    await until('the body is waited for', () => timer.waits.size > 0)
    socket.destroy()
    await until('the request has ended', () => answers.length > 0)
    expect(answers).toEqual(['request_timeout'])
  }
})

test('a request without a body has no JSON', async () => {
  expect(await answerTo(head('X-Nothing: here'))).toBe('invalid_json')
})
