import { expect, test } from 'bun:test'
import { cutTokens } from './segments.ts'
import type { WhisperTokens } from './tokens.ts'

const tokens = { firstTimestamp: 100 } as unknown as WhisperTokens
/** A window that begins after 5 s and is 20 s long. */
const cut = (...ids: number[]) => cutTokens(ids, tokens, 500, 2000)
const piece = (startMs: number, endMs: number, ...ids: number[]) => ({ startMs, endMs, tokens: ids })

test('pairs of timestamps split, and the text after the last pair is left for the next window', () => {
  expect(cut(100, 1, 2, 150, 150, 3, 200, 210, 4)).toEqual({
    pieces: [piece(5000, 6000, 100, 1, 2, 150), piece(6000, 7000, 150, 3, 200)],
    advanceFrames: 200,
    endsInSilence: false,
  })
})

test('one timestamp at the end: no speech after it', () => {
  expect(cut(100, 1, 150, 160, 2, 200)).toEqual({
    pieces: [piece(5000, 6000, 100, 1, 150), piece(6200, 7000, 160, 2, 200)],
    advanceFrames: 2000,
    endsInSilence: true,
  })
  expect(cut(100, 1, 150)).toEqual({
    pieces: [piece(5000, 6000, 100, 1, 150)],
    advanceFrames: 2000,
    endsInSilence: true,
  })
})

test('without a pair the window is one segment, to its last timestamp or to its end', () => {
  expect(cut(110, 1, 2)).toEqual({
    pieces: [piece(5000, 5200, 110, 1, 2)],
    advanceFrames: 2000,
    endsInSilence: false,
  })
  expect(cut(100, 1, 2).pieces).toEqual([piece(5000, 25_000, 100, 1, 2)])
  expect(cut(1, 2).pieces).toEqual([piece(5000, 25_000, 1, 2)])
  expect(cut()).toEqual({ pieces: [piece(5000, 25_000)], advanceFrames: 2000, endsInSilence: false })
})
