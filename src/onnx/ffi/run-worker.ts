/** A thread that leads runs: it calls `Run`, which returns once the graph is computed, and says what it returned. */
import { linkSymbols, type Pointer } from 'bun:ffi'
import type { RunArguments } from './run-call.ts'

export interface LedRun {
  /** Address of `Run`. */
  run: Pointer
  args: RunArguments
}

/** `OrtStatus *`; 0: success. */
export type LedRunAnswer = number

declare const self: Worker

const signature = { args: ['ptr', 'ptr', 'ptr', 'ptr', 'u64', 'ptr', 'u64', 'ptr'], returns: 'ptr' } as const
const linked = (run: Pointer) => linkSymbols({ Run: { ...signature, ptr: run } }).symbols.Run

let current: { run: Pointer; Run: ReturnType<typeof linked> } | null = null

self.onmessage = ({ data: { run, args } }: MessageEvent<LedRun>) => {
  // A process may have more than one library.
  if (current?.run !== run) current = { run, Run: linked(run) }
  self.postMessage(Number(current.Run(...args)) satisfies LedRunAnswer)
}
