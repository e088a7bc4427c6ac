/** Damaged files from random lives (`rot.ts`). More runs: `bun scripts/simulate.ts --seeds 100 --rot 200`. */
import { expect, test } from 'bun:test'
import { damages, rot } from './rot.ts'

const deadlineMs = 240_000

test(
  'after bit rot the server serves correct data or none',
  async () => {
    const seen = new Set<string>()
    for (let seed = 1; seed <= 4; seed++) {
      for (const { damage, verdict, words } of await rot(seed, 100, 75)) {
        if (verdict !== 'right' && verdict !== 'refused')
          throw new Error(`seed ${seed}, ${damage}: ${verdict}: ${words}`)
        seen.add(`${damage} ${verdict}`)
      }
    }
    expect(damages.filter((damage) => !seen.has(`${damage} refused`))).toEqual([])
  },
  deadlineMs,
)
