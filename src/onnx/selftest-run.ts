/**
 * Tests whether graphs compute correctly, before any model is loaded: y = x W + b, four known numbers. They are exact
 * wherever they are computed, because each is a small sum of powers of two. `selftest.onnx` is written by
 * `testing/selftest-graph`; a test keeps the two in step.
 */
import { selfTestOutputs } from '../engine/protocol.ts'
import type { CreateSession } from './session.ts'
import graph from './selftest.onnx' with { type: 'file' }

export const selfTestInput = [1, 2, 3] as const

/** @throws Error in ONNX Runtime's words when it cannot run the graph */
export async function runSelfTestGraph(create: CreateSession): Promise<number[]> {
  const session = await create(await Bun.file(graph).bytes(), { threads: 1 })
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
