/**
 * The track of an MP4 whose samples are the titles of its chapters. It is disabled, so that no player shows it as
 * subtitles. Source: QuickTime File Format Specification, "Text Media" and "Base Media Information Headers".
 */
import type { Mark } from './marks.ts'
import { box, fields } from './mp4-boxes.ts'

interface TitleTrack {
  trackId: number
  /** Of the movie, in a second. */
  timescale: number
  /** In order, without gaps, the first at 0. */
  chapters: readonly Mark[]
  /** Of the samples, in bytes. */
  sizes: readonly number[]
  /** Of the first sample in the file; the others follow. */
  position: number
}

/** Of this track's own times. */
const ticks = 1000

export function titleTrack({ trackId, timescale, chapters, sizes, position }: TitleTrack): Uint8Array<ArrayBuffer> {
  const starts = chapters.map(({ startMs }) => Math.round(startMs))
  const endMs = Math.round(chapters.at(-1)?.endMs ?? 0)
  const lengths = starts.map((start, at) => (starts[at + 1] ?? endMs) - start)
  const count = chapters.length
  const tkhd = box('tkhd', [
    // Version and flags (none: disabled), two times, the id, a reserved word, the duration.
    fields([4, 0], [4, 0], [4, 0], [4, trackId], [4, 0], [4, Math.round((endMs / 1000) * timescale)]),
    // Two reserved words, layer, group, volume, a reserved half word, the matrix, width and height.
    fields([8, 0], [8, 0], ...matrix, [4, 0], [4, 0]),
  ])
  const stbl = box('stbl', [
    box('stsd', [fields([4, 0], [4, 1]), textDescription]),
    box('stts', [fields([4, 0], [4, count], ...lengths.flatMap((length) => [of4(1), of4(length)]))]),
    box('stsc', [fields([4, 0], [4, 1], [4, 1], [4, count], [4, 1])]),
    box('stsz', [fields([4, 0], [4, 0], [4, count], ...sizes.map(of4))]),
    box('co64', [fields([4, 0], [4, 1], [8, position])]),
  ])
  const minf = box('minf', [
    box('gmhd', [gmin, box('text', [fields(...matrix)])]),
    // The samples are in this very file.
    box('dinf', [box('dref', [fields([4, 0], [4, 1]), box('url ', [fields([4, 1])])])]),
    stbl,
  ])
  const mdhd = box('mdhd', [fields([4, 0], [4, 0], [4, 0], [4, ticks], [4, endMs], [2, undetermined], [2, 0])])
  return box('trak', [tkhd, box('mdia', [mdhd, textMedia, minf])])
}

const of4 = (value: number): readonly [bytes: number, value: number] => [4, value]

/** Nothing is turned or moved. */
const matrix = [0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000].map(of4)

/** The language `und`, five bits a letter. */
const undetermined = 0x55c4

const textMedia = box('hdlr', [
  fields([4, 0], [4, 0]),
  new TextEncoder().encode('text'),
  fields([8, 0], [4, 0], [1, 0]),
])

/** Graphics mode "dither copy", its colour, balance, a reserved half word. */
const gmin = box('gmin', [fields([4, 0], [2, 0x40], [2, 0x8000], [2, 0x8000], [2, 0x8000], [2, 0], [2, 0])])

/** A reserved part and the data's index; flags, centred, background; box, reserved; font and face; colour; no name. */
const textDescription = box('text', [
  fields([6, 0], [2, 1], [4, 0], [4, 1], [6, 0], [8, 0], [8, 0], [2, 0], [2, 0], [1, 0], [2, 0], [6, 0], [1, 0]),
])
