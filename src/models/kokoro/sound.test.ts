import { expect, test } from 'bun:test'
import { finish as finishAll } from './sound.ts'

const rate = 24_000
const finish = (...given: Parameters<typeof finishAll>) => finishAll(...given).pcm
const seconds = (count: number) => new Float32Array(Math.round(count * rate))
const tone = (count: number) => seconds(count).map((_, at) => 0.5 * Math.sin((2 * Math.PI * 220 * at) / rate))
const joined = (...parts: Float32Array[]) => Float32Array.from(parts.flatMap((part) => [...part]))

test('long silences at the ends become short ones, and the pause follows', () => {
  const made = finish(joined(seconds(0.5), tone(1), seconds(0.7)), 1, 0.3, rate)
  expect(made.length / rate).toBeCloseTo(0.04 + 1 + 0.08 + 0.3, 1)
  expect(finish(joined(seconds(0.5), tone(1), seconds(0.7)), 2, 0, rate).length / rate).toBeCloseTo(1.06, 1)
})

test('both ends are faded, so that joins do not click', () => {
  const made = finish(
    tone(1).map((sample) => sample + 0.3),
    1,
    0,
    rate,
  )
  expect(made[0]).toBe(0)
  expect(made.at(-1)).toBeCloseTo(0, 6)
  for (let at = 1; at < made.length; at++) expect(Math.abs(made[at]! - made[at - 1]!)).toBeLessThan(0.06)
})

test('speech stays unchanged, and a sample that is too loud is reduced to full scale', () => {
  const middle = finish(tone(1), 1, 0, rate).slice(2400, 2500)
  expect(middle).toEqual(tone(1).slice(2400, 2500))
  expect(finish(seconds(0.2).fill(3), 1, 0, rate)[2400]).toBe(1)
})

test('silence and empty sound stay as they are', () => {
  expect(finish(seconds(0.1), 1, 0, rate)).toEqual(seconds(0.1))
  expect(finish(seconds(0), 1, 0, rate).length).toBe(0)
})
