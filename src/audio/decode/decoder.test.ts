/** Every container decodes to what was encoded; the pool keeps its limits, turns and deadlines. */
import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { MynaError } from '../../domain/error.ts'
import { systemTimer } from '../../domain/time.ts'
import { failureOf } from '../../testing/failure.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import { until } from '../../testing/until.ts'
import { encodedFile, everyContainer, wavFile } from './containers.fixture.ts'
import { DecoderPool } from './decoder.ts'
import { concatFloats, fromS16, levelDb } from '../pcm.ts'
import { buzz, compare } from '../encode/readback.fixture.ts'
import { Resampler } from '../resample.ts'

const pool = new DecoderPool({ workers: 2, timer: systemTimer })
afterAll(() => pool.close())

const rateHz = 24000
const never = new AbortController().signal
const limits = { maxSeconds: 60 }
const pcm = buzz(1.6, rateHz)
const files = await everyContainer(pcm)

const failure = failureOf<MynaError>

const atRate = (samples: Float32Array, fromHz: number, toHz: number): Float32Array => {
  const resampler = new Resampler(fromHz, toHz)
  return concatFloats([resampler.push(samples), resampler.flush()])
}

/**
 * For lossy formats: how similar and how loud the sound must be, and by how many of its own samples it may be late or
 * too long.
 */
const promiseOf = (codec: string): { like: number; gainDb: number; samples: number } => {
  if (codec === 'mp3') return { like: 0.999, gainDb: 0.5, samples: 1105 + 2 * 576 }
  if (codec === 'aac') return { like: 0.99, gainDb: 0.1, samples: 2048 }
  // It models a voice, and this buzz is only similar to one.
  if (codec === 'opus') return { like: 0.985, gainDb: 0.2, samples: 960 }
  // Matroska does not say where the padding begins. In Ogg it is trimmed to the sample, see below.
  if (codec === 'vorbis') return { like: 0.99, gainDb: 0.1, samples: 1024 }
  return { like: codec === 'ulaw' || codec === 'pcm-u8' ? 0.999 : 1 - 1e-9, gainDb: 0.1, samples: 0 }
}

test.each([...files])('%s decodes to what was encoded, up to the limit or the end', async (name, file) => {
  const [clip, error, half] = await Promise.all([
    pool.decode(file.bytes, limits, never),
    failure(pool.decode(file.bytes, { maxSeconds: 1 }, never)),
    pool.decode(file.bytes.slice(0, file.bytes.length / 2), limits, never).catch((reason: MynaError) => reason),
  ])
  expect([clip.container, clip.codec, clip.mimeType]).toEqual([file.container, file.codec, file.mimeType])
  const promise = promiseOf(file.codec)
  const original = atRate(fromS16(pcm), rateHz, clip.sampleRateHz)
  const likeness = compare(original, clip.pcm, promise.samples)
  expect(likeness.correlation).toBeGreaterThan(promise.like)
  expect(Math.abs(likeness.gainDb)).toBeLessThan(promise.gainDb)
  expect(clip.pcm.length).toBeGreaterThanOrEqual(original.length)
  expect(clip.pcm.length - original.length).toBeLessThanOrEqual(promise.samples)

  expect([error.code, error.param, error.extras.max_seconds]).toEqual(['clip_too_long', 'file', 1])
  const said = Number(error.extras.duration_seconds)
  expect(said).toBeGreaterThan(1)
  expect(said).toBeLessThan(1.7)

  if (half instanceof Error) expect([name, half.code]).toEqual([name, 'clip_undecodable'])
  else expect(half.pcm.length / half.sampleRateHz).toBeLessThan(1)
})

test('padding in an Ogg file before and after the sound is trimmed to the sample', async () => {
  expect((await pool.decode(files.get('ogg opus')!.bytes, limits, never)).pcm.length).toBe(pcm.length * 2)
  expect((await pool.decode(files.get('ogg vorbis')!.bytes, limits, never)).pcm.length).toBe(pcm.length)
})

test('long AAC is decoded in stretches that join without a seam', async () => {
  const long = buzz(20, rateHz)
  const clip = await pool.decode(await encodedFile('aac', long), limits, never)
  // A seam would be a frame of 1,024 samples lost, doubled or wrong: everything after it would be late or different.
  const tail = fromS16(long).subarray(18 * rateHz)
  const likeness = compare(tail, clip.pcm.subarray(18 * rateHz), 2048)
  expect(likeness.delay).toBe(compare(fromS16(long).subarray(0, rateHz), clip.pcm.subarray(0, 2 * rateHz), 2048).delay)
  expect(likeness.correlation).toBeGreaterThan(0.99)
}, 20_000)

test('channels are mixed to their mean', async () => {
  const data = new Int16Array(2 * rateHz)
  for (let i = 0; i < rateHz; i++) {
    data[2 * i] = 8000
    data[2 * i + 1] = -4000
  }
  const bytes = wavFile({ channels: 2, data: new Uint8Array(data.buffer) })
  const clip = await pool.decode(bytes, limits, never)
  expect(clip.pcm.length).toBe(rateHz)
  expect(clip.pcm.every((sample) => Math.abs(sample - 2000 / 32768) < 1e-6)).toBe(true)
})

const clips = join(import.meta.dir, '..', '..', '..', '..', 'shared', 'data', 'clips')

// The clips are not in the repository.
test.skipIf(!existsSync(clips))('real clips', async () => {
  for (const [name, seconds] of [
    ['1688-142285-0000.flac', 15],
    ['two_cities_16k.wav', 44.374],
  ] as const) {
    const clip = await pool.decode(await Bun.file(join(clips, name)).bytes(), limits, never)
    expect(clip.sampleRateHz).toBe(16000)
    expect(clip.pcm.length / 16000).toBeCloseTo(seconds, 2)
    expect(levelDb(clip.pcm)).toBeGreaterThan(-40)
  }
})

describe('the pool', () => {
  const bytes = files.get('flac')!.bytes

  test("copies the caller's bytes, and accepts more jobs than it has threads", async () => {
    const copy = bytes.slice()
    const clips = await Promise.all(Array.from({ length: 4 }, () => pool.decode(bytes, limits, never)))
    for (const clip of clips) expect(clip.pcm).toEqual(clips[0]!.pcm)
    expect(bytes).toEqual(copy)
  })

  test('stops a waiting or running job when the caller gives up, and serves the next', async () => {
    const single = new DecoderPool({ workers: 1, timer: systemTimer })
    const [running, waiting] = [new AbortController(), new AbortController()]
    const first = failure(single.decode(bytes, limits, running.signal))
    const second = failure(single.decode(bytes, limits, waiting.signal))
    const third = single.decode(bytes, limits, never)
    waiting.abort(new Error('no more'))
    expect((await second).message).toBe('no more')
    running.abort(new Error('gone'))
    expect((await first).message).toBe('gone')
    expect((await third).pcm.length).toBe(pcm.length)
    expect(await failure(single.decode(bytes, limits, AbortSignal.abort(new Error('before'))))).toHaveProperty(
      'message',
      'before',
    )
    single.close()
  })

  test('ends a file at its deadline and continues with the next', async () => {
    const clock = new ManualClock()
    const single = new DecoderPool({ workers: 1, timer: clock })
    const first = failure(single.decode(bytes, limits, never))
    await until('it has begun', () => clock.waiting > 0)
    clock.advance(30_000)
    expect(await first).toMatchObject({ code: 'clip_undecodable', message: expect.stringContaining('too long') })
    expect((await single.decode(bytes, limits, never)).pcm.length).toBe(pcm.length)
    single.close()
  })

  test('ends a file that makes the process grow too much', async () => {
    const clock = new ManualClock()
    let residentBytes = 100e6
    const single = new DecoderPool({ workers: 1, timer: clock, residentBytes: () => residentBytes })
    const first = failure(single.decode(bytes, limits, never))
    await until('it has begun', () => clock.waiting > 0)
    residentBytes = 2e9
    clock.advance(100)
    expect(await first).toMatchObject({ code: 'clip_undecodable', message: expect.stringContaining('memory') })
    single.close()
  })

  test('fails running, waiting and new jobs once it is closed', async () => {
    const closing = new DecoderPool({ workers: 1, timer: systemTimer })
    const calls = [failure(closing.decode(bytes, limits, never)), failure(closing.decode(bytes, limits, never))]
    closing.close()
    calls.push(failure(closing.decode(bytes, limits, never)))
    for (const call of calls) expect((await call).message).toBe('The decoder pool is closed.')
    expect(() => new DecoderPool({ workers: 0, timer: systemTimer })).toThrow(RangeError)
  })
})
