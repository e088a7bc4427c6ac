/**
 * Asks NVIDIA's driver itself which devices there are. Runs in a process of its own that does nothing else: a broken
 * driver may end it, or never come back.
 * Source: CUDA driver API, cuda.h of CUDA 13 (names with `_v2` are what the header makes of the plain ones).
 */
import { dlopen } from 'bun:ffi'

export interface Gpu {
  /** The N of `--device cuda:N`. */
  index: number
  name: string
  memoryBytes: number
  /** Compute capability, times ten. */
  capability: number
}

export interface Probe {
  /** Newest CUDA that the driver knows, such as `13.0`; null: it did not come to that. */
  cuda: string | null
  gpus: readonly Gpu[]
  /** Why there are none; null: there are. */
  error: string | null
  remedy: string | null
}

const symbols = {
  cuInit: { args: ['u32'], returns: 'i32' },
  cuDriverGetVersion: { args: ['ptr'], returns: 'i32' },
  cuDeviceGetCount: { args: ['ptr'], returns: 'i32' },
  cuDeviceGet: { args: ['ptr', 'i32'], returns: 'i32' },
  cuDeviceGetName: { args: ['ptr', 'i32', 'i32'], returns: 'i32' },
  cuDeviceTotalMem_v2: { args: ['ptr', 'i32'], returns: 'i32' },
  cuDeviceGetAttribute: { args: ['ptr', 'i32', 'i32'], returns: 'i32' },
} as const

/** The driver's functions; pointers are to the first element of an array. */
export interface DriverCalls {
  cuInit(flags: number): number
  cuDriverGetVersion(version: Int32Array): number
  cuDeviceGetCount(count: Int32Array): number
  cuDeviceGet(device: Int32Array, ordinal: number): number
  cuDeviceGetName(name: Uint8Array, sizeBytes: number, device: number): number
  cuDeviceTotalMem_v2(bytes: BigUint64Array, device: number): number
  cuDeviceGetAttribute(value: Int32Array, attribute: number, device: number): number
}

const capabilityMajor = 75
const capabilityMinor = 76
const nameBytes = 256

/** Codes of CUresult that say what to do. */
const reasons: Readonly<Record<number, readonly [string, string]>> = {
  34: ['libcuda.so.1 is the stub of a CUDA toolkit', "Take the toolkit's folder stubs out of LD_LIBRARY_PATH."],
  100: ['the driver shows no device', 'See nvidia-smi, and whether CUDA_VISIBLE_DEVICES hides it.'],
  101: ['a device that is asked for does not exist', 'Look at CUDA_VISIBLE_DEVICES.'],
  802: ['the devices are not ready', 'Start the fabric manager: sudo systemctl start nvidia-fabricmanager'],
  803: ['driver and library are of different versions', 'Restart the machine, or start the container anew.'],
  804: [
    'this libcuda.so.1 is newer than the driver, which works only with data center cards',
    "Update the driver of the machine, or take the CUDA toolkit's folder compat away from the loader.",
  ],
  999: ['the driver has failed', 'sudo nvidia-modprobe -u -c 0 may help; else restart the machine.'],
}

export function openDriver(path: string): DriverCalls {
  return dlopen(path, symbols).symbols
}

/** Never throws: what goes wrong is the answer. */
export function probeGpus(open: () => DriverCalls): Probe {
  const nothing = (error: string, remedy: string | null): Probe => ({ cuda: null, gpus: [], error, remedy })
  let calls: DriverCalls
  try {
    calls = open()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return nothing(`libcuda.so.1 cannot be loaded: ${why}`, 'Install the driver again.')
  }
  try {
    check('cuInit', calls.cuInit(0))
    return { ...devicesOf(calls), error: null, remedy: null }
  } catch (error) {
    if (!(error instanceof DriverError)) throw error
    const [what, remedy] = reasons[error.code] ?? ['the driver has failed', 'See what nvidia-smi says.']
    return nothing(`${what} (${error.call} says ${error.code})`, remedy)
  }
}

class DriverError extends Error {
  constructor(
    readonly call: string,
    readonly code: number,
  ) {
    super(`${call}: ${code}`)
  }
}

function check(call: string, code: number): void {
  if (code !== 0) throw new DriverError(call, code)
}

function devicesOf(calls: DriverCalls): { cuda: string; gpus: Gpu[] } {
  const number = (call: string, ask: (out: Int32Array) => number) => {
    const out = new Int32Array(1)
    check(call, ask(out))
    return out[0] ?? 0
  }
  const version = number('cuDriverGetVersion', (out) => calls.cuDriverGetVersion(out))
  const count = number('cuDeviceGetCount', (out) => calls.cuDeviceGetCount(out))
  const gpus = Array.from({ length: count }, (_, index): Gpu => {
    const device = number('cuDeviceGet', (out) => calls.cuDeviceGet(out, index))
    const name = new Uint8Array(nameBytes)
    check('cuDeviceGetName', calls.cuDeviceGetName(name, nameBytes, device))
    const memory = new BigUint64Array(1)
    check('cuDeviceTotalMem', calls.cuDeviceTotalMem_v2(memory, device))
    const attribute = (which: number) =>
      number('cuDeviceGetAttribute', (out) => calls.cuDeviceGetAttribute(out, which, device))
    return {
      index,
      name: new TextDecoder().decode(name.subarray(0, Math.max(0, name.indexOf(0)))),
      memoryBytes: Number(memory[0]),
      capability: 10 * attribute(capabilityMajor) + attribute(capabilityMinor),
    }
  })
  return { cuda: `${Math.floor(version / 1000)}.${Math.floor((version % 1000) / 10)}`, gpus }
}
