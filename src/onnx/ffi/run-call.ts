/** One run of a graph beside the engine's loop, as it is given to ONNX Runtime, and where its addresses come from. */
import { ptr, type Pointer } from 'bun:ffi'
import type { OrtApi } from './api.ts'
import type { CNames } from './names.ts'
import type { Values } from './values.ts'

/** The session and ports of a run; the session stays alive until the run has ended. */
export interface Runnable {
  readonly api: OrtApi
  /** `OrtSession *` */
  readonly pointer: Pointer
  readonly inputNames: CNames
  readonly outputNames: CNames
  /** That compute one run: its leader and, if there are more than one, the session's pool. */
  readonly threads: number
}

/** ONNX Runtime reads and writes all of it by address, so it is held until the run has ended. */
export interface RunCall {
  runnable: Runnable
  /** `OrtRunOptions *` */
  options: Pointer
  given: Values
  results: Values
}

/** The arguments of `Run`, and the first eight of `RunAsync`; 0: null. */
export function argumentsOf({ runnable, options, given, results }: RunCall): RunArguments {
  const { pointer, inputNames, outputNames } = runnable
  return [
    ...([pointer, options, addressOf(inputNames.addresses), addressOf(given), given.length] as const),
    ...([addressOf(outputNames.addresses), results.length, addressOf(results)] as const),
  ]
}

export type RunArguments = readonly [
  session: Pointer,
  options: Pointer,
  inputNames: Pointer,
  given: Pointer,
  givenCount: number,
  outputNames: Pointer,
  resultCount: number,
  results: Pointer,
]

const addressOf = (array: BigUint64Array): Pointer => (array.length === 0 ? (0 as Pointer) : ptr(array))
