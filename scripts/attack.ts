/**
 * Attacks on the real program, each from a seed that is printed first, and figures to compare with earlier ones: `bun
 * scripts/attack.ts [--seed N] [--minutes N] [--kills N] [--requests N] [--uploads N] [--connections N]`. Only the
 * named attacks run; without any of them, a small run of all. The full size: --kills 10000 --requests 105000 --uploads
 * 20000 --connections 10000; with --minutes, as much of it as the machine does in that time. Bit rot is another script:
 * `bun scripts/simulate.ts --seeds 100 --rot 200`. Every route with every caller is a test: `src/http/access.test.ts`.
 */
import { parseArgs } from 'node:util'
import { Seeded } from '../src/testing/seeded.ts'
import { connections } from './attack/connections.ts'
import { kills } from './attack/kills.ts'
import { requests } from './attack/requests.ts'
import { uploads } from './attack/uploads.ts'

const attacks = { kills, requests, uploads, connections }
type Name = keyof typeof attacks
const small: Record<Name, number> = { kills: 5, requests: 1000, uploads: 100, connections: 500 }

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    minutes: { type: 'string' },
    kills: { type: 'string' },
    requests: { type: 'string' },
    uploads: { type: 'string' },
    connections: { type: 'string' },
  },
})
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9))
console.log(`seed ${seed}`)
const minutes = Number(values.minutes ?? Infinity)
const names = Object.keys(attacks) as Name[]
const isAll = names.every((name) => values[name] === undefined)
for (const name of names) {
  const count = Number(values[name] ?? (isAll ? small[name] : 0))
  if (!(count > 0)) continue
  const beganMs = performance.now()
  const said = await attacks[name](count, new Seeded(seed), beganMs + minutes * 60_000)
  console.log(`${name}: ${said} (${((performance.now() - beganMs) / 1000).toFixed(0)} s)`)
  if (/WRONG|: [1-9]\d* 5xx|[1-9]\d* leaks/.test(said)) process.exitCode = 1
}
process.exit()
