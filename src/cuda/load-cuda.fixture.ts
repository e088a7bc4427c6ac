/** Runs graphs on CUDA with the build in the folder that is its argument, and prints the result. */
import { useCuda } from '../onnx/back-end.ts'

try {
  const memory = await useCuda({ id: 0, dir: process.argv[2]!, memoryBytes: null, tf32: false })
  console.log(`opened, with ${memory().totalBytes} bytes of memory`)
} catch (error) {
  console.log((error as Error).message)
}
