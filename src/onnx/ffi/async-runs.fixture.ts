/** A process that starts a long run and ends in one way or another; its one argument says which. */
import { longGraph, square } from '../../testing/long-graph.ts'
import { onnxModel } from '../../testing/tiny-onnx.ts'
import { createFfiSession } from './session.ts'

const size = 400

if (import.meta.main) {
  const session = await createFfiSession(onnxModel(longGraph({ nodes: 300, size })), { threads: 2 })
  const running = session.run({ x: square(size, 1) })
  switch (process.argv[2]) {
    case 'exit':
      setImmediate(() => process.exit(7))
      break
    case 'throw':
      setImmediate(() => {
        throw new Error('something else went wrong')
      })
      break
    case 'end':
      // Only the run keeps this process alive.
      void running.then(({ y }) => console.log(`the first is ${Math.round(Number(y!.data[0]))}`))
      break
    default:
      throw new Error('exit, throw or end')
  }
}
