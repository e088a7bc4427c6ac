/** Holds what differs between the places where graphs can run, for the C API. */
import type { Pointer } from 'bun:ffi'
import type { Tensor } from '../session.ts'

export interface FfiDevice {
  /** `cpu`, or `cuda:N`. */
  name: string
  /** @param options `OrtSessionOptions *` of a session that is to run there */
  prepare(options: Pointer): void
  /** `OrtMemoryInfo *`: where the states of loops stay. */
  memory: Pointer
  /** `OrtRunOptions *` of a run that releases unused memory. */
  shrinking: Pointer
  /** Copies from an address of that memory. */
  download(target: Tensor['data'], address: Pointer): void
}
