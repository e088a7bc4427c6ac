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
  debts.push({
    kind: 'stream',
    model: null,
    owedSinceMs: deadlines.nowMs(),
    isCancelled: false,
    giveUp: () => debts.splice(0),
  })
  deadlines.watch()
}
/** The check may come this much later. */
const slackMs = stallMs / 8
const silent = 'the engine sent nothing for 30 s: what it computes is ended'
const stalled = [silent, 'was killed: it sent nothing for 30 s']
/** A silent engine has this long to end its work, and the check may come this much later. */
const endingMs = stallMs / 2

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
  // Until now it had shown life, but not for this stream.
  expect([said, debts]).toEqual([
    [expect.stringMatching(/^a stream got no audio for 3\d(\.\d)? s and was given up: too long for its size here$/)],
    [],
  ])
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
  expect(said).toContain('was killed: it did not stop a cancelled stream within 30 s')
})

test('what becomes due during a load is counted from its end', () => {
  deadlines.noteLoading('large', false)
  clock.advance(loadMs / 2)
  owe()
  clock.advance(loadMs / 4)
  deadlines.noteLoading('large', true)
  clock.advance(stallMs - 1)
  expect(said).toEqual([])
  clock.advance(1 + slackMs + endingMs)
  expect(said).toEqual(stalled)
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
  clock.advance(stallMs + slackMs + endingMs)
  expect(said).toEqual(stalled)
})

test('a load has its own deadline, even when no order waits for it', () => {
  deadlines.noteLoading('large', false)
  clock.advance(loadMs - 1)
  expect(said).toEqual([])
  clock.advance(1 + slackMs)
  expect(said).toEqual(['was killed: it did not load large within 300 s'])
})

test('time in which the server itself stood still is not counted', () => {
  owe()
  clock.freeze(10 * stallMs)
  clock.advance(stallMs - 2 * slackMs)
  expect(said).toEqual([])
  clock.advance(3 * slackMs + endingMs)
  expect(said).toEqual(stalled)
})

test('what the child says first when the server continues gives it no more time than usual', () => {
  owe()
  clock.freeze(10 * stallMs, () => {
    debts[0]!.owedSinceMs = deadlines.noteProgress()
  })
  clock.advance(stallMs + 2 * slackMs + endingMs)
  expect(said).toEqual(stalled)
})

test('a load does not become late while the server stands still, and neither does what waits for it', () => {
  owe()
  deadlines.noteLoading('large', false)
  clock.freeze(10 * loadMs)
  clock.advance(loadMs - 2 * slackMs)
  expect(said).toEqual([])
  deadlines.noteLoading('large', true)
  clock.advance(stallMs - 1)
  expect(said).toEqual([])
  clock.advance(1 + slackMs + endingMs)
  expect(said).toEqual(stalled)
})

test('a load that takes too long after the server stood still is given up', () => {
  deadlines.noteLoading('large', false)
  clock.freeze(loadMs)
  clock.advance(loadMs + slackMs)
  expect(said).toEqual(['was killed: it did not load large within 300 s'])
})

test('the end of the child ends its loads, and nothing is watched any more', () => {
  deadlines.noteLoading('large', false)
  deadlines.noteEnd()
  expect(deadlines.loading).toEqual([])
  clock.advance(loadMs * 2)
  expect([said, clock.waiting]).toEqual([[], 0])
})

test('once it has stopped, nothing is watched any more, even if the child still begins to load a model', () => {
  deadlines.stop()
  deadlines.noteLoading('large', false)
  expect(clock.waiting).toBe(0)
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
  expect(said).toEqual(['was killed: it did not stop a cancelled stream within 30 s'])
})

test('without a sign of life, cancelled work ends the engine as usual', () => {
  owe()
  debts[0]!.isCancelled = true
  clock.advance(stallMs + slackMs + endingMs)
  expect(said).toEqual(stalled)
})

test('while the engine shows life, a piece has the time that its size needs, and then only that piece is ended', () => {
  const patienceMs = 5 * stallMs
  const alive = (ms: number) => {
    for (let passedMs = 0; passedMs < ms; passedMs += stallMs / 4) {
      clock.advance(stallMs / 4)
      deadlines.noteAlive()
    }
  }
  const ends: string[] = []
  const giveUp = (why: string) => {
    ends.push(why)
    debts.splice(0)
  }
  debts.push({ kind: 'stream', model: null, owedSinceMs: deadlines.nowMs(), isCancelled: false, patienceMs, giveUp })
  deadlines.watch()
  alive(patienceMs)
  expect([said, ends]).toEqual([[], []])
  alive(2 * stallMs)
  expect(ends).toEqual([expect.stringMatching(/^no audio came for 1[89]\d(\.\d)? s$/)])
  expect(deadlines.stalls).toEqual({ silent: 0, slow: 1, deaf: 0, loading: 0 })
})

test('a silent engine that shows life again while it is ending its work is not killed', () => {
  owe()
  clock.advance(stallMs)
  expect(said).toEqual([silent])
  deadlines.noteAlive()
  clock.advance(2 * stallMs)
  expect([said, deadlines.stalls.silent]).toEqual([[silent], 0])
})
