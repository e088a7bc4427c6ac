/** Files with false claims, other content, no end or damage: each is refused with its own message. */
import { afterAll, expect, spyOn, test } from 'bun:test'
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MynaError } from '../../domain/error.ts'
import { systemTimer } from '../../domain/time.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { forEachSeed } from '../../testing/seeded.ts'
import { encodedFile, everyContainer, wavFile } from './containers.fixture.ts'
import { MonoReader } from './mono.ts'
import { Refusal } from './refusal.ts'
import { type ClipBytes, clipInMemory, clipOnDisk } from './source.ts'
import { DecoderPool } from './decoder.ts'
import { oggPage, opusHead, opusTags } from '../encode/ogg.ts'
import { concatBytes, concatFloats, toS16 } from '../pcm.ts'
import { buzz } from '../encode/readback.fixture.ts'

const pool = new DecoderPool({ workers: 2, timer: systemTimer })
afterAll(() => pool.close())

const never = new AbortController().signal
const decode = (bytes: Uint8Array, maxSeconds = 60) => pool.decode(bytes, { maxSeconds }, never)

const failureOf = (bytes: Uint8Array, maxSeconds = 60): Promise<MynaError> =>
  decode(bytes, maxSeconds).then(
    () => {
      throw new Error('it was decoded')
    },
    (reason: unknown) => reason as MynaError,
  )

const text = (content: string): Buffer => Buffer.from(content, 'latin1')
const noise = (size: number): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(buzz(1, size).buffer, 0, size))
const floats = (...samples: number[]): Uint8Array => {
  const data = new Float32Array(24000)
  samples.forEach((sample, at) => (data[9000 + at] = sample))
  return wavFile({ tag: 3, bits: 32, data: new Uint8Array(data.buffer) })
}
const oggOf = (packet: Uint8Array) => oggPage({ serial: 1, sequence: 0, granule: 0, flags: 2, packets: [packet] })
const flac = await encodedFile('flac', buzz(1, 24000))
const alac = text('....ftypM4A ')

test.each<[string, Uint8Array, string]>([
  ['nothing', new Uint8Array(), 'is empty'],
  ['text', text('Call me Ishmael. Some years ago, never mind how long precisely.'), 'text, not audio'],
  ['text with a byte order mark', text('\xef\xbb\xbfname,age'), 'text, not audio'],
  ['a PDF', text('%PDF-1.7\n%\xb5\xb5'), 'a PDF document, not audio'],
  ['a program', await Bun.file('/proc/self/exe').slice(0, 5000).bytes(), 'a program (ELF), not audio'],
  ['an archive', text('PK\x03\x04\x14'), 'a ZIP archive, not audio'],
  ['a picture', text('\x89PNG\r\n\x1a\n'), 'a PNG picture, not audio'],
  ['zeros', new Uint8Array(4000), 'not in a known audio format'],
  ['noise', noise(5000), 'not in a known audio format'],
  ['CAF', text('caff\0\x01\0\0desc'), 'CAF is not supported'],
  ['AIFF', text('FORM\0\0\x10\0AIFFCOMM'), 'AIFF is not supported'],
  ['AMR', text('#!AMR\n'), 'AMR is not supported'],
  ['Windows Media', text('\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9'), 'Windows Media (ASF) is not supported'],
  ['FLAC in Ogg', oggOf(text('\x7fFLAC\x01\0\0\x01fLaC')), 'FLAC in Ogg is not supported'],
  ['Speex in Ogg', oggOf(text('Speex   1.2')), 'Speex in Ogg is not supported'],
  ['ADPCM', wavFile({ tag: 17, bits: 4, data: noise(1000) }), 'IMA ADPCM in WAV is not supported'],
  ['12-bit PCM', wavFile({ bits: 12, data: noise(1000) }), 'PCM of this bit depth in WAV is not supported'],
  ['a WAV header alone', text('RIFF\x24\0\0\0WAVEfmt '), 'starts like WAV but is damaged'],
  ['a FLAC header cut short', flac.slice(0, 20), 'damaged'],
  ['a FLAC header alone', flac.slice(0, 42), 'damaged'],
  ['an MP4 header alone', alac, 'starts like MP4 but is damaged'],
  ['WAV without samples', wavFile({ data: new Uint8Array() }), 'no samples'],
  ['NaN', floats(1, NaN, 1), 'not numbers'],
  ['infinities', floats(-Infinity), 'not numbers'],
  ['200 channels', wavFile({ channels: 200, data: noise(80_000) }), '200 channels; at most 8'],
  ['no channels', wavFile({ channels: 0, data: noise(1000) }), '0 channels'],
  ['a rate of 4 GHz', wavFile({ rateHz: 4e9, data: noise(1000) }), 'sample rate of 4000000000 Hz'],
  ['a rate of 0', wavFile({ rateHz: 0, data: noise(1000) }), 'sample rate of 0 Hz'],
])('%s', async (_, bytes, words) => {
  const error = await failureOf(bytes)
  expect(error).toBeInstanceOf(MynaError)
  expect([error.code, error.param]).toEqual(['clip_undecodable', 'file'])
  expect(error.message).toContain(words)
})

const shortFiles = await everyContainer(buzz(1, 24000))

test.each([
  ['first chunk', 12],
  ['samples in a chunk', 16],
])('four billion as the %s of an MP4 are not counted', async (_, at) => {
  const bytes = new Uint8Array(shortFiles.get('m4a')!.bytes)
  const name = Buffer.from(bytes.buffer).indexOf('stsc')
  new DataView(bytes.buffer).setUint32(name + at, 0xfffffff0)
  expect((await failureOf(bytes)).message).toBe('The file starts like MP4 but is damaged or cut short.')
})

test('a file that claims a gigabyte is read as far as it goes', async () => {
  const bytes = wavFile({ declaredBytes: 2 ** 30, data: new Uint8Array(48_000) })
  expect((await decode(bytes)).pcm.length).toBe(24_000)
})

test('floats beyond full scale are accepted as samples', async () => {
  expect(Math.max(...(await decode(floats(1e30))).pcm)).toBeGreaterThan(9e29)
})

test('hours of silence in a few bytes stop at the limit and leak no memory', async () => {
  // 20 ms of silence in the fewest bytes: fullband CELT, mono.
  const frame = Uint8Array.of(0xf8, 0xff, 0xfe)
  const pages = Array.from({ length: 600 }, (_, page) =>
    oggPage({
      serial: 1,
      sequence: page + 2,
      granule: (page + 1) * 200 * 960,
      flags: 0,
      packets: Array.from({ length: 200 }, () => frame),
    }),
  )
  const head = [opusHead(0, 48000), opusTags('x')].map((packet, sequence) =>
    oggPage({ serial: 1, sequence, granule: 0, flags: sequence === 0 ? 2 : 0, packets: [packet] }),
  )
  const opus = concatBytes([...head, ...pages])
  const silentFlac = await encodedFile('flac', new Int16Array(24000 * 600))
  expect(opus.length).toBeLessThan(1e6)
  expect(silentFlac.length).toBeLessThan(1e6)
  for (const bomb of [opus, silentFlac]) {
    const before = process.memoryUsage.rss()
    const error = await failureOf(bomb)
    expect([error.code, error.extras.max_seconds]).toEqual(['clip_too_long', 60])
    expect(Number(error.extras.duration_seconds)).toBeGreaterThanOrEqual(60)
    expect(process.memoryUsage.rss() - before).toBeLessThan(150e6)
  }
}, 20_000)

/** The codecs print the damage that they find. In their Worker the output is invisible. */
for (const name of ['log', 'warn', 'error'] as const) {
  const spy = spyOn(console, name).mockImplementation(() => {})
  afterAll(() => spy.mockRestore())
}

const folder = temporaryFolder()

/** Below: what a damaged file may do, in memory and on disk. It is refused, or it gives valid samples. */
async function survives(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  const path = join(folder, 'clip')
  writeFileSync(path, bytes)
  const descriptor = openSync(path, 'r')
  try {
    const onDisk = await outcomeOf(() => clipOnDisk(descriptor))
    expect(onDisk).toEqual(await outcomeOf(() => clipInMemory(bytes)))
  } finally {
    closeSync(descriptor)
  }
}

async function outcomeOf(clip: () => ClipBytes): Promise<string> {
  try {
    const reader = await MonoReader.open(clip(), 5)
    const stretches: Float32Array[] = []
    for await (const stretch of reader.read()) stretches.push(stretch)
    const pcm = concatFloats(stretches)
    expect(pcm.length).toBeGreaterThan(0)
    expect(pcm.length).toBeLessThanOrEqual(5 * reader.sampleRateHz)
    expect(toS16(pcm).length).toBe(pcm.length)
    return `${Bun.hash(pcm.buffer)}`
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return error.message
  }
}

test('files of random bytes, some with the first bytes of real files', async () => {
  const heads = [...(await everyContainer(buzz(0.2, 24000))).values()].map(({ bytes }) => bytes)
  await forEachSeed(50, async (random) => {
    const bytes = new Uint8Array(random.whole(0, 3000))
    random.fill(bytes)
    if (random.chance(0.7)) bytes.set(random.pick(heads).subarray(0, Math.min(bytes.length, random.whole(4, 200))))
    await survives(bytes)
  })
}, 30_000)

test('real files with flipped bits', async () => {
  const files = [...(await everyContainer(buzz(0.3, 24000))).values()]
  await forEachSeed(1, async (random) => {
    for (const file of files) {
      const bytes = file.bytes.slice()
      for (let flips = random.whole(1, 12); flips > 0; flips--) {
        const among = random.chance(0.5) ? Math.min(300, bytes.length) : bytes.length
        bytes[random.whole(0, among - 1)]! ^= 1 << random.whole(0, 7)
      }
      await survives(bytes)
    }
  })
}, 60_000)
