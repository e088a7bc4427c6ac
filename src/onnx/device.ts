/** Says where the graphs of a process run, and what goes wrong on a graphics card, in words of its own. */

export interface CudaOptions {
  /** Among the cards that CUDA shows this process, from 0. */
  id: number
  /** Folder with ONNX Runtime and its CUDA provider, which must be of one release. */
  dir: string
  /** Most that the activations and states of one session may take; null: what the card has. */
  memoryBytes: number | null
  /** Whether float32 products may be computed with a 10-bit mantissa, several times as fast. */
  tf32: boolean
}

/** The device has no memory left for what was asked of it. Nothing is broken: with less in memory it works again. */
export class DeviceOutOfMemory extends Error {
  override name = 'DeviceOutOfMemory'
}

/** The device, or the process's share of it, is lost: every further call fails. Only another process can continue. */
export class DeviceLost extends Error {
  override name = 'DeviceLost'
}

interface Sign {
  pattern: RegExp
  kind: typeof DeviceOutOfMemory | typeof DeviceLost
}

/**
 * By ONNX Runtime's words, for its codes are `FAIL` and `RUNTIME_EXCEPTION` for nearly everything. It writes «CUDA
 * failure N: what ; GPU=...» (core/providers/cuda/cuda_call.cc) with the numbers of the libraries themselves, which do
 * not change: `cudaError_t` of driver_types.h, `cublasStatus_t` of cublas_api.h, `cudnnStatus_t` of cudnn_graph.h.
 */
const signs: readonly Sign[] = [
  // cudaErrorMemoryAllocation; also from cudaStreamCreate, as in Deep-Live-Cam#584.
  { pattern: /\bCUDA failure 2:/, kind: DeviceOutOfMemory },
  // BFCArena::Extend: the card refused (onnxruntime#16307, #22702), or the limit that was set did.
  { pattern: /Failed to allocate memory for requested buffer of size \d/, kind: DeviceOutOfMemory },
  { pattern: /Available memory of \d+ is smaller than requested bytes of \d/, kind: DeviceOutOfMemory },
  // hallo#218: what cublasCreate says on a full card.
  { pattern: /\bCUBLAS failure 3:/, kind: DeviceOutOfMemory },
  { pattern: /CUDNN_STATUS_(INTERNAL_ERROR_DEVICE_)?ALLOC(ATION)?_FAILED/, kind: DeviceOutOfMemory },
  // Errors after which «the process must be terminated», says driver_types.h: illegal address (700, onnxruntime#26312),
  // launch timeout, assert, hardware stack, instruction, alignment, address space, program counter, launch failure.
  { pattern: /\bCUDA failure (70[02]|71[04-9]):/, kind: DeviceLost },
  // Uncorrectable ECC error, lost NVLink, a context that was destroyed, no device any more, and «unknown».
  { pattern: /\bCUDA failure (46|100|101|201|214|220|226|709|999):/, kind: DeviceLost },
]

/** What ONNX Runtime's words mean. */
export function deviceError(words: string): Error {
  const sign = signs.find(({ pattern }) => pattern.test(words))
  return sign === undefined ? new Error(words) : new sign.kind(words)
}

/**
 * The part of ONNX Runtime's words that people need, in one line that is safe for anyone to read: not the place in its
 * source, nor the name of this machine, nor where a file is on it. The whole text is for the log.
 */
export function briefly(words: string): string {
  const line = words
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/(?<![\w.-])\/\S*\//g, '')
    .trim()
  const [, library, why] = /Failed to load library (\S+) with error: (.*)$/.exec(line) ?? []
  if (library !== undefined) return `${library} cannot be loaded: ${why}`
  return /\b(?:CUDA|CUBLAS|CUDNN) failure \d+: [^;]*?(?= ;|$)/.exec(line)?.[0] ?? line
}

/** The failure of the device behind an error, however often it was wrapped; null: it is something else. */
export function deviceFailure(error: unknown): DeviceOutOfMemory | DeviceLost | null {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof DeviceOutOfMemory || at instanceof DeviceLost) return at
  }
  return null
}
