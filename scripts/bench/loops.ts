/**
 * The cost of passing states from one step to the next, for each back end: a cache that grows, as in a text decoder,
 * and 49 MB of fixed size, as in Pocket's voice. Each runs in a process of its own, since memory is half of the cost.
 *
 * This is also that program: its one argument is JSON and says what to measure; it prints the results as JSON.
 */
import { createFfiSession } from '../../src/onnx/ffi/session.ts'
import { createNodeSession } from '../../src/testing/reference-session.ts'
import type { LoopOptions, Session, Tensor, Tensors } from '../../src/onnx/session.ts'
import { onnxModel, type GraphSpec, type TensorSpec } from '../../src/testing/tiny-onnx.ts'
import { printTable } from './figures.ts'

const backEnds = { 'C API': createFfiSession, 'onnxruntime-node': createNodeSession } as const
const kinds = ['growing', 'fixed', 'none'] as const

interface Work {
  backEnd: keyof typeof backEnds
  kind: (typeof kinds)[number]
  steps: number
}

interface Seen {
  stepMs: number
  beforeMb: number
  peakMb: number
  /** Once the loop and then the session were released and the collector has run. */
  loopReleasedMb: number
  releasedMb: number
}

export async function measureLoops(steps: number): Promise<object> {
  const records: (Work & Seen)[] = []
  for (const kind of kinds) {
    for (const backEnd of Object.keys(backEnds) as (keyof typeof backEnds)[]) {
      const work: Work = { backEnd, kind, steps: kind === 'fixed' ? steps / 10 : steps }
      const child = Bun.spawn([process.execPath, import.meta.path, JSON.stringify(work)], { stderr: 'inherit' })
      records.push({ ...work, ...((await new Response(child.stdout).json()) as Seen) })
    }
  }
  const titles = { growing: 'a cache that grows', fixed: '49 MB of fixed size', none: 'no states, small run' }
  printTable('Steps of a loop, by what is handed on', [
    ['states', 'through', 'steps', 'ms a step', 'MB before', 'peak', 'loop released', 'session, too'],
    ...records.map(({ backEnd, kind, steps, stepMs, beforeMb, peakMb, loopReleasedMb, releasedMb }) => {
      return [titles[kind], backEnd, steps, stepMs, beforeMb, peakMb, loopReleasedMb, releasedMb]
    }),
  ])
  return records
}

const floats = (dims: readonly number[]): Tensor => ({
  type: 'float32',
  dims,
  data: new Float32Array(dims.reduce((product, length) => product * length, 1)),
})

interface Scene {
  graph: GraphSpec
  options: LoopOptions
  feeds(step: number): Tensors
}

/** Keys of one layer: 16 heads of 64 numbers for each past step. */
function growing(): Scene {
  const cache = (name: string): TensorSpec => ({ name, type: 'float32', dims: [1, 16, `${name}_length`, 64] })
  const x = floats([1, 16, 1, 64])
  return {
    graph: {
      name: 'growing',
      nodes: [
        { op: 'Concat', inputs: ['past', 'x'], outputs: ['present'], attributes: { axis: 2n } },
        { op: 'ReduceSum', inputs: ['x'], outputs: ['y'], attributes: { keepdims: 0n } },
      ],
      inputs: [cache('past'), { name: 'x', type: 'float32', dims: x.dims }],
      outputs: [cache('present'), { name: 'y', type: 'float32', dims: [] }],
    },
    options: { links: { past: 'present' }, start: { past: floats([1, 16, 0, 64]) } },
    feeds: () => ({ x }),
  }
}

/** Six layers of keys and values for 1000 positions; each step writes one of them. */
function fixed(): Scene {
  const layers = [0, 1, 2, 3, 4, 5]
  const state = (name: string): TensorSpec => ({ name, type: 'float32', dims: [1000, 2048] })
  const x = floats([1, 2048])
  return {
    graph: {
      name: 'fixed',
      nodes: [
        ...layers.map((layer) => ({ op: 'ScatterND', inputs: [`s${layer}`, 'at', 'x'], outputs: [`next_${layer}`] })),
        { op: 'ReduceSum', inputs: ['x'], outputs: ['y'], attributes: { keepdims: 0n } },
      ],
      inputs: [
        ...layers.map((layer) => state(`s${layer}`)),
        { name: 'at', type: 'int64', dims: [1, 1] },
        { name: 'x', type: 'float32', dims: x.dims },
      ],
      outputs: [...layers.map((layer) => state(`next_${layer}`)), { name: 'y', type: 'float32', dims: [] }],
    },
    options: {
      links: Object.fromEntries(layers.map((layer) => [`s${layer}`, `next_${layer}`])),
      start: Object.fromEntries(layers.map((layer) => [`s${layer}`, floats([1000, 2048])])),
    },
    feeds: (step) => ({ x, at: { type: 'int64', dims: [1, 1], data: BigInt64Array.of(BigInt(step % 1000)) } }),
  }
}

/** The cost of a run that computes next to nothing. */
function none(): Scene {
  const feeds = { x: floats([1, 2]) }
  return {
    graph: {
      name: 'none',
      nodes: [{ op: 'Add', inputs: ['x', 'x'], outputs: ['y'] }],
      inputs: [{ name: 'x', type: 'float32', dims: [1, 2] }],
      outputs: [{ name: 'y', type: 'float32', dims: [1, 2] }],
    },
    options: { links: {}, start: {} },
    feeds: () => feeds,
  }
}
const scenes: Readonly<Record<Work['kind'], () => Scene>> = { growing, fixed, none }

async function measureOne({ backEnd, kind, steps }: Work): Promise<Seen> {
  const megabytes = () => process.memoryUsage.rss() / 1e6
  const collected = () => {
    Bun.gc(true)
    return megabytes()
  }
  const { graph, options, feeds } = scenes[kind]()
  const session: Session = await backEnds[backEnd](onnxModel(graph), { threads: 1 })
  const loop = session.loop(options)
  const beforeMb = collected()
  let peakMb = beforeMb
  const startMs = performance.now()
  for (let step = 0; step < steps; step++) {
    await loop.step(feeds(step))
    if (step % 10 === 0) peakMb = Math.max(peakMb, megabytes())
  }
  const stepMs = (performance.now() - startMs) / steps
  loop.release()
  const loopReleasedMb = collected()
  await session.release()
  return { stepMs, beforeMb, peakMb, loopReleasedMb, releasedMb: collected() }
}

if (import.meta.main) console.log(JSON.stringify(await measureOne(JSON.parse(Bun.argv[2] ?? '') as Work)))
