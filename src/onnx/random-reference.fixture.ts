/** Prints the answers of onnxruntime-node's JavaScript to the random graphs, serialized, for `random.test.ts`. */
import { serialize } from 'bun:jsc'
import { createNodeSession } from '../testing/reference-session.ts'
import { type LoopTrace, type RunTrace, seeds, traceLoop, traceRuns } from './random-graphs.fixture.ts'

export interface Reference {
  runs: RunTrace[]
  loops: LoopTrace[]
}

if (import.meta.main) {
  const reference: Reference = { runs: [], loops: [] }
  for (const seed of seeds) {
    reference.runs.push(await traceRuns(createNodeSession, seed))
    reference.loops.push(await traceLoop(createNodeSession, seed))
  }
  await Bun.write(Bun.stdout, serialize(reference))
}
