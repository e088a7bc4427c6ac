/**
 * Chapter marks of an MP3: a tag with a CHAP frame for each chapter and their CTOC, before the first frame of sound.
 * Its size depends only on the titles, so that room can be reserved before the times are known. Source: ID3v2.4.0
 * structure (4, 6.2) and "ID3v2 Chapter Frame Addendum" 1.0.
 */
import type { Mark, Marks } from './marks.ts'

/** In order, without gaps; at most `maxMarks`. */
export function id3Tag({ title, author, chapters }: Marks): Uint8Array<ArrayBuffer> {
  const frames = [
    ...(title === null ? [] : [textFrame('TIT2', title), textFrame('TALB', title)]),
    ...(author === null ? [] : [textFrame('TPE1', author)]),
    textFrame('TCON', 'Audiobook'),
    contents(chapters),
    ...chapters.map((chapter, index) => chapterFrame(chapter, index)),
  ]
  const body = joined(frames)
  return joined([new Uint8Array([0x49, 0x44, 0x33, 4, 0, 0, ...synchsafe(body.length)]), body])
}

const utf8 = new TextEncoder()

/** 28 bits, 7 in each byte. */
const synchsafe = (size: number): number[] => [21, 14, 7, 0].map((shift) => (size >> shift) & 0x7f)

const frame = (name: string, content: Uint8Array): Uint8Array<ArrayBuffer> =>
  joined([utf8.encode(name), new Uint8Array([...synchsafe(content.length), 0, 0]), content])

/** 3: UTF-8. */
const textFrame = (name: string, text: string): Uint8Array => frame(name, new Uint8Array([3, ...utf8.encode(text)]))

const elementId = (index: number): Uint8Array => utf8.encode(`ch${index}\0`)

/** Flags: top level, ordered. */
const contents = (chapters: readonly Mark[]): Uint8Array =>
  frame(
    'CTOC',
    joined([utf8.encode('toc\0'), new Uint8Array([3, chapters.length]), ...chapters.map((_, at) => elementId(at))]),
  )

function chapterFrame({ title, startMs, endMs }: Mark, index: number): Uint8Array {
  const times = new DataView(new ArrayBuffer(16))
  times.setUint32(0, Math.round(startMs))
  times.setUint32(4, Math.round(endMs))
  // Byte offsets: unused, because the times count.
  times.setUint32(8, 0xffffffff)
  times.setUint32(12, 0xffffffff)
  return frame('CHAP', joined([elementId(index), new Uint8Array(times.buffer), textFrame('TIT2', title)]))
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
