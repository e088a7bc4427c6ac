/**
 * Chapter marks of an MP4: the box `udta/chpl`, which Nero introduced and players read, inside the movie box. The movie
 * box must be the last one of the file, so that no offset to the sound changes.
 */
import type { Mark } from './marks.ts'

const headBytes = 8
/** Chapter time units in a second. */
const ticks = 10_000_000

/** @param moov the whole box @param chapters at most `maxMarks` @returns the same box with the marks in it */
export function withChapters(moov: Uint8Array, chapters: readonly Mark[]): Uint8Array<ArrayBuffer> {
  const marks = chapterBox(chapters)
  const there = childOf(moov, 'udta')
  const from = there ?? moov.length
  const udta = box(
    'udta',
    there === null ? [marks] : [moov.subarray(there + headBytes, there + sizeAt(moov, there)), marks],
  )
  const rest = there === null ? new Uint8Array(0) : moov.subarray(there + sizeAt(moov, there))
  return box('moov', [moov.subarray(headBytes, from), udta, rest])
}

/** Version 1: a reserved word, a count in one byte, then times and titles. */
function chapterBox(chapters: readonly Mark[]): Uint8Array<ArrayBuffer> {
  const entries = chapters.map(({ title, startMs }) => {
    const entry = new Uint8Array(9 + 255)
    new DataView(entry.buffer).setBigUint64(0, BigInt(Math.round((startMs / 1000) * ticks)))
    const { written } = new TextEncoder().encodeInto(title, entry.subarray(9))
    entry[8] = written
    return entry.subarray(0, 9 + written)
  })
  return box('chpl', [new Uint8Array([1, 0, 0, 0, 0, 0, 0, 0, chapters.length]), ...entries])
}

const sizeAt = (bytes: Uint8Array, at: number): number =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(at)

const nameAt = (bytes: Uint8Array, at: number): string => String.fromCharCode(...bytes.subarray(at + 4, at + 8))

/** The position of a direct child. */
function childOf(parent: Uint8Array, name: string): number | null {
  for (let at = headBytes; at + headBytes <= parent.length; at += Math.max(headBytes, sizeAt(parent, at))) {
    if (nameAt(parent, at) === name) return at
  }
  return null
}

function box(name: string, parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, headBytes))
  new DataView(whole.buffer).setUint32(0, whole.length)
  whole.set(new TextEncoder().encode(name), 4)
  let at = headBytes
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
