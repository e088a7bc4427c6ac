/**
 * A graph of four numbers that shows whether ONNX Runtime loads and computes on this machine, before any model is
 * there: y = x W + b. `selftest.onnx` is written by `testing/tiny-onnx`; a test holds the two together.
 */
import { backEnd, onnxRuntimeVersion } from './session.ts'
import graph from './selftest.onnx' with { type: 'file' }

export const selfTestInput = [1, 2, 3] as const

export interface SelfTest {
  /** Its version. */
  onnxRuntime: string
  outputs: number[]
  /** Why graphs do not run through the C API; null: they do. */
  slowReason: string | null
}

/** @throws Error in ONNX Runtime's words when it cannot be loaded or cannot run the graph */
export async function runSelfTest(): Promise<SelfTest> {
  const { create, slowReason } = await backEnd()
  const session = await create(await Bun.file(graph).bytes(), { threads: 1 })
  try {
    const x = { type: 'float32', dims: [1, selfTestInput.length], data: Float32Array.from(selfTestInput) } as const
    const { y } = await session.run({ x })
    if (y === undefined) throw new Error('the self-test graph gave no y')
    return { onnxRuntime: await onnxRuntimeVersion(), outputs: Array.from(y.data, Number), slowReason }
  } finally {
    await session.release()
  }
}
