/**
 * Tests whether a back end computes correctly, before any model is loaded, with two graphs and known numbers. One run
 * is y = x W + b: four numbers that are exact wherever they are computed, because each is a small sum of powers of
 * two. One loop keeps a state of each kind, growing from nothing, which tests what fails silently when memory is passed
 * by address. `selftest.onnx` is written by `testing/selftest-graph`; a test keeps the two in step.
 */
import { selfTestOutputs } from '../engine/protocol.ts'
import loopGraph from './selftest-loop.onnx' with { type: 'file' }
import runGraph from './selftest.onnx' with { type: 'file' }
import type { CreateSession, LoopOptions, Tensors } from './session.ts'

export const selfTestInput = [1, 2, 3] as const

/** @throws Error in ONNX Runtime's words when it cannot run the graph */
export async function runSelfTestGraph(create: CreateSession): Promise<number[]> {
  const session = await create(await Bun.file(runGraph).bytes(), { threads: 1 })
  try {
    const x = { type: 'float32', dims: [1, selfTestInput.length], data: Float32Array.from(selfTestInput) } as const
    const { y } = await session.run({ x })
    if (y === undefined) throw new Error('the self-test graph gave no y')
    return Array.from(y.data, Number)
  } finally {
    await session.release()
  }
}

/** @throws Error that says what went wrong */
export async function verifyRuns(create: CreateSession): Promise<void> {
  const outputs = await runSelfTestGraph(create)
  if (Bun.deepEquals(outputs, selfTestOutputs)) return
  throw new Error(`the self-test gave ${outputs.join(', ')} instead of ${selfTestOutputs.join(', ')}`)
}

const options: LoopOptions = {
  links: { past: 'present', count: 'next_count', flag: 'next_flag', half: 'next_half' },
  start: {
    past: { type: 'float32', dims: [1, 0, 2], data: new Float32Array(0) },
    count: { type: 'int64', dims: [], data: BigInt64Array.of(2n ** 53n) },
    flag: { type: 'bool', dims: [1], data: Uint8Array.of(0) },
    // The bits of 1 and -1.5 in half precision; three steps later those of 8 and -12.
    half: { type: 'float16', dims: [2], data: Uint16Array.of(0x3c00, 0xbe00) },
  },
  constants: { step: { type: 'int64', dims: [], data: BigInt64Array.of(3n) } },
}
const steps = [
  [1, -2],
  [10, -20],
  [100, -200],
] as const
const lastSum: Tensors = { sum: { type: 'float32', dims: [1, 2], data: Float32Array.of(111, -222) } }
const lastStates: Tensors = {
  past: { type: 'float32', dims: [1, 3, 2], data: Float32Array.from(steps.flat()) },
  count: { type: 'int64', dims: [], data: BigInt64Array.of(2n ** 53n + 9n) },
  flag: { type: 'bool', dims: [1], data: Uint8Array.of(1) },
  half: { type: 'float16', dims: [2], data: Uint16Array.of(0x4800, 0xca00) },
}

/** @throws Error that says what went wrong */
export async function verifyLoops(create: CreateSession): Promise<void> {
  const session = await create(await Bun.file(loopGraph).bytes(), { threads: 1 })
  try {
    const loop = session.loop(options)
    let outputs: Tensors = {}
    for (const x of steps) {
      outputs = await loop.step({ x: { type: 'float32', dims: [1, 1, 2], data: Float32Array.from(x) } })
    }
    const states = await loop.states()
    if (!Bun.deepEquals({ ...outputs, ...states }, { ...lastSum, ...lastStates }))
      throw new Error('it computes wrongly')
    // The first step of the next gives back what the first one had.
    loop.release()
    await session.loop(options).step({ x: { type: 'float32', dims: [1, 1, 2], data: Float32Array.from(steps[0]) } })
  } finally {
    await session.release()
  }
}
