/**
 * Runs the simulation of the database outside the tests: one seed again (`bun scripts/simulate.ts 123 --verbose`), or
 * many (`--seeds 5000`, from `--from`). With `--rot N` the files that each life leaves are damaged N times as disks
 * damage them, and opened again. Prints at the end how often each event happened. Exit code 1 when a run broke a rule.
 */
import { parseArgs } from 'node:util'
import { rot } from '../src/testing/simulation/rot.ts'
import { simulate, SimulationFailure } from '../src/testing/simulation/simulation.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    steps: { type: 'string', default: '100' },
    seeds: { type: 'string', default: '1' },
    from: { type: 'string', default: '1' },
    rot: { type: 'string', default: '0' },
    verbose: { type: 'boolean', default: false },
  },
})
const first = Number(positionals[0] ?? values.from)
const count = Number(values.seeds)
const steps = Number(values.steps)
const damages = Number(values.rot)
if (![first, count, steps, damages].every((value) => Number.isSafeInteger(value) && value >= 0)) {
  console.error('usage: bun scripts/simulate.ts [SEED] [--steps N] [--rot N] [--verbose] | --seeds N [--from SEED]')
  process.exit(2)
}

const seen = new Map<string, number>()
const failed: number[] = []
const beganMs = performance.now()
for (let seed = first; seed < first + count; seed++) {
  try {
    const run = await simulate(seed, steps)
    for (const [what, times] of run.seen) seen.set(what, (seen.get(what) ?? 0) + times)
    if (values.verbose) console.log(run.trace.join('\n'))
    for (const { damage, verdict, words } of damages === 0 ? [] : await rot(seed, steps, damages)) {
      const what = `rot: ${damage}: ${verdict}`
      seen.set(what, (seen.get(what) ?? 0) + 1)
      if (verdict === 'right' || verdict === 'refused') continue
      failed.push(seed)
      console.log(`seed ${seed}, ${damage}: ${verdict}\n${words}`)
    }
  } catch (error) {
    if (!(error instanceof SimulationFailure)) throw error
    failed.push(seed)
    if (values.verbose) console.log(error.trace.join('\n'))
    console.log(error.message)
  }
}
for (const [what, times] of [...seen].sort()) console.log(`${String(times).padStart(8)}  ${what}`)
const seconds = ((performance.now() - beganMs) / 1000).toFixed(1)
console.log(
  `${count} seeds of ${steps} steps in ${seconds} s; failed: ${failed.length === 0 ? 'none' : failed.join(' ')}`,
)
if (failed.length > 0) process.exit(1)
