/** Runs that are led by threads of a session's own pool (`RunAsync`), one of them each; further ones wait in line. */
import { JSCallback, type Pointer } from 'bun:ffi'
import { argumentsOf, type RunCall } from './run-call.ts'

interface UnderWay {
  call: RunCall
  end: (status: Pointer | null) => void
}

const underWay = new Map<number, UnderWay>()
let lastId = 0

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
  run?.end(status === null || Number(status) === 0 ? null : status)
}

/** @returns `OrtStatus *`; null: success */
export function runInPool(call: RunCall): Promise<Pointer | null> {
  const { promise, resolve } = Promise.withResolvers<Pointer | null>()
  const id = ++lastId
  underWay.set(id, { call, end: resolve })
  const { RunAsync } = call.runnable.api.call
  const status = RunAsync(...argumentsOf(call), callbackPointer(), id as Pointer)
  // In that case no callback comes.
  if (status !== null) hear(id, null, null, Number(status) as Pointer)
  return promise
}
