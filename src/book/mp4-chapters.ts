/**
 * Chapter marks of an MP4, in both of the ways that players read: the box `udta/chpl`, which Nero introduced, and a
 * track of titles that the sound refers to, for the players of Apple. The movie box must be the last one of the file:
 * the titles go before it, so that no offset to the sound changes. Sources: ISO/IEC 14496-12 and the QuickTime File
 * Format Specification, "Chapter Lists".
 */
import { box, childrenOf, fields } from './mp4-boxes.ts'
import type { Mark } from './marks.ts'
import { titleTrack } from './mp4-title-track.ts'

/** Chapter time units in a second. */
const ticks = 10_000_000
const boxHeadBytes = 8

/**
 * @param moov the whole box, with one track @param chapters at least one, at most `maxMarks`
 * @param position of the box in its file
 * @returns what goes there instead of it
 */
export function withChapters(moov: Uint8Array, chapters: readonly Mark[], position: number): Uint8Array<ArrayBuffer> {
  const titles = chapters.map(({ title }) => titleSample(title))
  const data = box('mdat', titles)
  const children = childrenOf(moov)
  const mvhd = children.find(({ name }) => name === 'mvhd')
  if (mvhd === undefined) throw new Error('The movie box has no header.')
  const { header, trackId, timescale } = withOneTrackMore(mvhd.whole)
  const first = children.findIndex(({ name }) => name === 'trak')
  const parts = children.map(({ name, whole }, at) => {
    if (name === 'mvhd') return header
    if (at === first)
      return box('trak', [whole.subarray(boxHeadBytes), box('tref', [box('chap', [fields([4, trackId])])])])
    return name === 'udta' ? box('udta', [whole.subarray(boxHeadBytes), chapterBox(chapters)]) : whole
  })
  const track = titleTrack({
    trackId,
    timescale,
    chapters,
    sizes: titles.map(({ length }) => length),
    position: position + boxHeadBytes,
  })
  const tags = children.some(({ name }) => name === 'udta') ? [] : [box('udta', [chapterBox(chapters)])]
  const movie = box('moov', [...parts, track, ...tags])
  const whole = new Uint8Array(data.length + movie.length)
  whole.set(data)
  whole.set(movie, data.length)
  return whole
}

/** Its last field is the id of the next track. */
function withOneTrackMore(mvhd: Uint8Array) {
  const header = mvhd.slice()
  const view = new DataView(header.buffer)
  const isLong = header[boxHeadBytes] === 1
  const trackId = view.getUint32(header.length - 4)
  view.setUint32(header.length - 4, trackId + 1)
  return { header, trackId, timescale: view.getUint32(isLong ? 28 : 20) }
}

const utf8 = new TextEncoder()
const maxTitleBytes = 255

/** Cut after a whole letter. */
function bytesOf(title: string): Uint8Array {
  const bytes = new Uint8Array(maxTitleBytes)
  return bytes.subarray(0, utf8.encodeInto(title, bytes).written)
}

/** Its length, the words, and that they are UTF-8. */
function titleSample(title: string): Uint8Array {
  const words = bytesOf(title)
  return new Uint8Array([...fields([2, words.length]), ...words, ...box('encd', [fields([4, 0x100])])])
}

/** Version 1: a reserved word, a count in one byte, then times and titles. */
function chapterBox(chapters: readonly Mark[]): Uint8Array<ArrayBuffer> {
  const entries = chapters.map(({ title, startMs }) => {
    const words = bytesOf(title)
    return new Uint8Array([...fields([8, Math.round((startMs / 1000) * ticks)], [1, words.length]), ...words])
  })
  return box('chpl', [fields([4, 0x0100_0000], [4, 0], [1, chapters.length]), ...entries])
}
