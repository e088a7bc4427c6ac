/**
 * Three boxes on one database under kills, partitions and lost answers: no operation is lost, doubled or wrong. A
 * second test removes the guards to show that the auditor would notice. `scripts/boxes.ts` does many more steps.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { noPostgres } from '../postgres.ts'
import { type Guard, runBoxes } from './run.ts'

setDefaultTimeout(120_000)

// Skipped only where PostgreSQL is not installed.
describe.skipIf(noPostgres !== null)('three boxes', () => {
  test('lose, double and confuse nothing (from seed 1)', async () => {
    let settledForOthers = 0
    let operations = 0
    // Boxes are real processes: what they get done, and what a dead one left behind, depends on the machine, too.
    for (let seed = 1; seed <= 8 && (settledForOthers === 0 || operations <= 50); seed++) {
      const { faults, seen } = await runBoxes({ seed, steps: 400, killsServer: false })
      expect(faults, `seed ${seed}`).toEqual([])
      operations += seen.operations
      settledForOthers += seen.settledForOthers
    }
    expect(operations).toBeGreaterThan(50)
    expect(settledForOthers).toBeGreaterThan(0)
  })

  // The lock and the index both keep a key unique, so a missing index shows only without the lock.
  test.each<[Guard[], RegExp]>([
    [['account lock'], /under way, not 4/],
    [['account lock', 'key index'], /hold one key/],
    [['lease check'], /ms after a renewal/],
  ])('without the %p are caught', async (without, fault) => {
    let found = ''
    // Whether two boxes meet at the missing guard also depends on the machine. Other seeds give further chances.
    for (let seed = 2; seed <= 9 && !fault.test(found); seed++) {
      const { faults } = await runBoxes({ seed, steps: 400, killsServer: false, without })
      found = faults.join('\n')
    }
    expect(found).toMatch(fault)
  })
})
