import { beforeEach, expect, test } from 'bun:test'
import { ManualClock } from '../testing/manual-clock.ts'
import { Deadlines, type Debt } from './deadlines.ts'

const stallMs = 30_000
const loadMs = 300_000
let clock: ManualClock
let deadlines: Deadlines
let debts: Debt[]
let said: string[]
beforeEach(() => {
  clock = new ManualClock()
  debts = []
  said = []
  deadlines = new Deadlines({
    timers: clock,
    stallMs,
    loadMs,
    debts: () => debts,
    kill: (reason) => {
      said.push(reason)
      debts = []
      deadlines.noteEnd()
    },
    log: (line) => said.push(line),
  })
})

function owe(): void {
  debts.push({ kind: 'stream', owedSinceMs: deadlines.nowMs(), isCancelled: false, giveUp: () => debts.splice(0) })
  deadlines.watch()
}
/** The check may come this much later. */
const slackMs = stallMs / 8
const stalled = `was killed: it owed audio and sent nothing for ${stallMs} ms`

test('silence is not counted while a model is loaded, and counted again after that', () => {
  owe()
  clock.advance(stallMs / 2)
  deadlines.noteLoading('large', false)
  clock.advance(loadMs - 1)
  expect([said, deadlines.loading]).toEqual([[], ['large']])
  deadlines.noteLoading('large', true)
  clock.advance(stallMs / 2 - 1)
  expect(said).toEqual([])
  clock.advance(1 + slackMs)
  expect([said, debts]).toEqual([[`a stream got no audio for ${stallMs} ms and was given up`], []])
})

test('an engine that was already late when another load began stays late', () => {
  owe()
  debts[0]!.isCancelled = true
  for (let loads = 0; loads < 10; loads++) {
    clock.advance(stallMs / 8)
    deadlines.noteLoading('broken', false)
    clock.advance(stallMs)
    deadlines.noteLoading('broken', true)
  }
  expect(said).toContain(`was killed: it did not stop a cancelled stream within ${stallMs} ms`)
})

test('what becomes due during a load is counted from its end', () => {
  deadlines.noteLoading('large', false)
  clock.advance(loadMs / 2)
  owe()
  clock.advance(loadMs / 4)
  deadlines.noteLoading('large', true)
  clock.advance(stallMs - 1)
  expect(said).toEqual([])
  clock.advance(1 + slackMs)
  expect(said).toEqual([stalled])
})

test('time continues only when the last of several loads is over', () => {
  deadlines.noteLoading('a', false)
  deadlines.noteLoading('b', false)
  owe()
  clock.advance(stallMs)
  deadlines.noteLoading('a', true)
  expect(deadlines.loading).toEqual(['b'])
  clock.advance(2 * stallMs)
  expect(said).toEqual([])
  deadlines.noteLoading('b', true)
  clock.advance(stallMs + slackMs)
  expect(said).toEqual([stalled])
})

test('a load has its own deadline, even when no order waits for it', () => {
  deadlines.noteLoading('large', false)
  clock.advance(loadMs - 1)
  expect(said).toEqual([])
  clock.advance(1 + slackMs)
  expect(said).toEqual([`was killed: it did not load large within ${loadMs} ms`])
})

test('the end of the child ends its loads, and nothing is watched any more', () => {
  deadlines.noteLoading('large', false)
  deadlines.noteEnd()
  expect(deadlines.loading).toEqual([])
  clock.advance(loadMs * 2)
  expect([said, clock.waiting]).toEqual([[], 0])
})

test('a cancelled run on a busy machine has some time to reach its next node, but not forever', () => {
  owe()
  debts[0]!.isCancelled = true
  const alive = (ms: number) => {
    for (let passedMs = 0; passedMs < ms; passedMs += stallMs / 4) {
      clock.advance(stallMs / 4)
      deadlines.noteAlive()
    }
  }
  alive(3 * stallMs)
  expect(said).toEqual([])
  alive(2 * stallMs)
  expect(said).toEqual([`was killed: it did not stop a cancelled stream within ${stallMs} ms`])
})

test('without a sign of life, cancelled work ends the engine as usual', () => {
  owe()
  debts[0]!.isCancelled = true
  clock.advance(stallMs + slackMs)
  expect(said).toEqual([stalled])
})
