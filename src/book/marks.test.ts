/** Chapter marks as an independent reader of each format finds them. */
import { expect, test } from 'bun:test'
import { id3Tag } from './id3.ts'
import { fewEnough, type Mark } from './marks.ts'
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

test('marks go into the movie box beside the existing tags, and a long title is cut after a whole letter', () => {
  const box = (name: string, content: Uint8Array = new Uint8Array(0)) => {
    const head = Buffer.alloc(8)
    head.writeUInt32BE(8 + content.length)
    head.write(name, 4)
    return Buffer.concat([head, content])
  }
  const long = [{ title: 'é'.repeat(200), startMs: 1500, endMs: 2000 }]
  const moov = box('moov', Buffer.concat([box('mvhd'), box('udta', box('meta')), box('trak')]))
  const made = Buffer.from(withChapters(moov, long))
  expect(made.readUInt32BE(0)).toBe(made.length)
  const udta = made.indexOf('udta') - 4
  expect(made.subarray(udta + 8, udta + 16)).toEqual(box('meta'))
  const chpl = made.indexOf('chpl') - 4
  expect(made.readUInt32BE(udta)).toBe(8 + 8 + made.readUInt32BE(chpl))
  expect(made.readBigUInt64BE(chpl + 17)).toBe(15_000_000n)
  expect(made[chpl + 25]).toBe(254)
  expect(made.subarray(chpl + 26, chpl + 26 + 254).toString()).toBe('é'.repeat(127))
  expect(made.subarray(-8)).toEqual(box('trak'))
  const without = Buffer.from(withChapters(box('moov', box('mvhd')), marks(2)))
  expect(without.readUInt32BE(0)).toBe(without.length)
})
