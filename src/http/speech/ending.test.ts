import { describe, expect, test } from 'bun:test'
import { type Instance, startInstance } from '../../testing/instance.ts'
import { until } from '../../testing/until.ts'

const codeOf = async (response: Response) => ((await response.json()) as { error: { code: string } }).error.code
const record = async (instance: Instance, key: string, id: string | null) =>
  (await (await instance.fetch(`/v1/operations/${id}`, { key })).json()) as Record<string, unknown>

/** Asks until the operation is terminal, as a client does after losing its stream. */
async function settled(instance: Instance, key: string, id: string | null): Promise<Record<string, unknown>> {
  for (;;) {
    const found = await record(instance, key, id)
    if (found.state === 'terminal') return found
    instance.clock.advance(100)
  }
}

/** A client that sees every byte, so that a missing end of the chunked body cannot hide. */
async function rawSpeech(instance: Instance, key: string, body: Record<string, unknown> = {}) {
  const text = JSON.stringify({ input: 'hello there', response_format: 'pcm', ...body })
  const received: Buffer[] = []
  const closed = Promise.withResolvers<void>()
  let arrived = Promise.withResolvers<void>()
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port: Number(new URL(instance.url).port),
    socket: {
      data(_, chunk) {
        received.push(Buffer.from(chunk))
        arrived.resolve()
        arrived = Promise.withResolvers()
      },
      close: () => closed.resolve(),
      error: () => closed.resolve(),
    },
  })
  socket.write(
    `POST /v1/audio/speech HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  )
  const all = () => Buffer.concat(received).toString('latin1')
  const seen = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const match = pattern.exec(all())
      if (match) return match[1] ?? match[0]
      await Promise.race([
        arrived.promise,
        closed.promise.then(() => Promise.reject(new Error('closed before it came'))),
      ])
    }
  }
  return { socket, closed: closed.promise, text: all, seen }
}

describe('our own failure', () => {
  test('before the first audio is a 500 with the operation, costs nothing and frees the key', async () => {
    await using instance = await startInstance()
    const key = await instance.key({ prepaidMicros: 1000 })
    instance.engine.plan = () => ({ failAt: 0 })
    const response = await instance.speak(key, {}, { 'idempotency-key': 'k' })
    expect([response.status, await codeOf(response)]).toEqual([500, 'generation_failed'])
    const id = response.headers.get('x-request-id')
    expect(id).toMatch(/^op_/)
    expect(await record(instance, key, id)).toMatchObject({ outcome: 'failed', charged_micros: 0 })
    instance.engine.plan = () => ({})
    expect((await instance.speak(key, {}, { 'idempotency-key': 'k' })).status).toBe(200)
  })

  test.each(['pcm', 'mp3', 'wav', 'flac', 'opus', 'aac'])(
    'after it aborts the %s stream and costs nothing',
    async (format) => {
      await using instance = await startInstance()
      const key = await instance.key()
      const gate = Promise.withResolvers<void>()
      instance.engine.plan = () => ({
        frames: 8,
        failAt: 6,
        before: (frame) => (frame === 6 ? gate.promise : undefined),
      })
      const raw = await rawSpeech(instance, key, { response_format: format })
      const id = await raw.seen(/x-request-id: (op_\w+)/i)
      gate.resolve()
      await raw.closed
      expect(raw.text()).toStartWith('HTTP/1.1 200')
      expect(raw.text()).not.toEndWith('0\r\n\r\n')
      const ended = await record(instance, key, id)
      expect(ended).toMatchObject({ outcome: 'stream_failed', charged_micros: 0, error: { code: 'generation_failed' } })
      expect(ended).not.toHaveProperty('completion_bytes')
    },
  )

  test('a complete stream does end with the last chunk', async () => {
    await using instance = await startInstance()
    const raw = await rawSpeech(instance, await instance.key())
    await raw.seen(/\r\n0\r\n\r\n$/)
    raw.socket.terminate()
  })

  test('in an event stream is an error event before the connection closes', async () => {
    await using instance = await startInstance()
    const key = await instance.key()
    const gate = Promise.withResolvers<void>()
    instance.engine.plan = () => ({ failAt: 3, before: (frame) => (frame === 3 ? gate.promise : undefined) })
    const raw = await rawSpeech(instance, key, { stream_format: 'sse' })
    const id = await raw.seen(/x-request-id: (op_\w+)/i)
    gate.resolve()
    await raw.closed
    const event = /data: (\{"type":"error".*\})/.exec(raw.text())?.[1] ?? '{}'
    expect(JSON.parse(event)).toMatchObject({ error: { code: 'generation_failed', operation_id: id } })
    expect(raw.text()).not.toContain('[DONE]')
    expect(raw.text()).not.toEndWith('0\r\n\r\n')
  })
})

describe('a client that disconnects', () => {
  test('half way pays for what it took, keeps its key, and stops the work', async () => {
    await using instance = await startInstance()
    const key = await instance.key({ prepaidMicros: 1000 })
    const gate = Promise.withResolvers<void>()
    instance.engine.plan = () => ({ before: (frame) => (frame === 2 ? gate.promise : undefined) })
    const response = await instance.speak(key, {}, { 'idempotency-key': 'k' })
    const reader = response.body!.getReader()
    for (let bytes = 0; bytes < 2 * 4800;) bytes += (await reader.read()).value?.length ?? 0
    await reader.cancel()
    const ended = await settled(instance, key, response.headers.get('x-request-id'))
    expect(ended).toMatchObject({ outcome: 'stream_failed', error: { code: 'client_disconnected' } })
    expect(ended.charged_micros).toBe(90)
    expect([instance.engine.aborted, instance.engine.active]).toEqual([1, 0])
    const again = await instance.speak(key, {}, { 'idempotency-key': 'k' })
    expect([again.status, await codeOf(again)]).toEqual([409, 'duplicate_request'])
    gate.resolve()
  })

  test('before the first audio pays nothing', async () => {
    await using instance = await startInstance()
    const key = await instance.key()
    const started = Promise.withResolvers<void>()
    instance.engine.plan = () => ({
      before: () => {
        started.resolve()
        return new Promise(() => {})
      },
    })
    const raw = await rawSpeech(instance, key)
    await started.promise
    raw.socket.terminate()
    await raw.closed
    const usage = async () => (await instance.metrics()).match(/outcome="stream_failed"\} 1/) !== null
    while (!(await usage()));
    expect(instance.engine.active).toBe(0)
    const page = (await (await instance.fetch('/v1/usage', { key })).json()) as { totals: { charged_micros: number } }
    expect(page.totals.charged_micros).toBe(0)
  })

  test('that never reads is given up after a while, and its engine work is held back meanwhile', async () => {
    await using instance = await startInstance({ unreadMs: 300 })
    const key = await instance.key()
    let made = 0
    instance.engine.plan = () => ({ frames: 20_000, samplesPerFrame: 24_000, before: (frame) => void (made = frame) })
    const raw = await rawSpeech(instance, key, { response_format: 'pcm' })
    const id = await raw.seen(/x-request-id: (op_\w+)/i)
    raw.socket.pause()
    const ended = await settled(instance, key, id)
    expect(ended).toMatchObject({ outcome: 'stream_failed', error: { code: 'client_disconnected' } })
    // 48,000 bytes a frame: the kernel takes some megabytes, the rest is never made.
    expect(made).toBeLessThan(500)
    raw.socket.terminate()
  })
})

describe('cancel', () => {
  test('in mid-stream settles at once, charges what was taken and aborts the stream', async () => {
    await using instance = await startInstance()
    const key = await instance.key()
    instance.engine.plan = () => ({ before: (frame) => (frame === 2 ? new Promise(() => {}) : undefined) })
    const response = await instance.speak(key)
    const id = response.headers.get('x-request-id')
    const reader = response.body!.getReader()
    for (let bytes = 0; bytes < 2 * 4800;) bytes += (await reader.read()).value?.length ?? 0
    const cancel = () => instance.fetch(`/v1/operations/${id}/cancel`, { method: 'POST', key })
    expect(await (await cancel()).json()).toEqual({ ok: true })
    expect(await settled(instance, key, id)).toMatchObject({ outcome: 'cancelled', charged_micros: 90 })
    expect(reader.read()).rejects.toThrow()
    expect(await (await cancel()).json()).toEqual({ ok: false })
    expect(instance.engine.active).toBe(0)
  })

  test('before the first audio answers the speech request itself', async () => {
    await using instance = await startInstance()
    const key = await instance.key({ prepaidMicros: 1000 })
    const started = Promise.withResolvers<void>()
    instance.engine.plan = () => ({
      before: () => {
        started.resolve()
        return new Promise(() => {})
      },
    })
    const answer = instance.speak(key, {}, { 'idempotency-key': 'k' })
    await started.promise
    const duplicate = await instance.speak(key, {}, { 'idempotency-key': 'k' })
    const { error } = (await duplicate.json()) as { error: { operation_id: string; state: string } }
    expect(error.state).toBe('pending')
    await instance.fetch(`/v1/operations/${error.operation_id}/cancel`, { method: 'POST', key })
    const response = await answer
    expect([response.status, await codeOf(response)]).toEqual([400, 'operation_cancelled'])
    expect(response.headers.get('x-should-retry')).toBe('false')
    expect(response.headers.get('x-request-id')).toBe(error.operation_id)
    const me = (await (await instance.fetch('/v1/me', { key })).json()) as { balance_micros: number }
    expect(me.balance_micros).toBe(1000)
  })
})

describe('capacity', () => {
  const stuck = (instance: Instance) => {
    const gate = Promise.withResolvers<void>()
    instance.engine.plan = () => ({ before: () => gate.promise })
    return () => {
      instance.engine.plan = () => ({})
      gate.resolve()
    }
  }

  test('a full queue is a 503 that leaves no trace; a free place serves the next', async () => {
    await using instance = await startInstance({ speechStreams: 1, speechQueue: 1 })
    const release = stuck(instance)
    const [one, two, three] = [await instance.key(), await instance.key(), await instance.key({ prepaidMicros: 1000 })]
    const answers = [instance.speak(one), instance.speak(two)]
    await until('one runs, one waits', async () => (await instance.server.status()).queue.waiting >= 1)
    const refused = await instance.speak(three, {}, { 'idempotency-key': 'k' })
    expect([refused.status, await codeOf(refused)]).toEqual([503, 'engine_overloaded'])
    expect(refused.headers.get('x-request-id')).toStartWith('req_')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(2)
    release()
    for (const answer of answers) expect((await answer).status).toBe(200)
    for (const answer of answers) await (await answer).arrayBuffer()
    expect((await instance.speak(three, {}, { 'idempotency-key': 'k' })).status).toBe(200)
  })

  test('too long in the queue is a 503 with a time to retry, without an operation', async () => {
    await using instance = await startInstance({ speechStreams: 1, queueWaitMs: 100 })
    const release = stuck(instance)
    const key = await instance.key({ prepaidMicros: 1000 })
    const first = instance.speak(await instance.key())
    await until('one runs', async () => (await instance.server.status()).queue.running >= 1)
    const refused = await instance.speak(key, {}, { 'idempotency-key': 'k' })
    expect([refused.status, await codeOf(refused)]).toEqual([503, 'engine_overloaded'])
    expect(refused.headers.get('x-request-id')).toStartWith('req_')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(2)
    expect((await instance.server.status()).pendingOperations).toBe(1)
    release()
    await (await first).arrayBuffer()
    expect((await instance.speak(key, {}, { 'idempotency-key': 'k' })).status).toBe(200)
  })

  test('one account cannot have more than its share at once', async () => {
    await using instance = await startInstance({ speechConcurrency: 2 })
    const release = stuck(instance)
    const [key, other] = [await instance.key(), await instance.key()]
    const answers = [instance.speak(key), instance.speak(key)]
    await until('two are pending', async () => (await instance.server.status()).pendingOperations >= 2)
    const refused = await instance.speak(key)
    expect([refused.status, await codeOf(refused)]).toEqual([429, 'concurrency_limit_exceeded'])
    answers.push(instance.speak(other))
    release()
    for (const answer of answers) await (await answer).arrayBuffer()
    expect((await instance.speak(key)).status).toBe(200)
  })
})

test('shutdown settles running work as our own fault, and refuses new requests', async () => {
  const instance = await startInstance({ drainMs: 50 })
  const key = await instance.key()
  instance.engine.plan = () => ({ before: (frame) => (frame === 2 ? new Promise(() => {}) : undefined) })
  const response = await instance.speak(key)
  const reader = response.body!.getReader()
  await reader.read()
  const stopping = instance.server.stop()
  const refused = await instance.speak(key)
  expect([refused.status, await codeOf(refused)]).toEqual([503, 'server_shutting_down'])
  expect((await instance.fetch('/readyz')).status).toBe(503)
  await stopping
  await using again = await startInstance({ dataDir: instance.dataDir })
  expect(again.server.settledCrashed).toBe(0)
  const ended = await record(again, key, response.headers.get('x-request-id'))
  expect(ended).toMatchObject({ outcome: 'stream_failed', charged_micros: 0, error: { code: 'server_shutting_down' } })
})
