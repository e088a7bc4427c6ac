import { expect, test } from 'bun:test'
import { Speeds, unknownSpeed } from './speeds.ts'

test('of a model that has not spoken little is assumed', () => {
  expect(new Speeds().of('voice')).toEqual(unknownSpeed)
})

test('the last seconds of work count most', () => {
  const speeds = new Speeds()
  speeds.note('voice', { steps: 10, soundMs: 40_000, machineMs: 2000 })
  expect(speeds.of('voice')).toEqual({ speed: 20, stepMs: 4000 })
  for (let i = 0; i < 20; i++) speeds.note('voice', { steps: 1, soundMs: 5000, machineMs: 1000 })
  expect(speeds.of('voice').speed).toBeGreaterThan(5)
  expect(speeds.of('voice').speed).toBeLessThan(5.3)
})

test('what was kept is known again; nonsense is not', () => {
  const first = new Speeds()
  first.note('voice', { steps: 2, soundMs: 3000, machineMs: 100 })
  const kept: unknown = JSON.parse(JSON.stringify(first.kept))
  expect(new Speeds(kept).of('voice')).toEqual({ speed: 30, stepMs: 1500 })
  for (const wrong of [null, 7, [1], { voice: null }, { voice: { steps: 1, soundMs: -1, machineMs: 1 } }]) {
    expect(new Speeds(wrong).all.size).toBe(0)
  }
})
