import { expect, test } from 'bun:test'
import { Random } from '../../domain/random.ts'
import { blockFrames, nextChunk, type Waiting } from './vocoder-turns.ts'

interface Chunk extends Waiting {
  atMs: number
  firstMs: number
  endMs: number
  /** The longest time that its listener had nothing. */
  dryMs: number
}

const frameMs = 12.5

const chunkOf = (atMs: number, frames: number): Chunk => {
  return { isFirst: true, dueMs: atMs, leftFrames: frames, atMs, firstMs: 0, endMs: 0, dryMs: 0 }
}

/** A thread in virtual time. @param blockMs what a block of 100 ms takes */
function rendered(chunks: readonly Chunk[], blockMs: number, next = nextChunk<Chunk>): void {
  const coming = chunks.toSorted((a, b) => a.atMs - b.atMs)
  const waiting: Chunk[] = []
  for (let nowMs = 0; coming.length + waiting.length > 0;) {
    while (coming[0] !== undefined && coming[0].atMs <= nowMs) waiting.push(coming.shift()!)
    const chunk = next(waiting, nowMs)
    if (chunk === null) {
      nowMs = coming[0]!.atMs
      continue
    }
    const frames = Math.min(blockFrames(chunk, waiting.length), chunk.leftFrames)
    nowMs += (blockMs * frames) / 8
    if (chunk.isFirst) [chunk.firstMs, chunk.dueMs] = [nowMs - chunk.atMs, nowMs]
    chunk.dryMs = Math.max(chunk.dryMs, nowMs - chunk.dueMs)
    Object.assign(chunk, { isFirst: false, leftFrames: chunk.leftFrames - frames })
    chunk.dueMs = Math.max(nowMs, chunk.dueMs) + frames * frameMs
    if (chunk.leftFrames > 0) continue
    chunk.endMs = nowMs - chunk.atMs
    waiting.splice(waiting.indexOf(chunk), 1)
  }
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

test('of sixteen streams that begin together, the mean one ends after 0.65 of the time of the last', () => {
  const burst = Array.from({ length: 16 }, () => chunkOf(0, 240))
  rendered(burst, 1.5)
  const ends = burst.map(({ endMs }) => endMs)
  expect(Math.max(...ends)).toBeCloseTo(720)
  expect(mean(ends)).toBeLessThan(0.65 * Math.max(...ends))
  expect(burst.map(({ firstMs }) => firstMs)).toEqual(burst.map((_, at) => 1.5 * (at + 1)))
  expect(Math.max(...burst.map(({ dryMs }) => dryMs))).toBe(0)
})

/** The listener who runs dry first, always. */
const inTurn = (chunks: readonly Chunk[], nowMs: number): Chunk | null => {
  const rank = ({ isFirst, dueMs }: Chunk) => (isFirst ? 1 : dueMs < nowMs + 20 ? 0 : 2)
  return chunks.toSorted((a, b) => rank(a) - rank(b) || a.dueMs - b.dueMs)[0] ?? null
}

test.each([1, 2, 3, 4])('random streams end sooner than in turn, and listeners are no worse off (seed %p)', (seed) => {
  const crowd = () => {
    const random = new Random(seed)
    let atMs = 0
    return Array.from({ length: 400 }, () => {
      atMs += -Math.log(1 - random.next()) * 250
      return chunkOf(atMs, 40 + Math.floor(400 * random.next()))
    })
  }
  // 240 frames each 250 ms are twelve times real time: 0.8 of a thread that renders fifteen.
  const [chosen, turns] = [crowd(), crowd()]
  rendered(chosen, 100 / 15)
  rendered(turns, 100 / 15, inTurn)
  const of = (chunks: readonly Chunk[]) => ({
    endMs: mean(chunks.map(({ endMs }) => endMs)),
    firstMs: mean(chunks.map(({ firstMs }) => firstMs)),
    dryMs: Math.max(...chunks.map(({ dryMs }) => dryMs)),
  })
  expect(of(chosen).endMs).toBeLessThan(0.8 * of(turns).endMs)
  expect(of(chosen).dryMs).toBeLessThanOrEqual(of(turns).dryMs)
  expect(of(chosen).firstMs).toBeLessThan(of(turns).firstMs + 15)
})

test('an empty thread has no next chunk', () => {
  expect(nextChunk([], 0)).toBeNull()
})
