/**
 * Runs on threads of ONNX Runtime (`RunAsync`), so that the engine's loop continues meanwhile and can stop them: a run
 * ends at its next node once its terminate flag is set. A synchronous `Run` cannot be stopped, because nothing else
 * runs in that process.
 *
 * Until the callback has come, ONNX Runtime reads and writes by address: the values, the arrays of their pointers, the
 * names, the options and the session itself. All of them are held here until then.
 */
import { JSCallback, type Pointer } from 'bun:ffi'
import { beginRun } from '../runs.ts'
import type { OrtApi } from './api.ts'
import type { CNames } from './names.ts'
import { releaseAll, type Values } from './values.ts'

/** The session and ports of a run; the session stays alive until the run has ended. */
export interface Runnable {
  readonly api: OrtApi
  /** `OrtSession *` */
  readonly pointer: Pointer
  readonly inputNames: CNames
  readonly outputNames: CNames
}

interface UnderWay {
  runnable: Runnable
  given: Values
  results: Values
  /** @param status `OrtStatus *`; null: success */
  end(status: Pointer | null): void
}

const underWay = new Map<number, UnderWay>()
let lastId = 0

/** A pending callback does not keep the process alive, so a timer does. */
let keepAlive: ReturnType<typeof setInterval> | null = null
const longestMs = 2 ** 31 - 1

/**
 * One callback for all runs of the process. ONNX Runtime calls it on one of its threads, and it is handled on this one.
 */
let callback: JSCallback | null = null

const callbackPointer = (): Pointer => {
  callback ??= new JSCallback(hear, { args: ['ptr', 'ptr', 'u64', 'ptr'], returns: 'void', threadsafe: true })
  return callback.ptr!
}

/** `RunAsyncCallbackFn`: the run's user data, the results (already known), and the status. */
function hear(id: number, _results: unknown, _count: unknown, status: Pointer | null): void {
  const run = underWay.get(Number(id))
  underWay.delete(Number(id))
  if (underWay.size === 0 && keepAlive !== null) {
    clearInterval(keepAlive)
    keepAlive = null
  }
  run?.end(status === null || Number(status) === 0 ? null : status)
}

/** A run that has begun. */
export interface AsyncRun {
  /**
   * Resolves once it has ended successfully: `results` are filled and belong to the caller.
   * @throws Error in ONNX Runtime's words, also when it was terminated; then there are no results to release
   */
  readonly ended: Promise<void>
  /** Sets the flag: the run fails at its next node. Harmless when repeated, and after the end. */
  terminate(): void
}

/**
 * Begins a run.
 * @param given for each input a value, or 0n; owned by the caller, who releases it once the run has ended
 * @param results as many as there are outputs, all 0n
 * @param shrinks whether unused memory goes back to the system afterwards
 * @throws Error in ONNX Runtime's words if it cannot begin
 */
export function startRun(runnable: Runnable, given: Values, results: Values, shrinks: boolean): AsyncRun {
  const { api, pointer, inputNames, outputNames } = runnable
  const { call } = api
  const options = shrinks ? api.shrinkingOptions('cpu:0') : api.made((out) => call.CreateRunOptions(out))
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  const note = beginRun()
  const id = ++lastId
  let isOver = false
  const end = (status: Pointer | null): void => {
    isOver = true
    note()
    call.ReleaseRunOptions(options)
    if (status === null) return resolve()
    releaseAll(api, results)
    try {
      api.check(status)
    } catch (error) {
      reject(error)
    }
  }
  underWay.set(id, { runnable, given, results, end })
  keepAlive ??= setInterval(() => {}, longestMs)
  const status = call.RunAsync(
    ...([pointer, options, inputNames.addresses, given, given.length] as const),
    ...([outputNames.addresses, results.length, results, callbackPointer(), id as Pointer] as const),
  )
  // In that case no callback comes.
  if (status !== null) hear(id, null, null, Number(status) as Pointer)
  return {
    ended,
    terminate: () => {
      if (!isOver) api.check(call.RunOptionsSetTerminate(options))
    },
  }
}
