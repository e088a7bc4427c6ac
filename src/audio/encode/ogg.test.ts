import { describe, expect, test } from 'bun:test'
import { libopusPath } from './libopus.ts'
import { opusCodec } from './opus.ts'
import { oggFirst, oggLast, oggPage } from './ogg.ts'
import { concatBytes } from '../pcm.ts'
import { buzz } from './readback.fixture.ts'

const library = libopusPath()

interface Page {
  flags: number
  granule: number
  serial: number
  sequence: number
  segments: number[]
  body: Uint8Array
}

/** Reads pages with its own bitwise checksum. @throws Error at anything that is not a page */
function readPages(bytes: Uint8Array): Page[] {
  const pages: Page[] = []
  for (let at = 0; at < bytes.length;) {
    const view = new DataView(bytes.buffer, bytes.byteOffset + at)
    if (view.getUint32(0) !== 0x4f676753 || view.getUint8(4) !== 0) throw new Error(`no page at ${at}`)
    const segments = [...bytes.subarray(at + 27, at + 27 + view.getUint8(26))]
    const start = 27 + segments.length
    const size = start + segments.reduce((sum, segment) => sum + segment, 0)
    const page = bytes.slice(at, at + size)
    if (slowChecksum(page.fill(0, 22, 26)) !== view.getUint32(22, true)) throw new Error(`checksum at ${at}`)
    pages.push({
      flags: view.getUint8(5),
      granule: Number(view.getBigInt64(6, true)),
      serial: view.getUint32(14, true),
      sequence: view.getUint32(18, true),
      segments,
      body: page.slice(start),
    })
    at += size
  }
  return pages
}

function slowChecksum(bytes: Uint8Array): number {
  let crc = 0n
  for (const byte of bytes) {
    crc ^= BigInt(byte) << 24n
    for (let bit = 0; bit < 8; bit++) crc = (crc << 1n) ^ (crc & 0x80000000n ? 0x104c11db7n : 0n)
  }
  return Number(crc)
}

describe('page', () => {
  const page = { serial: 0xfedcba98, sequence: 7, granule: 2 ** 40 + 3, flags: oggLast }

  test.each([
    [0, [0]],
    [1, [1]],
    [254, [254]],
    [255, [255, 0]],
    [256, [255, 1]],
    [510, [255, 255, 0]],
  ])('a packet of %d bytes', (size, segments) => {
    const packet = new Uint8Array(size).map((_, i) => i)
    const read = readPages(oggPage({ ...page, packets: [packet, packet] }))
    expect(read).toEqual([{ ...page, segments: [...segments, ...segments], body: concatBytes([packet, packet]) }])
  })

  test('refuses more than fits into one page', () => {
    const packets = Array.from({ length: 128 }, () => new Uint8Array(255))
    expect(() => oggPage({ ...page, packets })).toThrow('256 segments')
  })
})

describe('opus stream', () => {
  test('two header pages, one page for each call, and granules that end with the speech', async () => {
    const codec = opusCodec(24000, library)
    const pcm = buzz(2.51, 24000)
    const parts = []
    for (let at = 0; at < pcm.length; at += 4800) parts.push(codec.encode(pcm.subarray(at, at + 4800)))
    const calls = parts.length
    parts.push(codec.finish())
    const pages = readPages(concatBytes(parts))
    expect(pages.length).toBe(2 + calls + 1)
    expect(pages.map((page) => page.sequence)).toEqual(pages.map((_, i) => i))
    expect(new Set(pages.map((page) => page.serial)).size).toBe(1)
    expect(pages.map((page) => page.flags)).toEqual([oggFirst, ...pages.slice(2).map(() => 0), oggLast])
    expect(Buffer.from(pages[0]!.body.subarray(0, 8)).toString()).toBe('OpusHead')
    expect(Buffer.from(pages[1]!.body.subarray(0, 8)).toString()).toBe('OpusTags')
    const preSkip = new DataView(pages[0]!.body.buffer).getUint16(10, true)
    expect(preSkip).toBeGreaterThan(0)
    const granules = pages.slice(2).map((page) => page.granule)
    expect(granules.at(-1)).toBe(preSkip + pcm.length * 2)
    for (let i = 1; i < granules.length; i++) expect(granules[i]!).toBeGreaterThan(granules[i - 1]!)
  })

  test('a large amount at once is cut into pages', async () => {
    const codec = opusCodec(24000, library)
    const pages = readPages(concatBytes([codec.encode(buzz(10, 24000)), codec.finish()]))
    expect(pages.length).toBe(2 + 10 + 1)
  })

  test('a stream that has ended takes no more sound, and may be closed again', () => {
    const codec = opusCodec(24000, library)
    codec.finish()
    codec.close()
    expect(() => codec.encode(buzz(0.2, 24000))).toThrow('libopus: the encoder was freed')
  })

  test('other speech has another serial number, so that replies can be joined', async () => {
    const serials = []
    for (const seed of [1, 2, 1]) {
      const codec = opusCodec(24000, library)
      serials.push(readPages(codec.encode(buzz(0.2, 24000, seed)))[0]!.serial)
      codec.close()
    }
    expect(serials[0]).not.toBe(serials[1])
    expect(serials[0]).toBe(serials[2])
  })
})
