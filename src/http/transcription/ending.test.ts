/** How a transcription ends that is not simply read to its end, and that it leaves only its usage behind. */
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { MynaError } from '../../domain/error.ts'
import { type Instance, startInstance } from '../../testing/instance.ts'
import { until } from '../../testing/until.ts'
import {
  errorOf,
  formOf,
  recordingOf,
  startListening,
  transcribe,
  uploadsOf,
  usageOf,
} from './transcription.fixture.ts'

const long = recordingOf(...Array.from({ length: 60 }, () => 9))
const longFile = () => new File([long], 'long.wav')

/** Holds every transcription at this part, from then on. */
function holdAt(instance: Instance, held: number) {
  const reached = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  let count = 0
  instance.transcriber.plan = () => ({
    before: (part) => {
      if (part !== held) return
      count++
      reached.resolve()
      return gate.promise
    },
  })
  const release = () => {
    instance.transcriber.plan = () => ({})
    gate.resolve()
  }
  return { reached: reached.promise, release, count: () => count }
}

/** A client that sends the given bytes one by one, and may disconnect at any moment. */
async function rawClient(instance: Instance, key: string) {
  const received: Buffer[] = []
  const closed = Promise.withResolvers<void>()
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port: Number(new URL(instance.url).port),
    socket: {
      data: (_, chunk) => void received.push(Buffer.from(chunk)),
      close: () => closed.resolve(),
      error: () => closed.resolve(),
    },
  })
  const head = (length: string) =>
    `POST /v1/audio/transcriptions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
    `Content-Type: multipart/form-data; boundary=b\r\n${length}\r\n\r\n`
  const part = (name: string, value: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const file = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'
  return { socket, closed: closed.promise, text: () => Buffer.concat(received).toString('latin1'), head, part, file }
}

/** Nothing of it remains: no thread, no engine work, no upload. */
const allOver = (instance: Instance) =>
  until('everything has ended', () => {
    const { transcriber, streamDecoder } = instance
    return transcriber.active === 0 && streamDecoder.files === 0 && uploadsOf(instance).length === 0
  })

const metricsOf = async (instance: Instance): Promise<string> => instance.metrics()

describe('a client that disconnects', () => {
  test('during its upload leaves no file', async () => {
    await using instance = await startListening()
    const client = await rawClient(instance, await instance.key())
    client.socket.write(client.head(`Content-Length: ${long.length + 500}`) + client.file)
    client.socket.write(long.subarray(0, 100_000))
    await until('the upload has begun', () => uploadsOf(instance).length === 1)
    client.socket.terminate()
    await allOver(instance)
    expect(instance.transcriber.orders).toEqual([])
  })

  test.each([
    ['before the first part', 0, {}],
    ['while its answer is made', 5, {}],
    ['before the first event', 0, { stream: 'true' }],
    ['in the middle of its events', 5, { stream: 'true' }],
  ])('%s frees engine and decoder, and the transcribed part is counted', async (_, held, fields) => {
    await using instance = await startListening()
    const key = await instance.key()
    const { reached } = holdAt(instance, held)
    const leaving = new AbortController()
    const init = { method: 'POST', key, body: formOf({ file: longFile(), ...fields }), signal: leaving.signal }
    const answer = instance.fetch('/v1/audio/transcriptions', init)
    const reading = answer.then((response) => response.text()).catch((error: Error) => error.name)
    await reached
    expect([instance.transcriber.active, uploadsOf(instance).length]).toEqual([1, held === 0 ? 1 : 0])
    leaving.abort()
    expect(await reading).toBe('AbortError')
    await allOver(instance)
    expect(instance.transcriber.aborted).toBe(1)
    // Not the minute: only the transcribed part, and a few seconds ahead were decoded.
    expect(instance.transcriber.pulled).toBeLessThan(16_000 * (held + 3))
    const heard = { requests: held === 0 ? 0 : 1, seconds: held, charged_micros: 0 }
    await until('it is counted', async () => (await usageOf(instance, key)).seconds === held)
    expect(await usageOf(instance, key)).toEqual(heard)
    expect(await metricsOf(instance)).toContain('voice_transcriptions_total{result="client_gone"} 1')
  })

  test('while it waits for its turn leaves the queue', async () => {
    await using instance = await startListening({ transcriptionStreams: 1, transcriptionQueue: 1 })
    const [one, two, three] = [await instance.key(), await instance.key(), await instance.key()]
    const { reached, release } = holdAt(instance, 0)
    const first = transcribe(instance, one)
    await reached
    const leaving = new AbortController()
    const init = { method: 'POST', key: two, body: formOf(), signal: leaving.signal }
    const second = instance.fetch('/v1/audio/transcriptions', init).catch((error: Error) => error.name)
    const isFull = async () => (await transcribe(instance, three)).status === 503
    await until('it waits', isFull)
    leaving.abort()
    expect(await second).toBe('AbortError')
    await until('its place is free', () => uploadsOf(instance).length === 1)
    release()
    expect((await first).status).toBe(200)
    expect((await transcribe(instance, three)).status).toBe(200)
    expect(instance.transcriber.orders).toHaveLength(2)
  })

  test('by not reading any more', async () => {
    await using instance = await startListening({ unreadMs: 200 })
    const key = await instance.key()
    const client = await rawClient(instance, key)
    // Enough words that the kernel does not take them all.
    instance.transcriber.plan = () => ({ partMs: 1 })
    const body = [
      client.part('stream', 'true'),
      client.file,
      Buffer.from(long).toString('latin1'),
      '\r\n--b--\r\n',
    ].join('')
    const bytes = Buffer.from(client.head(`Content-Length: ${body.length}`) + body, 'latin1')
    for (let at = 0; at < bytes.length;) {
      at += client.socket.write(bytes.subarray(at))
      await Promise.resolve()
    }
    client.socket.pause()
    await until('it has been given up', async () => (await metricsOf(instance)).includes('client_gone'), 10_000)
    await allOver(instance)
    expect((await usageOf(instance, key)).seconds).toBeLessThan(60)
    client.socket.terminate()
  })
})

describe('our own failure', () => {
  test('before the first part has its status, and is not counted', async () => {
    await using instance = await startListening()
    const key = await instance.key()
    for (const [failWith, status] of [
      [new MynaError('generation_failed', 'It failed.'), 500],
      [new MynaError('engine_unavailable', 'Not now.', { retryAfterMs: 5000 }), 503],
      [new MynaError('model_unavailable', 'Broken.'), 503],
      [new Error('of no known kind'), 500],
    ] as const) {
      instance.transcriber.plan = () => ({ failAt: 0, failWith: failWith as MynaError })
      for (const stream of ['true', 'false']) {
        const response = await transcribe(instance, key, { stream })
        expect([response.status, response.headers.get('x-request-id')]).toEqual([
          status,
          expect.stringMatching(/^req_/),
        ])
      }
    }
    expect(await usageOf(instance, key)).toMatchObject({ requests: 0 })
    expect(instance.lines.join('')).toContain('It failed.')
    await allOver(instance)
  })

  test('half way is never half an answer, and the transcribed part is counted', async () => {
    await using instance = await startListening()
    const key = await instance.key()
    instance.transcriber.plan = () => ({ failAt: 2 })
    const response = await transcribe(instance, key, { file: longFile() })
    expect([response.status, await errorOf(response)]).toMatchObject([500, { code: 'generation_failed' }])
    expect(await usageOf(instance, key)).toEqual({ requests: 1, seconds: 2, charged_micros: 0 })
    await allOver(instance)
  })

  test('half way through the events is an event, before the connection closes', async () => {
    await using instance = await startListening()
    instance.transcriber.plan = () => ({ failAt: 2 })
    const client = await rawClient(instance, await instance.key())
    const body = [
      client.part('stream', 'true'),
      client.file,
      Buffer.from(recordingOf(9, 9, 9)).toString('latin1'),
    ].join('')
    const whole = Buffer.from(`${body}\r\n--b--\r\n`, 'latin1')
    const bytes = Buffer.concat([Buffer.from(client.head(`Content-Length: ${whole.length}`)), whole])
    for (let at = 0; at < bytes.length; at += client.socket.write(bytes.subarray(at))) await Promise.resolve()
    await client.closed
    const text = client.text()
    expect(text).toStartWith('HTTP/1.1 200')
    expect(text).toContain(
      'event: transcript.text.delta\ndata: {"type":"transcript.text.delta","delta":"heard 0."}\n\n',
    )
    const event = /data: (\{"type":"error".*\})/.exec(text)?.[1] ?? '{}'
    expect(JSON.parse(event)).toMatchObject({
      error: { code: 'generation_failed', type: 'server_error', request_id: expect.stringMatching(/^req_/) },
    })
    expect(text).not.toContain('[DONE]')
    expect(text).not.toEndWith('0\r\n\r\n')
  })

  test('damage in the middle of a file is reported, wherever the answer is', async () => {
    await using instance = await startListening()
    const key = await instance.key()
    const floats = new Float32Array(20 * 16_000).fill(0.1)
    floats[12 * 16_000] = Number.NaN
    const header = recordingOf(0).slice(0, 44)
    const view = new DataView(header.buffer)
    view.setUint16(20, 3, true)
    view.setUint32(28, 64_000, true)
    view.setUint16(32, 4, true)
    view.setUint16(34, 32, true)
    for (const at of [4, 40]) view.setUint32(at, floats.byteLength + (at === 4 ? 36 : 0), true)
    const file = new File([header, floats], 'half.wav')
    const whole = await transcribe(instance, key, { file })
    expect([whole.status, await errorOf(whole)]).toMatchObject([400, { code: 'invalid_audio', param: 'file' }])
    const streamed = await transcribe(instance, key, { file, stream: 'true' })
    const text = await streamed.text().catch(() => '')
    expect(streamed.status).toBe(200)
    if (text !== '') expect(text).toContain('"code":"invalid_audio"')
    await allOver(instance)
  })
})

describe('capacity', () => {
  test('a full queue is a 503 that says when to try again', async () => {
    await using instance = await startListening({ transcriptionStreams: 1, transcriptionQueue: 1 })
    const keys = [await instance.key(), await instance.key(), await instance.key()] as const
    const { reached, release } = holdAt(instance, 0)
    const answers = [transcribe(instance, keys[0])]
    await reached
    answers.push(transcribe(instance, keys[1]))
    await until('both have been read', () => uploadsOf(instance).length === 2)
    let refused = await transcribe(instance, keys[2])
    await until('the queue is full', async () => {
      if (refused.status !== 503) refused = await transcribe(instance, keys[2])
      return refused.status === 503
    })
    expect(await errorOf(refused)).toMatchObject({ code: 'engine_overloaded' })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(2)
    release()
    for (const answer of answers) expect((await answer).status).toBe(200)
    expect((await transcribe(instance, keys[2])).status).toBe(200)
  })

  test('too long a wait is a 503, too', async () => {
    await using instance = await startListening({ transcriptionStreams: 1, transcriptionWaitMs: 100 })
    const key = await instance.key()
    const { reached, release } = holdAt(instance, 0)
    const first = transcribe(instance, key)
    await reached
    const refused = await transcribe(instance, key)
    expect([refused.status, await errorOf(refused)]).toMatchObject([503, { code: 'engine_overloaded' }])
    release()
    expect((await first).status).toBe(200)
  })

  test('work beyond the share of an account waits for its turn, and does not delay other accounts', async () => {
    await using instance = await startListening({ transcriptionConcurrency: 1 })
    const [key, other] = [await instance.key({ account: 'two at once' }), await instance.key()]
    const limits = { transcriptionConcurrency: 2 }
    await instance.server.administration.setLimits({ name: 'two at once', limits })
    const { count, release } = holdAt(instance, 1)
    const answers = [transcribe(instance, key), transcribe(instance, key)]
    await until('both are running', () => count() === 2)
    answers.push(transcribe(instance, key), transcribe(instance, other))
    await until('the other is running', () => count() === 3)
    release()
    for (const answer of answers) expect((await answer).status).toBe(200)
    expect((await transcribe(instance, key)).status).toBe(200)
    expect([await usageOf(instance, key), await usageOf(instance, other)]).toMatchObject([
      { requests: 4 },
      { requests: 1 },
    ])
  })
})

test('a database that cannot be written costs no transcript, but nothing new begins until it can', async () => {
  await using instance = await startListening()
  const key = await instance.key()
  const { reached, release } = holdAt(instance, 2)
  const answer = transcribe(instance, key)
  await reached
  const other = new Database(join(instance.dataDir, 'myna.db'))
  other.run('BEGIN IMMEDIATE')
  release()
  expect((await answer).status).toBe(200)
  const disk = async () =>
    ((await (await instance.fetch('/readyz')).json()) as { checks: { disk: string } }).checks.disk
  expect(await disk()).toBe('full')
  const refused = await transcribe(instance, key)
  expect([refused.status, await errorOf(refused)]).toMatchObject([507, { code: 'storage_full' }])
  other.run('ROLLBACK')
  other.close()
  await until('the database is written', async () => (await disk()) === 'ok')
  expect(await usageOf(instance, key)).toEqual({ requests: 1, seconds: 3, charged_micros: 0 })
})

test('a shutdown that may not wait ends it, counts the transcribed part, and sends no end', async () => {
  const instance = await startListening({ drainMs: 0 })
  const key = await instance.key()
  const { count, release } = holdAt(instance, 1)
  const [whole, events] = [transcribe(instance, key), transcribe(instance, key, { stream: 'true' })]
  await until('both are running', () => count() === 2)
  const stream = (await events).text()
  const ended = Promise.allSettled([whole, stream])
  await instance.server.stop()
  const [first, second] = await ended
  // Either it still has its status, or the connection was aborted. It is never half an answer.
  if (first.status === 'fulfilled') expect(first.value.status).toBe(503)
  if (second.status === 'fulfilled') expect(second.value).toContain('server_shutting_down')
  release()
  await using again = await startInstance({ dataDir: instance.dataDir })
  expect(await usageOf(again, key)).toMatchObject({ requests: 2, seconds: 2 })
  instance.streamDecoder.close()
})

test('a shutdown lets running work finish within its limit, then ends it; new work is refused', async () => {
  const instance = await startListening({ drainMs: 60_000 })
  const key = await instance.key()
  const { reached, release } = holdAt(instance, 1)
  const answer = transcribe(instance, key)
  await reached
  const stopping = instance.server.stop()
  const refused = await transcribe(instance, key)
  expect([refused.status, await errorOf(refused)]).toMatchObject([503, { code: 'server_shutting_down' }])
  release()
  expect((await answer).status).toBe(200)
  await stopping
  await using again = await startInstance({ dataDir: instance.dataDir })
  expect(await usageOf(again, key)).toMatchObject({ requests: 1, seconds: 3 })
  instance.streamDecoder.close()
})

test('the transcribed part is measured', async () => {
  await using instance = await startListening()
  const key = await instance.key()
  instance.transcriber.plan = () => ({ before: () => instance.clock.advance(100) })
  await (await transcribe(instance, key)).text()
  const metrics = await metricsOf(instance)
  expect(metrics).toContain('voice_transcriptions_total{result="completed"} 1')
  expect(metrics).toContain('voice_transcription_seconds_total 3')
  // Three seconds in three tenths of a second.
  expect(metrics).toContain('voice_transcription_realtime_factor_sum 10')
  const ready = await instance.fetch('/readyz')
  expect(await ready.json()).toMatchObject({ status: 'ready', checks: { transcription: 'ok' } })
})
