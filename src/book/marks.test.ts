/** Chapter marks as an independent reader of each format finds them. */
import { expect, test } from 'bun:test'
import { id3Tag } from './id3.ts'
import { fewEnough, type Mark } from './marks.ts'
import { type Box, box, childrenOf, fields } from './mp4-boxes.ts'
import { withChapters } from './mp4-chapters.ts'

const marks = (count: number): Mark[] =>
  Array.from({ length: count }, (_, at) => ({ title: `Nº ${at}`, startMs: at * 1000, endMs: (at + 1) * 1000 }))

test('the size of an ID3 tag depends only on the titles, so that room can be reserved for it', () => {
  const titles = { title: 'Vögel', author: null, chapters: marks(3) }
  const empty = { ...titles, chapters: titles.chapters.map((mark) => ({ ...mark, startMs: 0, endMs: 0 })) }
  expect(id3Tag(titles).length).toBe(id3Tag(empty).length)
  expect(id3Tag(titles)).not.toEqual(id3Tag(empty))
})

test('more chapters than a byte can count share marks, and the time line keeps all of them', () => {
  expect(fewEnough(marks(255)).length).toBe(255)
  for (const count of [256, 511, 1000, 2000]) {
    const few = fewEnough(marks(count))
    expect(few.length).toBeLessThanOrEqual(255)
    expect([few[0]?.startMs, few.at(-1)?.endMs]).toEqual([0, count * 1000])
    for (const [at, mark] of few.entries()) expect(mark.startMs).toBe(few[at - 1]?.endMs ?? 0)
  }
  expect(id3Tag({ title: null, author: null, chapters: fewEnough(marks(2000)) }).length).toBeLessThan(20_000)
})

const movie = (...children: Uint8Array[]) =>
  box('moov', [box('mvhd', [new Uint8Array(96), fields([4, 2])]), ...children])
const bytesOf = (found: Box | undefined) => Buffer.from(found?.whole ?? [])

test('marks go into the movie box beside the existing tags, and a long title is cut after a whole letter', () => {
  const long = [{ title: 'é'.repeat(200), startMs: 1500, endMs: 2000 }]
  const made = withChapters(movie(box('udta', [box('meta', [])]), box('trak', [])), long, 1000)
  const [titles, moov] = childrenOf(box('file', [made]))
  expect([titles?.name, moov?.name]).toEqual(['mdat', 'moov'])
  expect(childrenOf(moov!.whole).map(({ name }) => name)).toEqual(['mvhd', 'udta', 'trak', 'trak'])
  const [meta, chpl] = childrenOf(childrenOf(moov!.whole)[1]!.whole)
  expect([meta?.name, chpl?.name]).toEqual(['meta', 'chpl'])
  const words = 'é'.repeat(127)
  expect(bytesOf(chpl).readBigUInt64BE(17)).toBe(15_000_000n)
  expect([bytesOf(chpl)[25], bytesOf(chpl).subarray(26).toString()]).toEqual([254, words])
  expect(bytesOf(titles).readUInt16BE(8)).toBe(254)
  expect(bytesOf(titles).subarray(10, 264).toString()).toBe(words)
  const without = childrenOf(box('file', [withChapters(movie(box('trak', [])), marks(2), 0)]))
  expect(childrenOf(without[1]!.whole).map(({ name }) => name)).toEqual(['mvhd', 'trak', 'trak', 'udta'])
})

test('the sound refers to a track of titles, each as long as its chapter', () => {
  const made = withChapters(movie(box('trak', [])), marks(3), 70_000)
  const [titles, moov] = childrenOf(box('file', [made]))
  const [mvhd, sound, track] = childrenOf(moov!.whole)
  expect(bytesOf(mvhd).readUInt32BE(mvhd!.whole.length - 4)).toBe(3)
  const reference = childrenOf(childrenOf(sound!.whole)[0]!.whole)[0]
  expect([reference?.name, bytesOf(reference).readUInt32BE(8)]).toEqual(['chap', 2])
  const inside = (from: Uint8Array, ...path: string[]): Buffer =>
    path.reduce((at, name) => bytesOf(childrenOf(at).find((child) => child.name === name)), Buffer.from(from))
  expect(inside(track!.whole, 'tkhd').readUInt32BE(20)).toBe(2)
  const table = (name: string) => inside(track!.whole, 'mdia', 'minf', 'stbl', name)
  const lengths = Array.from({ length: 3 }, (_, at) => table('stts').readUInt32BE(20 + 8 * at))
  expect(lengths).toEqual([1000, 1000, 1000])
  expect(table('co64').readBigUInt64BE(16)).toBe(70_008n)
  const sizes = Array.from({ length: 3 }, (_, at) => table('stsz').readUInt32BE(20 + 4 * at))
  expect(sizes.reduce((sum, size) => sum + size, 8)).toBe(titles!.whole.length)
  expect(
    bytesOf(titles)
      .subarray(8 + sizes[0]! + 2, 8 + sizes[0]! + 7)
      .toString(),
  ).toBe('Nº 1')
})
