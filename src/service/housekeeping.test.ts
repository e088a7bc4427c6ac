import { expect, test } from 'bun:test'
import { ManualClock } from '../testing/manual-clock.ts'
import { startSweeping, type SweepParts } from './housekeeping.ts'
import type { Library } from './library.ts'
import type { Ledger, Voices } from './ports.ts'

const minuteMs = 60_000
const drained = () => new Promise((resolve) => setImmediate(resolve))

/** A ledger that can only sweep, and fails the first `failures` times. */
function sweeper(failures: number) {
  const counts = { swept: 0, failed: 0 }
  const sweep = async (): Promise<number> => {
    if (counts.failed < failures) {
      counts.failed++
      throw new Error('the disk is full')
    }
    return ++counts.swept
  }
  return { counts, ledger: { sweep } as Ledger }
}

/** Two voices that failed long ago. */
function partsWith(ledger: Ledger, clock: ManualClock, report: SweepParts['report'] = () => {}) {
  const cleared: string[] = []
  const voices = { purgeFailed: async () => ['voice_1', 'voice_2'] } as Partial<Voices> as Voices
  const library = { clear: async (id: string) => void cleared.push(id) } as Partial<Library> as Library
  return { parts: { ledger, voices, library, clock, timer: clock, report }, cleared }
}

test('expired records are removed once a minute', async () => {
  const clock = new ManualClock()
  const { counts, ledger } = sweeper(0)
  startSweeping(partsWith(ledger, clock).parts)
  clock.advance(minuteMs - 1)
  await drained()
  expect(counts.swept).toBe(0)
  for (let minute = 1; minute <= 3; minute++) {
    clock.advance(minute === 1 ? 1 : minuteMs)
    await drained()
    expect(counts.swept).toBe(minute)
  }
})

test('a failed sweep is reported, and the next minute tries again', async () => {
  const clock = new ManualClock()
  const { counts, ledger } = sweeper(2)
  const reports: string[] = []
  startSweeping(partsWith(ledger, clock, (message, cause) => reports.push(`${message}: ${cause}`)).parts)
  for (let minute = 0; minute < 3; minute++) {
    clock.advance(minuteMs)
    await drained()
  }
  expect([counts.failed, counts.swept, reports.length]).toEqual([2, 1, 2])
  expect(reports[0]).toContain('the disk is full')
})

test('stops when asked to, even during a sweep', async () => {
  const clock = new ManualClock()
  const { counts, ledger } = sweeper(0)
  const stop = startSweeping(partsWith(ledger, clock).parts)
  clock.advance(minuteMs)
  stop()
  await drained()
  clock.advance(10 * minuteMs)
  await drained()
  expect([counts.swept, clock.waiting]).toEqual([1, 0])
})

test('deletes the files of voices that failed long ago', async () => {
  const clock = new ManualClock()
  const { parts, cleared } = partsWith(sweeper(0).ledger, clock)
  startSweeping(parts)
  clock.advance(minuteMs)
  await drained()
  expect(cleared).toEqual(['voice_1', 'voice_2'])
})
