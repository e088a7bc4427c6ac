import { expect, test } from 'bun:test'
import { type Load, peakUse, workMs } from './capacity.ts'
import { Random } from './random.ts'

const minute = 60_000
const load = (aheadMs: number, restMs: number, speed: number, stepMs = 0): Load => ({ aheadMs, restMs, speed, stepMs })

test('streams that begin now take a share each, for as long as they last', () => {
  expect(peakUse([])).toBe(0)
  expect(peakUse([load(0, minute, 20)])).toBeCloseTo(1 / 20)
  expect(peakUse(Array.from({ length: 20 }, () => load(0, minute, 20)))).toBeCloseTo(1)
  expect(peakUse([load(0, minute, 20), load(0, minute, 5)])).toBeCloseTo(1 / 20 + 1 / 5)
})

test('a stream with buffered sound needs no share until that sound is played', () => {
  expect(peakUse([load(minute, minute, 20)])).toBeCloseTo(1 / 40)
  expect(peakUse([load(0, minute, 2), load(minute, minute, 2)])).toBeCloseTo(0.5)
  expect(peakUse([load(minute, 0, 2)])).toBe(0)
})

test('a step is needed as a whole', () => {
  expect(peakUse([load(0, minute, 10, 5000)])).toBeCloseTo(0.6)
  expect(peakUse([load(4000, minute, 10, 5000)])).toBeCloseTo(0.125)
  expect(peakUse([load(0, 3000, 10, 5000)])).toBeCloseTo(0.3)
})

test('work that ends in less than a second is spread over a second', () => {
  expect(peakUse([load(0, 500, 1)])).toBeCloseTo(0.5)
  expect(peakUse([load(0, 500, 1), load(500, 500, 1)])).toBeCloseTo(1)
  expect(peakUse([load(0, 500, 1), load(2000, 500, 1)])).toBeCloseTo(0.5)
})

test('the result is the largest sum of shares up to any point in time', () => {
  const random = new Random(11)
  for (let round = 0; round < 300; round++) {
    const loads = Array.from({ length: 1 + Math.floor(6 * random.next()) }, () => {
      const whole = (below: number) => Math.floor(below * random.next())
      return load(whole(4000), 1 + whole(6000), 0.5 + 10 * random.next(), whole(3000))
    })
    let peak = 0
    for (let t = 1; t < 14_000; t++) {
      const need = loads.reduce((sum, { aheadMs, restMs, stepMs, speed }) => {
        return t < aheadMs ? sum : sum + Math.min(restMs, t - aheadMs + Math.min(stepMs, restMs)) / speed
      }, 0)
      peak = Math.max(peak, need / Math.max(1000, t))
    }
    expect(Math.abs(peakUse(loads) - peak)).toBeLessThan(0.01)
  }
})

test('what is needed later than asked does not count', () => {
  expect(peakUse([load(0, minute, 10), load(4000, minute, 10)], { untilMs: 5000 })).toBeCloseTo(0.12)
  expect(peakUse([load(8000, minute, 10)], { untilMs: 5000 })).toBe(0)
  expect(peakUse([load(0, minute, 10, 5000)], { untilMs: 5000 })).toBeCloseTo(0.6)
})

test('counts the work of all streams', () => {
  expect(workMs([load(5, 1000, 10), load(0, 300, 0.5)])).toBe(700)
})
