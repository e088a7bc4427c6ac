/** Whether ONNX Runtime loads and computes on this machine, wherever the graphs of this process run. */
import { runSelfTestGraph } from './selftest-run.ts'
import { backEnd } from './session.ts'

export interface SelfTest {
  /** Its version. */
  onnxRuntime: string
  outputs: number[]
  /** Why graphs do not run through the C API; null: they do. */
  slowReason: string | null
}

/** @throws Error in ONNX Runtime's words when it cannot be loaded or cannot run the graph */
export async function runSelfTest(): Promise<SelfTest> {
  const { create, slowReason, version } = await backEnd()
  return { onnxRuntime: version, outputs: await runSelfTestGraph(create), slowReason }
}
