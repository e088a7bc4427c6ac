/**
 * Our sessions and those of onnxruntime-node over random graphs. Their answers must agree to the last bit, although
 * they come from two releases of ONNX Runtime.
 */
import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { deserialize } from 'bun:jsc'
import { join } from 'node:path'
import { createFfiSession } from './ffi/session.ts'
import { seeds, traceLoop, traceRuns } from './random-graphs.fixture.ts'
import type { Reference } from './random-reference.fixture.ts'

setDefaultTimeout(60_000)

let reference: Reference
beforeAll(async () => {
  const program = join(import.meta.dir, 'random-reference.fixture.ts')
  const child = Bun.spawn([process.execPath, program], { stdout: 'pipe', stderr: 'inherit' })
  reference = deserialize(await new Response(child.stdout).arrayBuffer()) as Reference
})

test(`${seeds.length} random graphs: the same ports, and the same answers in every run`, async () => {
  let compared = 0
  for (const [at, seed] of seeds.entries()) {
    const ours = await traceRuns(createFfiSession, seed)
    expect([seed, ours]).toEqual([seed, reference.runs[at]!])
    compared += ours.answers.filter((answer) => typeof answer === 'object').length
  }
  // Graphs that both refuse are not comparable.
  expect(compared).toBeGreaterThan(seeds.length * 2.9)
})

test(`${seeds.length} random graphs as loops: the same states and outputs in every step`, async () => {
  let compared = 0
  for (const [at, seed] of seeds.entries()) {
    const ours = await traceLoop(createFfiSession, seed)
    expect([seed, ours]).toEqual([seed, reference.loops[at]!])
    if (ours.links > 0 && ours.seen.every((each) => typeof each === 'object')) compared++
  }
  expect(compared).toBeGreaterThan(seeds.length / 2)
})
