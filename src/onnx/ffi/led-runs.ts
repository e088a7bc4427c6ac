/**
 * Runs that a thread of ours leads: a Worker that does nothing else. All sessions share these threads. Each costs 2 MB,
 * and the way to it and back takes 30 us. One that has no work does not keep the process alive.
 */
import type { Pointer } from 'bun:ffi'
import { argumentsOf, type RunCall } from './run-call.ts'
import type { LedRun, LedRunAnswer } from './run-worker.ts'

interface UnderWay {
  call: RunCall
  end: (status: Pointer | null) => void
  fail: (error: Error) => void
}

const idle: Worker[] = []
/** Held here, because the collector takes a Worker without references, even in the middle of its work. */
const busy = new Map<Worker, UnderWay>()

/** Starts the first thread, which takes 5 ms, so that the first run does not wait for it. */
export function prepareThread(): void {
  if (idle.length + busy.size === 0) idle.push(start())
}

/** @returns `OrtStatus *`; null: success @throws Error when the thread ended */
export function runLed(call: RunCall): Promise<Pointer | null> {
  const worker = idle.pop() ?? start()
  const { promise, resolve: end, reject: fail } = Promise.withResolvers<Pointer | null>()
  busy.set(worker, { call, end, fail })
  const { runAddress: run } = call.runnable.api
  worker.postMessage({ run, args: argumentsOf(call) } satisfies LedRun)
  return promise
}

function start(): Worker {
  const worker = new Worker(new URL('./run-worker.ts', import.meta.url).href, { ref: false, smol: true })
  worker.onmessage = ({ data }: MessageEvent<LedRunAnswer>) => {
    const { end } = busy.get(worker)!
    busy.delete(worker)
    idle.push(worker)
    end(data === 0 ? null : (data as Pointer))
  }
  worker.onerror = ({ message }) => lose(worker, message)
  worker.addEventListener('close', () => lose(worker, 'it was closed'))
  return worker
}

function lose(worker: Worker, why: string): void {
  const at = idle.indexOf(worker)
  if (at !== -1) idle.splice(at, 1)
  const fail = busy.get(worker)?.fail
  busy.delete(worker)
  worker.terminate()
  fail?.(new Error(`the thread of a run ended: ${why}`))
}
