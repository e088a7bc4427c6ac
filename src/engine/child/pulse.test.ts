import { beforeEach, expect, test } from 'bun:test'
import { noteRun } from '../../onnx/runs.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import { Pulse } from './pulse.ts'

let clock: ManualClock
let beats: number
let cpuMs: number
let underWay: number
let isAtWork: boolean
beforeEach(() => {
  clock = new ManualClock()
  beats = cpuMs = underWay = 0
  isAtWork = true
  const pulse = new Pulse({
    timers: clock,
    isAtWork: () => isAtWork,
    beat: () => beats++,
    cpuMs: () => cpuMs,
    underWay: () => underWay,
  })
  // Ignores runs of other tests in this process.
  noteRun()
  pulse.start()
  pulse.start()
  clock.advance(250)
  beats = 0
})

test('the passing of time is not a sign of life', () => {
  clock.advance(60_000)
  expect(beats).toBe(0)
})

test('each finished run is one, at most four times a second', () => {
  for (let i = 0; i < 10; i++) {
    noteRun()
    clock.advance(100)
  }
  expect(beats).toBe(4)
})

test('the processor time of a running graph is one too, however little a busy machine leaves it', () => {
  underWay = 1
  for (let i = 0; i < 120; i++) {
    cpuMs += 3.3
    clock.advance(250)
  }
  expect(beats).toBeGreaterThan(15)
})

test('a hanging run is not, although this timer itself takes some time', () => {
  underWay = 1
  for (let i = 0; i < 120; i++) {
    cpuMs += 0.05
    clock.advance(250)
  }
  expect(beats).toBe(0)
})

test('processor time without a run is not', () => {
  for (let i = 0; i < 120; i++) {
    cpuMs += 100
    clock.advance(250)
  }
  expect(beats).toBe(0)
})

test('it ends with the work', () => {
  isAtWork = false
  clock.advance(250)
  expect(clock.waiting).toBe(0)
})
