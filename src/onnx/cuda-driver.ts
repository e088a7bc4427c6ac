/**
 * NVIDIA's driver, called directly: for what ONNX Runtime does not report, which is the card's memory, and for copying
 * data from it. Names and numbers: cuda.h of the CUDA toolkit, whose functions keep their form under their name (`_v2`
 * is part of it).
 */
import { dlopen, type Pointer } from 'bun:ffi'
import type { Tensor } from './session.ts'
import { deviceError } from './device.ts'

const functions = {
  cuInit: { args: ['u32'], returns: 'i32' },
  cuDeviceGet: { args: ['ptr', 'i32'], returns: 'i32' },
  cuDevicePrimaryCtxRetain: { args: ['ptr', 'i32'], returns: 'i32' },
  cuCtxSetCurrent: { args: ['u64'], returns: 'i32' },
  cuMemGetInfo_v2: { args: ['ptr', 'ptr'], returns: 'i32' },
  cuMemcpyDtoH_v2: { args: ['ptr', 'u64', 'u64'], returns: 'i32' },
} as const

export type DriverCalls = ReturnType<typeof dlopen<typeof functions>>['symbols']

export class CudaDriver {
  readonly #call: DriverCalls
  /** The one that the CUDA provider computes in: a process shares one on each card with all its libraries. */
  readonly #context: bigint

  /**
   * @param id as CUDA numbers the cards that this process may see
   * @param call the driver's functions, except in tests
   * @throws Error if there is no driver, or no such card
   */
  constructor(id: number, call: DriverCalls = dlopen('libcuda.so.1', functions).symbols) {
    this.#call = call
    this.#check('cuInit', this.#call.cuInit(0))
    const device = new Int32Array(1)
    this.#check('cuDeviceGet', this.#call.cuDeviceGet(device, id))
    const context = new BigUint64Array(1)
    this.#check('cuDevicePrimaryCtxRetain', this.#call.cuDevicePrimaryCtxRetain(context, device[0]!))
    this.#context = context[0]!
  }

  /** Of the card: used by all programs, and in all. */
  memory(): { usedBytes: number; totalBytes: number } {
    const [free, total] = [new BigUint64Array(1), new BigUint64Array(1)]
    this.#enter()
    this.#check('cuMemGetInfo', this.#call.cuMemGetInfo_v2(free, total))
    return { usedBytes: Number(total[0]! - free[0]!), totalBytes: Number(total[0]!) }
  }

  /** Ends when the bytes are here. @param address in the card's memory */
  download(target: Tensor['data'], address: Pointer): void {
    this.#enter()
    this.#check('cuMemcpyDtoH', this.#call.cuMemcpyDtoH_v2(target, address, target.byteLength))
  }

  #enter(): void {
    this.#check('cuCtxSetCurrent', this.#call.cuCtxSetCurrent(this.#context))
  }

  /** The driver's numbers are those of the CUDA runtime: in the same words, they are recognised alike. */
  #check(name: string, code: number): void {
    if (code === 0) return
    throw deviceError(`CUDA failure ${code}: ${name}`)
  }
}
