/** Long audio is decoded on demand, in memory that does not grow with it, and nothing is left behind. */
import { heapStats } from 'bun:jsc'
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readlinkSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { MynaError } from '../../domain/error.ts'
import { systemTimer } from '../../domain/time.ts'
import { failureOf } from '../../testing/failure.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import { longTimes } from '../../testing/long.ts'
import { until } from '../../testing/until.ts'
import { everyContainer, wavFile } from './containers.fixture.ts'
import { blocksOf } from './blocks.ts'
import { decodeFile } from './clip.ts'
import { MonoReader } from './mono.ts'
import { clipOnDisk } from './source.ts'
import { StreamingDecoder } from './stream.ts'
import { concatFloats, concatS16, toS16 } from '../pcm.ts'
import { buzz } from '../encode/readback.fixture.ts'
import { Resampler, rough } from '../resample.ts'

// Threads with every codec, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const folder = temporaryFolder()
const decoder = new StreamingDecoder({ timer: systemTimer })
afterAll(() => decoder.close())

const rateHz = 16_000
const limits = { sampleRateHz: rateHz, maxSeconds: 60 }
const never = new AbortController().signal
const files = await everyContainer(buzz(3.3, 24_000))

async function written(bytes: Uint8Array): Promise<string> {
  const path = join(folder, crypto.randomUUID())
  await Bun.write(path, bytes)
  return path
}

const opened = async (bytes: Uint8Array, change: Partial<typeof limits> = {}, signal = never) =>
  decoder.open(await written(bytes), { ...limits, ...change }, signal)

async function all(pcm: AsyncIterable<Int16Array>): Promise<Int16Array[]> {
  const blocks: Int16Array[] = []
  for await (const block of pcm) blocks.push(block)
  return blocks
}

const decoded = async (bytes: Uint8Array, change: Partial<typeof limits> = {}): Promise<Int16Array[]> =>
  all((await opened(bytes, change)).pcm)

const failure = failureOf<MynaError>

const allClosed = () => until('every file is closed', () => decoder.files === 0)

test.each([...files])('%s comes in blocks of a second that equal the whole file decoded at once', async (_, file) => {
  const clip = await opened(file.bytes)
  expect([clip.container, clip.codec]).toEqual([file.container, file.codec])
  const blocks = await all(clip.pcm)
  const whole = await decodeFile(file.bytes.slice(), 60)
  const resampler = new Resampler(whole.sampleRateHz, rateHz, rough)
  const expected = toS16(concatFloats([resampler.push(whole.pcm), resampler.flush()]))
  expect(Buffer.from(concatS16(blocks).buffer).equals(Buffer.from(expected.buffer))).toBe(true)
  expect(blocks.map((block) => block.length).slice(0, -1)).toEqual([rateHz, rateHz, rateHz])
  await allClosed()
})

/** A sparse file of silence, which takes no block on the disk. */
function longWav(seconds: number): { path: string; cutTo(seconds: number): void } {
  const path = join(folder, crypto.randomUUID())
  const bytesOf = (length: number) => 2 * rateHz * length
  const header = wavFile({ rateHz, declaredBytes: bytesOf(seconds), data: new Uint8Array() })
  writeFileSync(path, header)
  truncateSync(path, header.length + bytesOf(seconds))
  return { path, cutTo: (length) => truncateSync(path, header.length + bytesOf(length)) }
}

/**
 * The memory still in use after a collection. Garbage is not counted, because it depends on how busy the machine is.
 */
function heldBytes(): number {
  Bun.gc(true)
  const { heapSize, extraMemorySize } = heapStats()
  return heapSize + extraMemorySize
}

// In this thread, because another thread's memory cannot be measured separately. The next test covers how far that
// thread reads ahead.
test('a long recording needs no more memory than a quarter of it', async () => {
  // As samples, 20 minutes are 38 MB.
  const wholeS = 1200 * longTimes
  const descriptor = openSync(longWav(wholeS).path, 'r')
  const reader = await MonoReader.open(clipOnDisk(descriptor), 2 * wholeS)
  expect(reader.file.declaredSeconds).toBe(wholeS)
  const held: number[] = []
  let seconds = 0
  for await (const block of blocksOf(reader, rateHz)) {
    expect(block.length).toBe(rateHz)
    seconds++
    if (seconds % (wholeS / 4) === 0) held.push(heldBytes())
  }
  closeSync(descriptor)
  expect([seconds, held.length]).toEqual([wholeS, 4])
  // What is kept shows at the end; in between, the collector may not have found it all.
  expect(held.at(-1)! - held[0]!).toBeLessThan(10e6)
}, 120_000)

test('decodes only a few seconds ahead, and the file may be deleted meanwhile', async () => {
  const long = longWav(600)
  const clip = await decoder.open(long.path, { ...limits, maxSeconds: 700 }, never)
  const blocks = clip.pcm[Symbol.asyncIterator]()
  expect((await blocks.next()).done).toBe(false)
  long.cutTo(60)
  rmSync(long.path)
  let seconds = 1
  const rest = async () => {
    while ((await blocks.next()).done !== true) seconds++
  }
  const error = await failure(rest())
  expect([error.code, error.message]).toEqual(['invalid_audio', expect.stringContaining('damaged: it cannot be')])
  expect(seconds).toBeGreaterThan(10)
  expect(seconds).toBeLessThanOrEqual(60)
  await allClosed()
})

test('the limit is exactly the configured one', async () => {
  const error = await failure(decoded(files.get('flac')!.bytes, { maxSeconds: 3 }))
  expect([error.code, error.param, error.message]).toEqual([
    'audio_too_long',
    'file',
    'The audio is longer than 3 seconds.',
  ])
  expect(error.extras).toMatchObject({ max_seconds: 3, duration_seconds: expect.any(Number) })
  expect(concatS16(await decoded(files.get('flac')!.bytes, { maxSeconds: 3.3 })).length).toBe(3.3 * rateHz)
})

test.each<[string, Uint8Array, string]>([
  ['nothing', new Uint8Array(), 'is empty'],
  ['text', Buffer.from('Call me Ishmael.'), 'text, not audio'],
  ['zeros', new Uint8Array(4000), 'not in a known audio format'],
  ['a WAV header alone', wavFile({ data: new Uint8Array() }), 'no samples'],
  ['a FLAC header cut short', files.get('flac')!.bytes.slice(0, 20), 'damaged'],
  ['200 channels', wavFile({ channels: 200, data: new Uint8Array(80_000) }), '200 channels; at most 8'],
])('%s is refused in words', async (_, bytes, words) => {
  const error = await failure(decoded(bytes))
  expect([error.code, error.param]).toEqual(['invalid_audio', 'file'])
  expect(error.message).toContain(words)
  await allClosed()
})

test('damage late in a file is reported when it is reached', async () => {
  const data = new Float32Array(20 * rateHz)
  data[15 * rateHz] = NaN
  const clip = await opened(wavFile({ tag: 3, bits: 32, rateHz, data: new Uint8Array(data.buffer) }))
  let seconds = 0
  const listening = async () => {
    for await (const block of clip.pcm) seconds += block.length / rateHz
  }
  expect((await failure(listening())).message).toContain('not numbers')
  expect(seconds).toBe(15 - 1)
})

/** The sizes of the whole file and of its samples, as its header states them. */
test.each<[string, number, number]>([
  ['never wrote its size', 0, 3.3 * 48_000],
  ['never wrote its sizes', 0, 0],
  ['wrote only the first', 36 + 3.3 * 48_000, 0],
  ['wrote the size of its header', 36, 3.3 * 48_000],
  ['did not know its sizes', 0xffffffff, 0xffffffff],
  ['did not know the second', 36, 0x7fffffff],
])('the file of a recorder that %s is also streamed from disk', async (_, riffBytes, dataBytes) => {
  const bytes = files.get('wav pcm-s16')!.bytes.slice()
  const view = new DataView(bytes.buffer)
  view.setUint32(4, riffBytes, true)
  view.setUint32(40, dataBytes, true)
  expect(concatS16(await decoded(bytes)).length).toBe(3.3 * rateHz)
})

test('a missing file is our own fault', async () => {
  await allClosed()
  const error = await failure(decoder.open(join(folder, 'none'), limits, never))
  expect(error).not.toBeInstanceOf(MynaError)
  expect(decoder.files).toBe(0)
})

describe('a thread that decoded a whole file', () => {
  const wholeFile = async (threads: StreamingDecoder, name: string) => {
    const clip = await threads.open(await written(files.get(name)!.bytes), limits, never)
    return concatS16(await all(clip.pcm))
  }

  test('decodes the next one, whatever its format, and a second thread that is free ends', async () => {
    const kept = new StreamingDecoder({ timer: systemTimer })
    const first = await wholeFile(kept, 'ogg opus')
    for (const name of [...files.keys(), 'ogg opus']) {
      await wholeFile(kept, name)
      expect([name, kept.files, kept.threads]).toEqual([name, 0, 1])
    }
    expect(await wholeFile(kept, 'ogg opus')).toEqual(first)
    const both = ['flac', 'ogg opus'].map((name) => wholeFile(kept, name))
    await Promise.all(both)
    await until('only one waits', () => kept.threads === 1)
    kept.close()
    await until('it has ended', () => kept.threads === 0)
  })

  test('ends when no file comes for a minute', async () => {
    const clock = new ManualClock()
    const kept = new StreamingDecoder({ timer: clock })
    for (const waitMs of [59_000, 60_000]) {
      await wholeFile(kept, 'flac')
      expect(kept.threads).toBe(1)
      clock.advance(waitMs)
    }
    await until('it has ended', () => kept.threads === 0)
    expect(clock.waiting).toBe(0)
    expect((await wholeFile(kept, 'flac')).length).toBe(3.3 * rateHz)
    kept.close()
  })

  test('is not used again once it has ended by itself', async () => {
    const kept = new StreamingDecoder({ timer: systemTimer })
    const workers: Worker[] = []
    const Original = globalThis.Worker
    globalThis.Worker = class extends Original {
      constructor(...given: ConstructorParameters<typeof Worker>) {
        super(...given)
        workers.push(this)
      }
    }
    try {
      await wholeFile(kept, 'flac')
      workers[0]!.terminate()
      await until('it has ended', () => kept.threads === 0)
      await wholeFile(kept, 'flac')
      expect([workers.length, kept.files, kept.threads]).toEqual([2, 0, 1])
    } finally {
      globalThis.Worker = Original
      kept.close()
    }
  })

  test('is the only one that is kept: damage, a refusal and an early end take theirs with them', async () => {
    const kept = new StreamingDecoder({ timer: systemTimer })
    const open = async (bytes: Uint8Array) => kept.open(await written(bytes), limits, never)
    const damaged = files.get('mp3')!.bytes.slice()
    damaged.fill(0, damaged.length / 2, damaged.length / 2 + 2000)
    const clip = await open(damaged)
    await all(clip.pcm)
    expect(clip.skippedMs()).toBeGreaterThan(0)
    await until('the damaged one has ended', () => kept.threads === 0)
    await failure(open(files.get('flac')!.bytes.slice(0, 20)))
    await until('the refused one has ended', () => kept.threads === 0)
    for await (const _ of (await open(files.get('flac')!.bytes)).pcm) break
    await until('the unread one has ended', () => kept.threads === 0)
    kept.close()
  })
})

describe('the thread ends', () => {
  const openFiles = () =>
    readdirSync('/proc/self/fd').filter((fd) => {
      const link = `/proc/self/fd/${fd}`
      return existsSync(link) && readlinkSync(link).startsWith(folder)
    })

  test('when the signal aborts, whatever the thread is doing, and it closes its file', async () => {
    const { path } = longWav(600)
    for (const when of ['before', 'opening', 'open', 'decoding'] as const) {
      const stop = new AbortController()
      const gone = new Error(`gone while ${when}`)
      if (when === 'before') stop.abort(gone)
      const opening = decoder.open(path, { ...limits, maxSeconds: 700 }, stop.signal)
      if (when === 'before' || when === 'opening') {
        stop.abort(gone)
        expect(await failure(opening)).toBe(gone as MynaError)
      } else {
        const clip = await opening
        const blocks = clip.pcm[Symbol.asyncIterator]()
        if (when === 'decoding') await blocks.next()
        stop.abort(gone)
        const rest = async () => {
          while ((await blocks.next()).done !== true);
        }
        expect(await failure(rest())).toBe(gone as MynaError)
      }
      await allClosed()
    }
    expect(openFiles()).toEqual([])
  })

  test('when the reader stops', async () => {
    const clip = await opened(files.get('ogg opus')!.bytes)
    for await (const _ of clip.pcm) break
    await allClosed()
    expect(openFiles()).toEqual([])
  })

  test('at its deadline, which restarts with each block', async () => {
    const clock = new ManualClock()
    const patient = new StreamingDecoder({ timer: clock })
    const clip = await patient.open(longWav(600).path, { ...limits, maxSeconds: 700 }, never)
    clock.advance(60_000)
    const blocks = clip.pcm[Symbol.asyncIterator]()
    expect((await blocks.next()).done).toBe(false)
    clock.advance(29_000)
    expect((await blocks.next()).done).toBe(false)
    const waiting = failure(patient.open(await written(files.get('adts')!.bytes), limits, never))
    clock.advance(30_000)
    expect(await waiting).toMatchObject({ code: 'invalid_audio', message: 'Decoding the file takes too long.' })
    patient.close()
    await until('they have ended', () => patient.files === 0)
    expect(clock.waiting).toBe(0)
  })

  test('when the process grows too much', async () => {
    const clock = new ManualClock()
    let residentBytes = 100e6
    const watched = new StreamingDecoder({ timer: clock, residentBytes: () => residentBytes })
    const opening = failure(watched.open(longWav(600).path, limits, never))
    residentBytes = 2e9
    clock.advance(100)
    expect(await opening).toMatchObject({ code: 'invalid_audio', message: 'Decoding the file takes too much memory.' })
    watched.close()
  })

  test('when the decoder is closed', async () => {
    const closing = new StreamingDecoder({ timer: systemTimer })
    const { path } = longWav(600)
    const clip = await closing.open(path, { ...limits, maxSeconds: 700 }, never)
    const blocks = clip.pcm[Symbol.asyncIterator]()
    await blocks.next()
    closing.close()
    const rest = async () => {
      while ((await blocks.next()).done !== true);
    }
    expect((await failure(rest())).message).toBe('The decoder is closed.')
    expect((await failure(closing.open(path, limits, never))).message).toBe('The decoder is closed.')
    await until('it has ended', () => closing.threads === 0)
  })
})
