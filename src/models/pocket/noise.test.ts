import { expect, test } from 'bun:test'
import { randomSeed, seededNoise } from './noise.ts'

test('the same seed gives the same numbers, however many are requested at once', () => {
  const whole = seededNoise(7)(64)
  const parts = seededNoise(7)
  expect([...parts(32), ...parts(32)]).toEqual([...whole])
  expect(seededNoise(8)(64)).not.toEqual(whole)
})

test('seeds of every size give different numbers', () => {
  const seeds = [0, 1, -1, 2 ** 31, 2 ** 32, 2 ** 32 + 1, 2 ** 53 - 1, 1.5, 2.5]
  expect(new Set(seeds.map((seed) => seededNoise(seed)(8).join())).size).toBe(8)
})

test('the numbers are normally distributed', () => {
  const count = 200_000
  const numbers = seededNoise(42)(count)
  const moment = (power: number) => numbers.reduce((sum, number) => sum + number ** power, 0) / count
  expect(Math.abs(moment(1))).toBeLessThan(0.01)
  expect(Math.abs(moment(2) - 1)).toBeLessThan(0.02)
  expect(Math.abs(moment(3))).toBeLessThan(0.04)
  expect(Math.abs(moment(4) - 3)).toBeLessThan(0.1)
  const within = (deviation: number) => numbers.filter((number) => Math.abs(number) < deviation).length / count
  expect(Math.abs(within(1) - 0.6827)).toBeLessThan(0.005)
  expect(Math.abs(within(2) - 0.9545)).toBeLessThan(0.003)
  // Neighbours are independent.
  const together = numbers.reduce((sum, number, at) => sum + number * (numbers[at + 1] ?? 0), 0) / count
  expect(Math.abs(together)).toBeLessThan(0.01)
  expect(numbers.every(Number.isFinite)).toBe(true)
})

test('without a seed, each run has another one', () => {
  expect(new Set(Array.from({ length: 20 }, randomSeed)).size).toBeGreaterThan(18)
})
