import { expect, test } from 'bun:test'
import { frame } from './client.fixture.ts'
import { EventReader, type WyomingEvent } from './framing.ts'

const payload = Uint8Array.from({ length: 1_000_000 }, (_, at) => at % 251)
const bytes = Buffer.concat([frame('audio-chunk', { rate: 16_000 }, payload), frame('ping', { text: 'next' })])

function readInPieces(pieceBytes: (at: number) => number): WyomingEvent[] {
  const reader = new EventReader()
  const events: WyomingEvent[] = []
  for (let at = 0; at < bytes.length;) {
    const end = Math.min(bytes.length, at + pieceBytes(at))
    events.push(...reader.push(bytes.subarray(at, end)))
    at = end
  }
  return events
}

const whole = [
  { type: 'audio-chunk', data: { rate: 16_000 }, payload },
  { type: 'ping', data: { text: 'next' }, payload: null },
]

// If each byte moved all that came before it, this would take most of a minute.
test('a large event in single bytes takes no longer than the deadline of a test', () => {
  expect(readInPieces(() => 1)).toEqual(whole)
})

test.each([7, 1460, 65_536, 2 ** 21])('an event in pieces of %d bytes is the same', (size) => {
  expect(readInPieces(() => size)).toEqual(whole)
})

test('pieces that end anywhere in the first or second event are put together', () => {
  for (let cut = 1; cut < 200; cut++) {
    expect(readInPieces((at) => (at === 0 ? cut : bytes.length))).toEqual(whole)
    expect(readInPieces((at) => (at === 0 ? bytes.length - cut : cut))).toEqual(whole)
  }
})
