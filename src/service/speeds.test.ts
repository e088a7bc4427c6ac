import { expect, test } from 'bun:test'
import { Speeds, unknownSpeed } from './speeds.ts'

test('a model without history is assumed to be slow', () => {
  expect(new Speeds().of('voice')).toEqual(unknownSpeed)
})

test('the last seconds of work count most', () => {
  const speeds = new Speeds()
  speeds.note('voice', { steps: 10, soundMs: 40_000, machineMs: 2000, firstMs: 1000 })
  expect(speeds.of('voice')).toEqual({ speed: 20, stepMs: 2000 })
  for (let i = 0; i < 20; i++) speeds.note('voice', { steps: 1, soundMs: 5000, machineMs: 1000, firstMs: 500 })
  expect(speeds.of('voice').speed).toBeGreaterThan(4.9)
  expect(speeds.of('voice').speed).toBeLessThan(5.3)
})

test('a machine that becomes slow is believed at once, and one that becomes fast after some seconds', () => {
  const speeds = new Speeds()
  const work = (speed: number) => speeds.note('voice', { steps: 1, soundMs: 500 * speed, machineMs: 500, firstMs: 100 })
  for (let i = 0; i < 40; i++) work(20)
  for (let i = 0; i < 4; i++) work(5)
  expect(speeds.of('voice').speed).toBeLessThan(10)
  for (let i = 0; i < 40; i++) work(5)
  for (let i = 0; i < 4; i++) work(20)
  expect(speeds.of('voice').speed).toBeLessThan(10)
  for (let i = 0; i < 400; i++) work(20)
  expect(speeds.of('voice').speed).toBeGreaterThan(18)
})

test('of a machine whose speed changes, the slow moments count', () => {
  const speeds = new Speeds()
  for (let i = 0; i < 200; i++) {
    const speed = i % 20 < 4 ? 8 : 24
    speeds.note('voice', { steps: 1, soundMs: 500 * speed, machineMs: 500, firstMs: 100 })
  }
  expect(speeds.of('voice').speed).toBeWithin(8, 14)
})

test('stored speeds are restored; nonsense is ignored', () => {
  const first = new Speeds()
  first.note('voice', { steps: 2, soundMs: 3000, machineMs: 100, firstMs: 50 })
  const kept: unknown = JSON.parse(JSON.stringify(first.kept))
  expect(new Speeds(kept).of('voice')).toEqual({ speed: 30, stepMs: 750 })
  const negative = { steps: 1, soundMs: -1, machineMs: 1, firstMs: 1 }
  for (const wrong of [null, 7, [1], { voice: null }, { voice: negative }]) {
    expect(new Speeds(wrong).all.size).toBe(0)
  }
})

test('encoding uses the same processors: first by the known cost of each format, then as measured', () => {
  const speeds = new Speeds({}, 2)
  speeds.note('voice', { steps: 10, soundMs: 40_000, machineMs: 1000, firstMs: 500 })
  expect([speeds.of('voice').speed, speeds.of('voice', 'wav').speed]).toEqual([40, 40])
  // 25 ms of the machine for a second of sound, and 13 ms for its encoding on one of two cores.
  expect(speeds.of('voice', 'opus').speed).toBeCloseTo(1000 / (25 + 13.2))
  for (let i = 0; i < 100; i++) speeds.noteEncoding('opus', 1000, 200)
  expect(speeds.of('voice', 'opus').speed).toBeWithin(8, 8.5)
  expect(speeds.of('voice', 'opus').stepMs).toBeWithin(400, 425)
  expect(speeds.of('voice').speed).toBe(40)
})
