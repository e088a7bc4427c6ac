/**
 * Recordings with damaged parts: the intact parts are decoded at their right time, and the skipped time is reported.
 */
import { afterAll, describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import { forEachSeed, Seeded } from '../../testing/seeded.ts'
import { encodedFile, everyContainer } from './containers.fixture.ts'
import { decodeFile } from './clip.ts'
import { MonoReader } from './mono.ts'
import { withGaps } from './packet.ts'
import { Refusal } from './refusal.ts'
import { clipInMemory } from './source.ts'
import { concatBytes, concatFloats, toS16 } from '../pcm.ts'
import { buzz, compare } from '../encode/readback.fixture.ts'

// FFmpeg is compiled anew for every file, and the machine may be busy with other tests.
setDefaultTimeout(60_000)

/** The codecs print the damage that they find. In their Workers the output is invisible. */
for (const name of ['log', 'warn', 'error'] as const) {
  const spy = spyOn(console, name).mockImplementation(() => {})
  afterAll(() => spy.mockRestore())
}

const rateHz = 24_000
const seconds = 12
const pcm = buzz(seconds, rateHz)
const files = await everyContainer(pcm)
const bytesOf = (name: string): Uint8Array<ArrayBuffer> => files.get(name)!.bytes

interface Heard {
  pcm: Float32Array
  sampleRateHz: number
  skippedSeconds: number
}

async function heard(bytes: Uint8Array): Promise<Heard> {
  const reader = await MonoReader.open(clipInMemory(new Uint8Array(bytes)), 60)
  const stretches: Float32Array[] = []
  for await (const stretch of reader.read()) stretches.push(stretch)
  return { pcm: concatFloats(stretches), sampleRateHz: reader.sampleRateHz, skippedSeconds: reader.damage.seconds }
}

const wholes = new Map<string, Promise<Heard>>()

/** The file without damage, decoded once for all tests. */
function wholeOf(name: string): Promise<Heard> {
  const known = wholes.get(name) ?? heard(bytesOf(name))
  wholes.set(name, known)
  return known
}

const failureOf = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => {
      throw new Error('it was decoded')
    },
    (reason: unknown) => reason as Error,
  )

/** How many milliseconds later the sound from that second on is than in the whole file; null: it is missing. */
function lateMs(whole: Heard, damaged: Heard, atSecond: number): number | null {
  const at = Math.round(atSecond * whole.sampleRateHz)
  const tenth = whole.sampleRateHz / 10
  const early = Math.round(0.08 * whole.sampleRateHz)
  const { correlation, delay } = compare(
    whole.pcm.subarray(at, at + tenth),
    damaged.pcm.subarray(at - early, at + tenth + early),
    2 * early,
  )
  return correlation < 0.9 ? null : Math.round((1000 * (delay - early)) / whole.sampleRateHz)
}

const middle = (bytes: Uint8Array): number => Math.floor(bytes.length / 2)

function noisy(bytes: Uint8Array, at: number, size: number): Uint8Array<ArrayBuffer> {
  const noise = new Uint8Array(size)
  new Seeded(5).fill(noise)
  const copy = new Uint8Array(bytes)
  copy.set(noise, at)
  return copy
}

const without = (bytes: Uint8Array, at: number, size: number): Uint8Array =>
  concatBytes([bytes.subarray(0, at), bytes.subarray(at + size)])

const id3 = (size: number): Uint8Array => {
  const tag = new Uint8Array(10 + size)
  tag.set([0x49, 0x44, 0x33, 4, 0, 0, (size >> 21) & 127, (size >> 14) & 127, (size >> 7) & 127, size & 127])
  return tag
}

/** Damage in the middle may cost a page of Ogg, a cluster or a fragment, and a few packets of anything else. */
const costOf = (name: string): number => (/ogg|webm|mkv|fragments/.test(name) ? 3.2 : 0.6)

const compressed = [...files.keys()].filter((name) => !name.startsWith('wav'))

describe('damaged in the middle', () => {
  test.each(compressed)('%s continues after it, in time', async (name) => {
    const whole = await wholeOf(name)
    expect(whole.skippedSeconds).toBe(0)
    for (const size of [200, 900]) {
      const damaged = await heard(noisy(bytesOf(name), middle(bytesOf(name)), size))
      const [said, length] = [damaged.skippedSeconds, whole.pcm.length / whole.sampleRateHz]
      expect(said).toBeLessThanOrEqual(costOf(name))
      // Opus and Vorbis decode nearly any bytes.
      if (!/opus|vorbis/.test(name)) expect(said).toBeGreaterThan(0)
      expect(Math.abs(damaged.pcm.length / damaged.sampleRateHz - length)).toBeLessThan(0.1)
      expect(Math.abs(lateMs(whole, damaged, 10) ?? 999)).toBeLessThan(70)
      expect(lateMs(whole, damaged, 2)).toBe(0)
    }
  })

  test.each(['flac', 'ogg opus', 'ogg vorbis', 'webm opus', 'webm opus, streamed', 'webm vorbis', 'm4a in fragments'])(
    '%s keeps its time where bytes are missing',
    async (name) => {
      const whole = await wholeOf(name)
      const damaged = await heard(without(bytesOf(name), middle(bytesOf(name)), 3000))
      expect(damaged.skippedSeconds).toBeGreaterThan(0.1)
      expect(Math.abs(lateMs(whole, damaged, 10.5) ?? 999)).toBeLessThan(5)
    },
  )

  test('keeps its time to the sample where the container has the position', async () => {
    for (const name of ['flac', 'ogg opus', 'ogg vorbis', 'adts', 'mp3']) {
      const whole = await wholeOf(name)
      const damaged = await heard(noisy(bytesOf(name), middle(bytesOf(name)), 20))
      expect([name, damaged.pcm.length]).toEqual([name, whole.pcm.length])
      expect([name, lateMs(whole, damaged, 10.5)]).toEqual([name, 0])
    }
  })

  test('gives silence, not noise', async () => {
    const damaged = await heard(noisy(bytesOf('flac'), middle(bytesOf('flac')), 20))
    const first = damaged.pcm.findIndex((_, i) => damaged.pcm.subarray(i, i + 4096).every((sample) => sample === 0))
    expect(first / damaged.sampleRateHz).toBeGreaterThan(4)
    expect(damaged.skippedSeconds).toBeCloseTo(4096 / rateHz, 6)
  })

  test('costs only the packet, where the page of Ogg can still be taken apart', async () => {
    const whole = await wholeOf('ogg opus')
    const damaged = await heard(noisy(bytesOf('ogg opus'), middle(bytesOf('ogg opus')), 1))
    expect([damaged.skippedSeconds, damaged.pcm.length]).toEqual([0, whole.pcm.length])
    const unlike = damaged.pcm.filter((sample, i) => Math.abs(sample - whole.pcm[i]!) > 0.05).length
    expect(unlike / damaged.sampleRateHz).toBeLessThan(0.2)
  })
})

describe('cut short', () => {
  test.each([...files.keys()])('%s is decoded as far as it goes', async (name) => {
    const cut = await heard(bytesOf(name).subarray(0, Math.floor(bytesOf(name).length * 0.7)))
    const length = cut.pcm.length / cut.sampleRateHz
    expect(length).toBeGreaterThan(seconds * 0.7 - 1.6)
    expect(length).toBeLessThan(seconds * 0.7 + 0.4)
    expect(lateMs(await wholeOf(name), cut, 5)).toBe(0)
  })
})

describe('surrounded by something else', () => {
  const noise = noisy(new Uint8Array(5000), 0, 5000)

  test.each(['mp3', 'adts', 'flac', 'ogg opus', 'ogg vorbis'])('%s is found after noise', async (name) => {
    const found = await heard(concatBytes([noise, bytesOf(name)]))
    expect(found).toEqual(await wholeOf(name))
  })

  test.each(compressed.concat('wav pcm-s16'))('%s is found after a tag with a large picture', async (name) => {
    expect((await heard(concatBytes([id3(1_500_000), bytesOf(name)]))).pcm).toEqual((await wholeOf(name)).pcm)
  })

  test.each(['mp3', 'adts', 'flac', 'ogg opus', 'ogg vorbis', 'm4a', 'webm opus'])(
    '%s ends where noise begins',
    async (name) => {
      const whole = await wholeOf(name)
      const { pcm: samples, skippedSeconds } = await heard(concatBytes([bytesOf(name), noise]))
      expect(samples.length - whole.pcm.length).toBe(0)
      expect(skippedSeconds).toBe(0)
    },
  )

  test('tags in the middle of a joined MP3 take no time', async () => {
    const [one, two] = [await encodedFile('mp3', buzz(2, rateHz)), await encodedFile('mp3', buzz(2, rateHz, 3))]
    const joined = await heard(concatBytes([one, id3(50_000), two]))
    expect(joined.skippedSeconds).toBeLessThan(0.05)
    expect(joined.pcm.length / rateHz).toBeLessThan(4.2)
  })
})

/** How much sound the whole file has, and how much was decoded of the damaged one. */
async function compared(name: string, damaged: Uint8Array) {
  const [whole, found] = [await wholeOf(name), await heard(damaged)]
  const lengthSeconds = ({ pcm: samples, sampleRateHz }: Heard) => samples.length / sampleRateHz
  return { said: found.skippedSeconds, lessSeconds: lengthSeconds(whole) - lengthSeconds(found), whole, found }
}

test('long packets are not gaps: a frame of FLAC at 16 kHz lasts 256 ms', async () => {
  const packet = (at: number) => ({ data: new Uint8Array(1), timestamp: at * 0.256, duration: at === 3 ? 0 : 0.256 })
  async function* packets() {
    for (const at of [0, 1, 2, 3, 4, 9]) yield packet(at)
  }
  const missing = []
  for await (const { missingBefore } of withGaps(packets())) missing.push(missingBefore ?? 0)
  expect(missing.map((gap) => Math.round(1000 * gap))).toEqual([0, 0, 0, 0, 0, 1024])
})

describe('unreachable sound is reported', () => {
  const flac = bytesOf('flac')
  const late = Math.floor(flac.length * 0.7)
  /** More than a frame, so that it includes a header. */
  const lost = noisy(flac, late, 7000)

  test('after a frame of FLAC without a header', async () => {
    const { said, lessSeconds } = await compared('flac', lost)
    expect(Math.abs(said - seconds * 0.3)).toBeLessThan(0.7)
    expect(Math.abs(lessSeconds)).toBeLessThan(0.3)
    expect((await failureOf(decodeFile(lost.slice(), 60))).message).toContain('is damaged')
  })

  test('to the sample where FLAC states its length', async () => {
    const told = lost.slice()
    // STREAMINFO: the last 32 of 36 bits.
    new DataView(told.buffer).setUint32(8 + 14, seconds * rateHz)
    const { lessSeconds, whole, found } = await compared('flac', told)
    expect(Math.abs(lessSeconds * rateHz)).toBeLessThanOrEqual(1)
    expect(lateMs(whole, found, 8)).toBe(0)
  })

  test('a frame of FLAC that lost bytes does not silence the frames after it', async () => {
    const { said, lessSeconds, whole, found } = await compared('flac', without(flac, 212_704, 900))
    expect(said).toBeCloseTo(4096 / rateHz, 6)
    expect([lessSeconds, lateMs(whole, found, 10)]).toEqual([0, 0])
  })

  test.each(['ogg opus', 'ogg vorbis', 'webm opus', 'm4a in fragments'])('%s without its end', async (name) => {
    const bytes = bytesOf(name)
    const { said, lessSeconds } = await compared(name, noisy(bytes, Math.floor(bytes.length * 0.96), 2300))
    expect(said).toBeGreaterThan(0.1)
    expect(Math.abs(lessSeconds)).toBeLessThan(0.3)
  })

  test.each(['flac', 'ogg opus', 'ogg vorbis', 'webm opus', 'm4a in fragments', 'mkv aac'])(
    '%s, overwritten at random, keeps its length or is refused',
    async (name) => {
      const bytes = bytesOf(name)
      await forEachSeed(bytes.length > 90_000 && name !== 'flac' ? 1 : 3, async (random) => {
        const at = random.whole(Math.floor(bytes.length * 0.3), bytes.length - 1)
        const size = Math.min(random.pick([1, 20, 200, 900, 4000]), bytes.length - at)
        const harm = new Uint8Array(size)
        if (random.chance(0.5)) random.fill(harm)
        const damaged = new Uint8Array(bytes)
        damaged.set(harm, at)
        const result = await compared(name, damaged).catch((reason: unknown) => reason)
        if (result instanceof Error) return expect([name, result]).toEqual([name, expect.any(Refusal)])
        expect((result as Awaited<ReturnType<typeof compared>>).lessSeconds).toBeLessThan(0.5)
      })
    },
  )
})

describe('refused', () => {
  test.each(['mp3', 'adts', 'flac', 'ogg opus', 'ogg vorbis', 'mkv aac'])('%s that is mostly damaged', async (name) => {
    const bytes = bytesOf(name)
    const from = Math.floor(bytes.length / 4)
    const damaged = noisy(bytes, from, bytes.length - from - 4000)
    const outcome = await heard(damaged).catch((reason: unknown) => reason)
    // Without an intact end, the file cannot be distinguished from one that is cut short.
    if (outcome instanceof Error) expect(outcome).toBeInstanceOf(Refusal)
    else expect((outcome as Heard).pcm.length / (outcome as Heard).sampleRateHz).toBeLessThan(seconds * 0.4)
  })

  test('a voice is never made from a damaged clip', async () => {
    const short = await encodedFile('flac', buzz(4, rateHz))
    expect((await decodeFile(short.slice(), 60)).pcm.length).toBe(4 * rateHz)
    const error = await failureOf(decodeFile(noisy(short, middle(short), 50), 60))
    expect(error.message).toMatch(/^The audio \(flac in FLAC\) is damaged: 0\.\d s of it cannot be decoded\.$/)
  })
})

/** One of the kinds of damage that happen to files. */
function harmed(bytes: Uint8Array, random: Seeded): Uint8Array {
  const at = random.whole(0, bytes.length - 1)
  const size = Math.min(random.pick([1, 8, 60, 400, 2000]), bytes.length - at)
  const noise = new Uint8Array(size)
  if (random.chance(0.7)) random.fill(noise)
  switch (random.whole(0, 5)) {
    case 0:
      return without(bytes, at, size)
    case 1:
      return bytes.subarray(0, at)
    case 2:
      return concatBytes([bytes.subarray(0, at), noise, bytes.subarray(at)])
    case 3:
      return concatBytes([bytes.subarray(0, at), bytes.subarray(Math.max(0, at - size))])
    default: {
      const copy = new Uint8Array(bytes)
      copy.set(noise, at)
      return copy
    }
  }
}

const shortFiles = [...(await everyContainer(buzz(1, rateHz)))].filter(([name]) => !/^wav (?!pcm-s16)/.test(name))

test.each(shortFiles)(
  '%s, damaged at random, gives sound samples or a refusal',
  async (name, { bytes, codec }) => {
    await forEachSeed(codec === 'aac' ? 1 : 6, async (random) => {
      let file: Uint8Array = bytes
      for (let harms = random.whole(1, 3); harms > 0 && file.length > 0; harms--) file = harmed(file, random)
      const outcome = await heard(file).catch((reason: unknown) => reason)
      if (outcome instanceof Error) return expect([name, outcome]).toEqual([name, expect.any(Refusal)])
      const { pcm: samples, sampleRateHz } = outcome as Heard
      expect(samples.length).toBeGreaterThan(0)
      expect(samples.length).toBeLessThan(10 * sampleRateHz)
      expect(toS16(samples).length).toBe(samples.length)
    })
  },
  60_000,
)
