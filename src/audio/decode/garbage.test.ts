import { beforeAll, expect, test } from 'bun:test'
import { Random } from '../../domain/random.ts'
import { everyContainer, type MadeFile } from './containers.fixture.ts'
import { garbageRefusal, lookedAtBytes } from './garbage.ts'

let files: Map<string, MadeFile>
beforeAll(async () => {
  files = await everyContainer(Int16Array.from({ length: 48_000 }, (_, i) => 8000 * Math.sin(i / 20)))
}, 60_000)

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'))

test('no file of any container or codec is mistaken for garbage, whether whole, cut short or behind leftovers', () => {
  expect(files.size).toBeGreaterThan(10)
  for (const [name, { bytes }] of files) {
    const cuts = [bytes, bytes.subarray(0, 2000), bytes.subarray(0, lookedAtBytes)]
    expect([name, ...cuts.map((cut) => garbageRefusal(cut.subarray(0, lookedAtBytes)))]).toEqual([
      name,
      null,
      null,
      null,
    ])
  }
  const streams = [...files.values()].filter(({ container }) => ['mp3', 'adts', 'flac', 'ogg'].includes(container))
  expect(streams.length).toBeGreaterThan(3)
  for (const { bytes, container } of streams) {
    const later = Buffer.concat([new Uint8Array(700).fill(7), bytes.subarray(0, 30_000)])
    expect([container, garbageRefusal(later)]).toEqual([container, null])
  }
})

test.each([
  ['nothing', '', 'The file is empty.'],
  ['text', 'To whom it may concern. '.repeat(100), 'This is text, not audio.'],
  ['a document', `%PDF-1.7\n${'x'.repeat(1000)}`, 'This is a PDF document, not audio.'],
  ['an archive', `PK\x03\x04${'\0'.repeat(1000)}`, 'This is a ZIP archive, not audio.'],
  ['zeros', '\0'.repeat(4096), 'The file is not in a known audio format.'],
])("%s is refused with a decoder's message", (_, text, words) => {
  expect(garbageRefusal(bytesOf(text))?.message).toStartWith(words)
})

test('most noise is refused at once, because frames do not follow each other by accident', () => {
  const random = new Random(3)
  let refused = 0
  for (let i = 0; i < 200; i++) {
    const noise = Uint8Array.from({ length: 1000 }, () => Math.floor(256 * random.next()))
    if (garbageRefusal(noise) !== null) refused++
  }
  expect(refused).toBeGreaterThan(190)
})
