/** The pool itself: many streams at once, reuse, refusals, a thread that crashes, an idle process that may end. */
import { afterAll, expect, test } from 'bun:test'
import { type AudioFormat, audioFormats } from '../../domain/speech.ts'
import { failureOf } from '../../testing/failure.ts'
import { longTimes } from '../../testing/long.ts'
import { EncoderPool, type StreamEncoder } from './pool.ts'
import { concatBytes } from '../pcm.ts'
import { buzz } from './readback.fixture.ts'

const pool = new EncoderPool({ workers: 2 })
afterAll(() => pool.close())

const rateHz = 24000
const chunkSamples = rateHz / 5
const codecs: AudioFormat[] = ['mp3', 'opus', 'aac', 'flac']

async function feed(encoder: StreamEncoder, pcm: Int16Array): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for (let at = 0; at < pcm.length; at += chunkSamples) {
    parts.push(await encoder.encode(pcm.subarray(at, at + chunkSamples)))
  }
  parts.push(await encoder.finish())
  return Buffer.from(concatBytes(parts))
}

test('many streams over two threads give the same bytes as each stream alone', async () => {
  const formatOf = (i: number): AudioFormat => codecs[i % codecs.length]!
  const speech = Array.from({ length: 24 * longTimes }, (_, i) => buzz(0.6 + (i % 5) / 10, rateHz, i + 1))
  const alone: Buffer[] = []
  for (const [i, pcm] of speech.entries()) alone.push(await feed(await pool.open(formatOf(i), rateHz), pcm))
  const together = await Promise.all(speech.map(async (pcm, i) => feed(await pool.open(formatOf(i), rateHz), pcm)))
  for (const [i, bytes] of together.entries()) expect(bytes.equals(alone[i]!), `stream ${i}`).toBe(true)
}, 30_000)

test('200 streams one after another, a third of them cancelled, do not grow the process', async () => {
  const pcm = buzz(0.4, rateHz)
  const run = async (count: number): Promise<number> => {
    for (let i = 0; i < count; i++) {
      const encoder = await pool.open(codecs[i % codecs.length]!, rateHz)
      if (i % 3 === 0) {
        if (i % 2 === 0) await encoder.encode(pcm)
        encoder.close()
      } else await feed(encoder, pcm)
    }
    Bun.gc(true)
    return process.memoryUsage.rss()
  }
  const before = await run(100)
  const after = await run(200)
  expect(after - before).toBeLessThan(100 * 1024 * 1024)
}, 30_000)

test('calls that are not awaited are answered in order', async () => {
  const pcm = buzz(3.3, rateHz)
  const whole = await feed(await pool.open('flac', rateHz), pcm)
  const encoder = await pool.open('flac', rateHz)
  const cut = 2 * rateHz + 17
  const parts = await Promise.all([
    encoder.encode(pcm.subarray(0, cut)),
    encoder.encode(pcm.subarray(cut)),
    encoder.finish(),
  ])
  expect(Buffer.from(concatBytes(parts)).equals(whole)).toBe(true)
})

test("the caller's samples stay unchanged", async () => {
  const pcm = buzz(0.4, rateHz)
  const encoder = await pool.open('mp3', rateHz)
  await encoder.encode(pcm)
  expect(pcm).toEqual(buzz(0.4, rateHz))
  encoder.close()
})

test.each([...audioFormats])('%s: a closed stream stays closed', async (format) => {
  const finished = await pool.open(format, rateHz)
  await finished.finish()
  finished.close()
  const givenUp = await pool.open(format, rateHz)
  await givenUp.encode(buzz(0.1, rateHz))
  givenUp.close()
  givenUp.close()
  for (const encoder of [finished, givenUp]) {
    expect(String(await failureOf(encoder.encode(new Int16Array(9))))).toBe('Error: The encoder is closed.')
    expect(String(await failureOf(encoder.finish()))).toBe('Error: The encoder is closed.')
  }
})

test('closing fails the running call', async () => {
  const encoder = await pool.open('opus', rateHz)
  const call = failureOf(encoder.encode(buzz(20, rateHz)))
  encoder.close()
  expect(String(await call)).toContain('closed')
})

test('a refused rate fails only its own stream', async () => {
  const neighbours = await Promise.all([pool.open('mp3', rateHz), pool.open('mp3', rateHz)])
  expect(await failureOf(pool.open('opus', 22050))).toBeInstanceOf(RangeError)
  const pcm = buzz(0.5, rateHz)
  const [one, other] = await Promise.all(neighbours.map((encoder) => feed(encoder, pcm)))
  expect(one!.length).toBeGreaterThan(5000)
  expect(one!.equals(other!)).toBe(true)
})

test('a crashed thread fails its streams, and the pool continues with another thread', async () => {
  const single = new EncoderPool({ workers: 1 })
  const pcm = buzz(0.5, rateHz)
  const expected = await feed(await single.open('mp3', rateHz), pcm)
  const [idle, busy] = await Promise.all([single.open('mp3', rateHz), single.open('opus', rateHz)])
  // A format that the thread does not know is a bug of ours and crashes the thread.
  const unknown = failureOf(single.open('vorbis' as AudioFormat, rateHz))
  const underWay = failureOf(busy.encode(pcm))
  expect(String(await unknown)).toBe('Error: The encoder thread ended.')
  expect(String(((await unknown) as Error).cause)).toContain('no encoder for vorbis')
  expect(await underWay).toBeInstanceOf(Error)
  expect(String(await failureOf(idle.encode(pcm)))).toBe('Error: The encoder thread ended.')
  idle.close()
  busy.close()
  expect((await feed(await single.open('mp3', rateHz), pcm)).equals(expected)).toBe(true)
  single.close()
})

test('a closed pool fails the open streams and opens no new ones', async () => {
  const closing = new EncoderPool({ workers: 2 })
  await closing.warm(audioFormats)
  const encoder = await closing.open('aac', rateHz)
  const call = failureOf(encoder.encode(buzz(20, rateHz)))
  closing.close()
  expect(await call).toBeInstanceOf(Error)
  expect(await failureOf(closing.open('mp3', rateHz))).toBeInstanceOf(Error)
  expect(() => new EncoderPool({ workers: 0 })).toThrow(RangeError)
})

test('idle threads do not keep a process alive, but running calls do', async () => {
  const script = `
    import { EncoderPool } from ${JSON.stringify(new URL('./pool.ts', import.meta.url).href)}
    const encoder = await new EncoderPool({ workers: 2 }).open('mp3', 24000)
    const bytes = await encoder.encode(new Int16Array(48000))
    console.log(bytes.length > 20000)`
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'inherit', timeout: 20_000 })
  expect([await child.stdout.text(), await child.exited]).toEqual(['true\n', 0])
}, 25_000)

test('encoded sound is reported with the time it took', async () => {
  const reports: [AudioFormat, number, number][] = []
  const own = new EncoderPool({ workers: 1, onEncoded: (...what) => reports.push(what) })
  for (const format of ['mp3', 'pcm'] as const) await feed(await own.open(format, rateHz), buzz(2.5, rateHz))
  own.close()
  expect(reports.every(([format, , busyMs]) => format === 'mp3' && busyMs > 0)).toBe(true)
  expect(Math.round(reports.reduce((sum, [, soundMs]) => sum + soundMs, 0))).toBe(2500)
})
