/** Each format: the pool's output for speech is decoded again and compared with the input. */
import { afterAll, describe, expect, test } from 'bun:test'
import { type AudioFormat, audioFormats } from '../../domain/speech.ts'
import { EncoderPool } from './pool.ts'
import { concatBytes, concatFloats, fromS16, s16AsBytes } from '../pcm.ts'
import { buzz, compare, readBack } from './readback.fixture.ts'
import { Resampler } from '../resample.ts'
import { wavHeader } from '../wav.ts'
import { failureOf } from '../../testing/failure.ts'
import { clipRateHz, speech, words } from '../../testing/speech-clips.ts'

const pool = new EncoderPool({ workers: 1 })
afterAll(() => pool.close())

const rateHz = 24000
const chunkSamples = rateHz / 5

async function encode(format: AudioFormat, pcm: Int16Array, step = chunkSamples, hz = rateHz): Promise<Uint8Array[]> {
  const encoder = await pool.open(format, hz)
  const parts: Uint8Array[] = []
  for (let at = 0; at < pcm.length; at += step) parts.push(await encoder.encode(pcm.subarray(at, at + step)))
  parts.push(await encoder.finish())
  return parts
}

const ceilTo = (value: number, step: number): number => Math.ceil(value / step) * step

interface Promised {
  /** In samples after decoding. */
  delay: number
  /** In samples after decoding. */
  length: (n: number) => number
  /** Correlation with the original. */
  like: number
  gainDb: number
  gainErrorDb: number
}

const lossless: Promised = { delay: 0, length: (n) => n, like: 1 - 1e-9, gainDb: 0, gainErrorDb: 0.1 }

const promises: Record<AudioFormat, Promised> = {
  pcm: lossless,
  wav: lossless,
  flac: lossless,
  // It models a voice, and this buzz is only similar to one. Speech is tested below.
  opus: { delay: 0, length: (n) => n * 2, like: 0.985, gainDb: 0, gainErrorDb: 0.2 },
  // LAME's own 576 and the 529 of any decoder; whole frames of 576, two more than the speech fills. LAME keeps some
  // headroom: 0.95 of the amplitude.
  mp3: {
    delay: 1105,
    length: (n) => ceilTo(n, 576) + 2 * 576,
    like: 0.999,
    gainDb: 20 * Math.log10(0.95),
    gainErrorDb: 0.1,
  },
  // One frame of priming.
  aac: { delay: 1024, length: (n) => ceilTo(n, 1024) + 1024, like: 0.99, gainDb: 0, gainErrorDb: 0.1 },
}

describe.each([...audioFormats])('%s', (format) => {
  const promise = promises[format]

  test.each([1, 0.7771, 2.34567])('a stream of %d s keeps its length', async (seconds) => {
    const pcm = buzz(seconds, rateHz)
    const decoded = await readBack(format, concatBytes(await encode(format, pcm)))
    let original = fromS16(pcm)
    if (decoded.sampleRateHz !== rateHz) {
      const resampler = new Resampler(rateHz, decoded.sampleRateHz)
      original = concatFloats([resampler.push(original), resampler.flush()])
    }
    const likeness = compare(original, decoded.samples, 2000)
    expect(decoded.samples.length).toBe(promise.length(pcm.length))
    expect(likeness.delay).toBe(promise.delay)
    expect(likeness.correlation).toBeGreaterThan(promise.like)
    expect(Math.abs(likeness.gainDb - promise.gainDb)).toBeLessThan(promise.gainErrorDb)
  })

  test('every 200 ms of speech gives bytes, and the first of them are playable', async () => {
    const parts = await encode(format, buzz(2, rateHz))
    for (const part of parts.slice(0, -1)) expect(part.length).toBeGreaterThan(0)
    const first = await readBack(format, parts[0]!)
    // MP3 lags by a frame and its bit reservoir, AAC by a frame, and FLAC fills blocks of 4,096.
    expect(first.samples.length / first.sampleRateHz).toBeGreaterThan(0.09)
  })

  test('an end without audio is allowed', async () => {
    const bytes = concatBytes(await encode(format, new Int16Array(0)))
    if (format === 'wav') expect(bytes).toEqual(wavHeader(rateHz, null))
    expect(bytes.length).toBeLessThan(700)
    const after = concatBytes(await encode(format, buzz(0.2, rateHz)))
    expect(after.length).toBeGreaterThan(bytes.length)
  })

  test('the same speech gives the same bytes', async () => {
    const pcm = buzz(1.5, rateHz)
    const first = concatBytes(await encode(format, pcm))
    expect(Buffer.from(first).equals(concatBytes(await encode(format, pcm)))).toBe(true)
  })
})

test('opus keeps the shape and the level of speech, in 40 kbit/s', async () => {
  const pcm = await speech(words, 'slt')
  const bytes = concatBytes(await encode('opus', pcm, clipRateHz / 5, clipRateHz))
  const { samples, sampleRateHz } = await readBack('opus', bytes)
  const resampler = new Resampler(clipRateHz, sampleRateHz)
  const likeness = compare(concatFloats([resampler.push(fromS16(pcm)), resampler.flush()]), samples, 200)
  expect(likeness.delay).toBe(0)
  expect(likeness.correlation).toBeGreaterThan(0.995)
  expect(Math.abs(likeness.gainDb)).toBeLessThan(0.05)
  expect((bytes.length * 8) / (pcm.length / clipRateHz)).toBeLessThan(40_000)
})

test.each(['pcm', 'wav', 'flac', 'mp3', 'aac'] as const)(
  '%s gives the same bytes however the speech is cut',
  async (format) => {
    const pcm = buzz(2.1, rateHz)
    const whole = Buffer.from(concatBytes(await encode(format, pcm, pcm.length)))
    for (const step of [997, 4096, 24001]) {
      expect(Buffer.from(concatBytes(await encode(format, pcm, step))).equals(whole)).toBe(true)
    }
  },
)

test('pcm is the bare samples, and wav the samples after a header that claims no length', async () => {
  const pcm = buzz(0.5, rateHz)
  expect(concatBytes(await encode('pcm', pcm))).toEqual(concatBytes([s16AsBytes(pcm)]))
  const wav = await encode('wav', pcm, chunkSamples, 44100)
  expect(wav[0]!.length).toBe(44 + chunkSamples * 2)
  expect(concatBytes(wav)).toEqual(concatBytes([wavHeader(44100, null), s16AsBytes(pcm)]))
})

test('flac is lossless and declares its length unknown', async () => {
  const pcm = Int16Array.from(buzz(1, rateHz))
  pcm.set([32767, -32768, 32767, -32768, 0, -1], 5000)
  const bytes = concatBytes(await encode('flac', pcm))
  expect(Buffer.from(bytes.subarray(0, 4)).toString()).toBe('fLaC')
  const info = new DataView(bytes.buffer, 8)
  expect(info.getUint32(10) >>> 12).toBe(rateHz)
  expect([info.getUint8(13) & 0x0f, info.getUint32(14)]).toEqual([0, 0])
  const { samples } = await readBack('flac', bytes)
  // This decoder divides by 32,767.
  expect([...samples].map((x) => Math.round(x * 32767))).toEqual([...pcm])
})

test('mp3 is 24 kHz mono at a constant 96 kbit/s with nothing before the first frame', async () => {
  const bytes = concatBytes(await encode('mp3', buzz(2, rateHz)))
  let frames = 0
  for (let at = 0; at < bytes.length; at += 288) {
    // Sync, MPEG-2 layer III without checksum; 96 kbit/s, 24 kHz, no padding; mono.
    expect([bytes[at], bytes[at + 1]! & 0xfe, bytes[at + 2]! & 0xfe, bytes[at + 3]! >> 6]).toEqual([255, 0xf2, 0xa4, 3])
    frames++
  }
  expect(frames * 576).toBe(ceilTo(2 * rateHz, 576) + 2 * 576)
  expect(Buffer.from(bytes).toString('latin1')).not.toMatch(/Xing|Info|VBRI|ID3|TAG/)
})

test('two mp3 replies joined play as both', async () => {
  const one = concatBytes(await encode('mp3', buzz(1, rateHz)))
  const other = concatBytes(await encode('mp3', buzz(1.3, rateHz, 5)))
  const joined = await readBack('mp3', concatBytes([one, other]))
  const alone = [await readBack('mp3', one), await readBack('mp3', other)]
  expect(joined.samples.length).toBe(alone[0]!.samples.length + alone[1]!.samples.length)
  const second = joined.samples.subarray(alone[0]!.samples.length)
  expect(compare(alone[1]!.samples, second, 0).correlation).toBeGreaterThan(0.999)
})

test('silence and full scale noise pass through every codec', async () => {
  let state = 7
  const noise = Int16Array.from({ length: 12000 }, () => ((state = (state * 48271) % 2147483647) - 2 ** 30) >> 15)
  for (const format of audioFormats) {
    for (const pcm of [new Int16Array(12000), noise, new Int16Array(12000).fill(-32768)]) {
      const { samples } = await readBack(format, concatBytes(await encode(format, pcm)))
      expect(samples.every(Number.isFinite)).toBe(true)
    }
  }
})

const rates: [AudioFormat, number[], number][] = [
  ['mp3', [8000, 16000, 22050, 24000, 44100, 48000], 12345],
  ['opus', [8000, 16000, 24000, 48000], 44100],
  ['flac', [8000, 16000, 22050, 24000, 44100, 48000], 12345],
  ['aac', [8000, 16000, 22050, 24000, 44100, 48000], 12345],
]
test.each(rates)('%s at other rates', async (format, good, bad) => {
  for (const hz of good) {
    const pcm = buzz(0.5, hz)
    const decoded = await readBack(format, concatBytes(await encode(format, pcm, hz / 10, hz)))
    expect(decoded.sampleRateHz).toBe(format === 'opus' ? 48000 : hz)
    expect(decoded.samples.length / decoded.sampleRateHz).toBeGreaterThanOrEqual(0.5)
  }
  const error = await failureOf(pool.open(format, bad))
  expect(error).toBeInstanceOf(RangeError)
  expect(String(error)).toContain(`${format} cannot be encoded at ${bad} Hz`)
})
