import { expect, test } from 'bun:test'
import type { InstallEvent } from '../../catalog/install/events.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import { testCard } from '../../testing/test-model.ts'
import { jsonDisplay, lineDisplay, standingText, terminalDisplay } from './progress.ts'
import { Tally } from '../../catalog/install/progress.ts'

const plan = { event: 'planned', files: 2, keptFiles: 0, totalBytes: 1000, heldBytes: 100, unknownSizes: 0 } as const
const received = (bytes: number): InstallEvent => ({ event: 'received', name: 'a', bytes })
const finished = (sizeBytes: number): InstallEvent => ({
  event: 'finished',
  name: 'a',
  sizeBytes,
  sha256: 'f'.repeat(64),
  evidence: 'card',
})

test('the rate is that of the last seconds, and the remaining time follows from it', () => {
  const clock = new ManualClock()
  const tally = new Tally(clock)
  tally.take(plan)
  expect(tally.standing()).toMatchObject({ doneBytes: 100, totalBytes: 1000, bytesPerSecond: null, msLeft: null })
  for (let second = 0; second < 4; second++) {
    clock.advance(1000)
    tally.take(received(100))
  }
  expect(tally.standing()).toMatchObject({ doneBytes: 500, bytesPerSecond: 100, msLeft: 5000 })
  clock.advance(6000)
  tally.take(received(10))
  expect(tally.standing()?.bytesPerSecond).toBeCloseTo(10 / 6, 5)
})

test('bytes that have to be fetched again are subtracted, and never below zero', () => {
  const tally = new Tally(new ManualClock())
  tally.take(plan)
  tally.take(received(300))
  tally.take({ event: 'restarted', name: 'a', lostBytes: 150, reason: 'x' })
  expect(tally.standing()?.doneBytes).toBe(250)
  tally.take({ event: 'restarted', name: 'a', lostBytes: 900, reason: 'x' })
  expect(tally.standing()?.doneBytes).toBe(0)
})

test('where sizes are unknown, the end is unknown until it is reached', () => {
  const tally = new Tally(new ManualClock())
  tally.take({ ...plan, totalBytes: 400, heldBytes: 0, unknownSizes: 1 })
  tally.take({ event: 'started', name: 'a', sizeBytes: null, heldBytes: 0 })
  tally.take(received(600))
  expect(tally.standing()).toMatchObject({ isMore: true, msLeft: null })
  tally.take(finished(600))
  tally.take({ ...finished(400), name: 'b' } as InstallEvent)
  expect(tally.standing()).toMatchObject({ isMore: false, totalBytes: 1000, doneFiles: 2 })
})

test('without anything to fetch, there is nothing to measure', () => {
  const tally = new Tally(new ManualClock())
  tally.take({ event: 'checking', name: 'a', sizeBytes: 5 })
  expect(tally.standing()).toBeNull()
  tally.take({ ...plan, files: 0 })
  expect(tally.standing()).toBeNull()
})

const standing = { files: 7, doneFiles: 3, doneBytes: 74e6, totalBytes: 165e6, isMore: false }
test('the progress is one line', () => {
  const text = standingText({ ...standing, bytesPerSecond: 12.3e6, msLeft: 7400 })
  expect(Bun.stripANSI(text)).toBe('44%  74.0 MB of 165 MB  12.3 MB/s  7.4 s left  3 of 7 files')
  const unknown = standingText({ ...standing, isMore: true, bytesPerSecond: null, msLeft: null })
  expect(Bun.stripANSI(unknown)).toBe('74.0 MB  3 of 7 files')
})

const card = testCard('model', [])

test('a terminal shows one line that is redrawn, fits in, and is cleared at the end; important lines stay', () => {
  const clock = new ManualClock()
  let text = ''
  const screen = { write: (more: string) => (text += more), columns: () => 30 }
  const display = terminalDisplay(card, screen, clock)
  display.onEvent({ event: 'checking', name: 'a', sizeBytes: 3_000_000 })
  display.onEvent(plan)
  for (let step = 0; step < 50; step++) {
    clock.advance(10)
    display.onEvent(received(1))
  }
  display.onEvent({ event: 'retrying', name: 'a', reason: 'the connection broke (X)', pauseMs: 1500 })
  display.end()
  const drawn = text.split('\r\u001b[K')
  expect(drawn.filter((line) => line.includes(' of 1.0 kB')).length).toBeLessThan(12)
  for (const line of drawn)
    for (const part of line.split('\n').slice(-1)) expect(Bun.stringWidth(part)).toBeLessThan(30)
  expect(drawn).toContain('checking a (3.0 MB)')
  expect(drawn).toContain('the connection broke (X). Try')
  expect(text).toContain(`License ${card.license.name}: ${card.license.attribution}\n`)
  expect(text).toEndWith('\r\u001b[K')
})

test('a log gets a line for each file, and from time to time a line with the progress', () => {
  const clock = new ManualClock()
  const lines: string[] = []
  const display = lineDisplay(card, (line) => lines.push(line), clock)
  display.onEvent({ ...plan, keptFiles: 3, unknownSizes: 1 })
  for (let second = 0; second < 12; second++) {
    clock.advance(1000)
    display.onEvent(received(50))
  }
  display.onEvent(finished(900))
  display.onEvent({ event: 'restarted', name: 'a', lostBytes: 500, reason: 'it is longer than the file' })
  expect(lines.slice(1).map((line) => Bun.stripANSI(line))).toEqual([
    '2 files, 1.0 kB and more; 100 bytes of it downloaded earlier; 3 more exist already',
    '  350 bytes  50 bytes/s  0 of 2 files',
    '  600 bytes  50 bytes/s  0 of 2 files',
    '  a, 900 bytes',
    'a: 500 bytes cannot be used, because it is longer than the file.',
  ])
})

test('scripts get each event as a line of JSON, and the bytes as progress from time to time', () => {
  const clock = new ManualClock()
  const lines: string[] = []
  const display = jsonDisplay(card, (line) => lines.push(line), clock)
  display.onEvent(plan)
  for (let step = 0; step < 20; step++) {
    clock.advance(100)
    display.onEvent(received(1))
  }
  display.onEvent(finished(900))
  const events = lines.map((line) => JSON.parse(line) as { event: string })
  expect(events.map(({ event }) => event)).toEqual(['planned', ...Array(4).fill('progress'), 'finished'])
  expect(events[1]).toMatchObject({ done_bytes: 105, total_bytes: 1000, files: 2, done_files: 0 })
})
