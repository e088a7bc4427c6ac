import { expect, test } from 'bun:test'
import { forEachSeed } from '../../testing/seeded.ts'
import { jointsOf, noJoints, Seam, spansThere, withNeighbours } from './joints.ts'
import { hopSamples } from './parameters.ts'

const chunk = { symbols: 'bb bb', before: 'a', after: 'ccc', spans: [{ from: 0, to: 2, end: 9 }] }

test('the graph is given the neighbours, and the chunk lies from the middle of a space to that of another', () => {
  expect(withNeighbours(chunk)).toBe('a bb bb ccc')
  // The pad, "a", a space, "bb bb", a space, "ccc" and the pad.
  const frames = [10, 4, 6, 2, 2, 2, 2, 2, 8, 4, 4, 4, 20]
  expect(jointsOf(chunk, frames)).toEqual({ from: 10 + 4 + 3, to: 10 + 4 + 6 + 10 + 4 + 1 })
  expect(spansThere(chunk)).toEqual([{ from: 2, to: 4, end: 9 }])
})

test('a chunk without neighbours begins and ends with its speech', () => {
  const alone = { ...chunk, before: '', after: '' }
  expect(withNeighbours(alone)).toBe('bb bb')
  expect(jointsOf(alone, [10, 2, 2, 2, 2, 2, 20])).toEqual(noJoints)
  expect(spansThere(alone)).toEqual(alone.spans)
})

test('what is kept back at a joint is added to what comes next, however long the blocks are', () =>
  forEachSeed(50, (random) => {
    const seam = new Seam()
    const found: number[] = []
    const expected: number[] = []
    let kept = 0
    for (let left = random.whole(1, 6); left >= 0; left--) {
      const block = new Float32Array(hopSamples * random.whole(1, 3)).fill(1)
      const isJoint = left > 0 && random.chance(0.6)
      found.push(...seam.take(block, isJoint))
      const overlap = expected.splice(expected.length - kept)
      expected.push(...block.map((sample, at) => sample + (overlap[at] ?? 0)))
      kept = isJoint ? hopSamples : 0
      expect(found.length).toBe(expected.length - kept)
    }
    expect(found).toEqual(expected)
  }))
