/** Opens a session on CUDA with the library that LD_LIBRARY_PATH names, and prints the result. */
import { join } from 'node:path'

const { InferenceSession } = await import('onnxruntime-node')
const graph = join(import.meta.dir, '../onnx/selftest.onnx')
try {
  const session = await InferenceSession.create(graph, { executionProviders: ['cuda'] })
  console.log(`opened with ${session.inputNames.join(' ')}`)
} catch (error) {
  console.log((error as Error).message)
}
