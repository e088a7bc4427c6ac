/**
 * Three boxes on one PostgreSQL under kills of boxes and of the server, partitions, slow connections and lost answers
 * to COMMIT, with an independent auditor: `bun scripts/boxes.ts [STEPS] [SEED] [--cables]`. Needs PostgreSQL from the
 * distribution's package. With `--cables` the server is in a network namespace whose virtual cables are unplugged, too;
 * that needs root.
 */
import { runBoxes } from '../src/testing/boxes/run.ts'

const [steps = 10_000, seed = 1] = process.argv
  .slice(2)
  .filter((word) => word !== '--cables')
  .map(Number)
const beganMs = performance.now()
const { faults, seen } = await runBoxes({
  seed,
  steps,
  killsServer: true,
  hasCables: process.argv.includes('--cables'),
})
console.log(
  `${steps} steps, seed ${seed}, ${((performance.now() - beganMs) / 1000).toFixed(0)} s:`,
  JSON.stringify(seen),
)
for (const fault of faults) console.log(fault)
console.log(`lost, doubled or wrong: ${faults.length}`)
process.exit(faults.length === 0 ? 0 : 1)
