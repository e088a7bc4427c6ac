/** Repeatable randomness for tests: a failing test prints its seed, and the seed gives the same run again. */
import { Random } from '../domain/random.ts'
import { longTimes } from './long.ts'

/** 32 bits of state: good enough to shuffle a workload. */
export class Seeded extends Random {
  /** A whole number from min to max, both included. */
  whole(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(items: readonly [T, ...T[]] | readonly T[]): T {
    const item = items[Math.floor(this.next() * items.length)]
    if (item === undefined) throw new Error('nothing to pick from')
    return item
  }

  /** Fills bytes, as `newId` and `newSecret` expect. */
  readonly fill = (bytes: Uint8Array): Uint8Array => {
    for (let i = 0; i < bytes.length; i++) bytes[i] = this.whole(0, 255)
    return bytes
  }
}

/**
 * Runs a test for each seed and names the seed that failed.
 * @param count of the seeds; the long form (`long.ts`) has ten times as many
 */
export async function forEachSeed(count: number, run: (random: Seeded, seed: number) => unknown): Promise<void> {
  for (let seed = 1; seed <= count * longTimes; seed++) {
    try {
      await run(new Seeded(seed), seed)
    } catch (error) {
      throw new Error(`failed with seed ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error })
    }
  }
}
