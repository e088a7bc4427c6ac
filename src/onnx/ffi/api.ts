/**
 * ONNX Runtime's C API through `bun:ffi`: the functions that sessions need, called as they are. The API is one table of
 * functions. New ones are only ever added at its end, so a place in it means the same function in every release
 * (onnxruntime_c_api.h, `struct OrtApi`).
 */
import { dlopen, linkSymbols, read, type Pointer } from 'bun:ffi'
import { openOnnxRuntime } from '../../embedded/onnx-runtime.ts'
import { deviceError } from '../device.ts'
import type { FfiDevice } from './device.ts'

/** A release of the table that has all functions below; the library may be of any later one. */
const apiVersion = 17

/** Each gives an `OrtStatus *`, null when all went well, except those that release. */
const functions = {
  GetErrorMessage: { at: 2, args: ['ptr'], returns: 'cstring' },
  CreateEnv: { at: 3, args: ['i32', 'cstring', 'ptr'], returns: 'ptr' },
  CreateSession: { at: 7, args: ['ptr', 'cstring', 'ptr', 'ptr'], returns: 'ptr' },
  CreateSessionFromArray: { at: 8, args: ['ptr', 'ptr', 'u64', 'ptr', 'ptr'], returns: 'ptr' },
  Run: { at: 9, args: ['ptr', 'ptr', 'ptr', 'ptr', 'u64', 'ptr', 'u64', 'ptr'], returns: 'ptr' },
  CreateSessionOptions: { at: 10, args: ['ptr'], returns: 'ptr' },
  SetOptimizedModelFilePath: { at: 11, args: ['ptr', 'cstring'], returns: 'ptr' },
  DisableMemPattern: { at: 17, args: ['ptr'], returns: 'ptr' },
  SetSessionGraphOptimizationLevel: { at: 23, args: ['ptr', 'i32'], returns: 'ptr' },
  SetIntraOpNumThreads: { at: 24, args: ['ptr', 'i32'], returns: 'ptr' },
  SessionGetInputCount: { at: 30, args: ['ptr', 'ptr'], returns: 'ptr' },
  SessionGetOutputCount: { at: 31, args: ['ptr', 'ptr'], returns: 'ptr' },
  SessionGetInputTypeInfo: { at: 33, args: ['ptr', 'u64', 'ptr'], returns: 'ptr' },
  SessionGetOutputTypeInfo: { at: 34, args: ['ptr', 'u64', 'ptr'], returns: 'ptr' },
  SessionGetInputName: { at: 36, args: ['ptr', 'u64', 'ptr', 'ptr'], returns: 'ptr' },
  SessionGetOutputName: { at: 37, args: ['ptr', 'u64', 'ptr', 'ptr'], returns: 'ptr' },
  CreateRunOptions: { at: 39, args: ['ptr'], returns: 'ptr' },
  RunOptionsSetTerminate: { at: 46, args: ['ptr'], returns: 'ptr' },
  CreateTensorAsOrtValue: { at: 48, args: ['ptr', 'ptr', 'u64', 'i32', 'ptr'], returns: 'ptr' },
  CreateTensorWithDataAsOrtValue: { at: 49, args: ['ptr', 'ptr', 'u64', 'ptr', 'u64', 'i32', 'ptr'], returns: 'ptr' },
  GetTensorMutableData: { at: 51, args: ['ptr', 'ptr'], returns: 'ptr' },
  CastTypeInfoToTensorInfo: { at: 55, args: ['ptr', 'ptr'], returns: 'ptr' },
  GetTensorElementType: { at: 60, args: ['ptr', 'ptr'], returns: 'ptr' },
  GetDimensionsCount: { at: 61, args: ['ptr', 'ptr'], returns: 'ptr' },
  GetDimensions: { at: 62, args: ['ptr', 'ptr', 'u64'], returns: 'ptr' },
  GetSymbolicDimensions: { at: 63, args: ['ptr', 'ptr', 'u64'], returns: 'ptr' },
  GetTensorTypeAndShape: { at: 65, args: ['ptr', 'ptr'], returns: 'ptr' },
  CreateMemoryInfo: { at: 68, args: ['cstring', 'i32', 'i32', 'i32', 'ptr'], returns: 'ptr' },
  CreateCpuMemoryInfo: { at: 69, args: ['i32', 'i32', 'ptr'], returns: 'ptr' },
  AllocatorFree: { at: 76, args: ['ptr', 'ptr'], returns: 'ptr' },
  GetAllocatorWithDefaultOptions: { at: 78, args: ['ptr'], returns: 'ptr' },
  ReleaseStatus: { at: 93, args: ['ptr'], returns: 'void' },
  ReleaseSession: { at: 95, args: ['ptr'], returns: 'void' },
  ReleaseValue: { at: 96, args: ['ptr'], returns: 'void' },
  ReleaseRunOptions: { at: 97, args: ['ptr'], returns: 'void' },
  ReleaseTypeInfo: { at: 98, args: ['ptr'], returns: 'void' },
  ReleaseTensorTypeAndShapeInfo: { at: 99, args: ['ptr'], returns: 'void' },
  ReleaseSessionOptions: { at: 100, args: ['ptr'], returns: 'void' },
  AddSessionConfigEntry: { at: 130, args: ['ptr', 'cstring', 'cstring'], returns: 'ptr' },
  RunWithBinding: { at: 133, args: ['ptr', 'ptr', 'ptr'], returns: 'ptr' },
  CreateIoBinding: { at: 134, args: ['ptr', 'ptr'], returns: 'ptr' },
  ReleaseIoBinding: { at: 135, args: ['ptr'], returns: 'void' },
  BindInput: { at: 136, args: ['ptr', 'ptr', 'ptr'], returns: 'ptr' },
  BindOutputToDevice: { at: 138, args: ['ptr', 'ptr', 'ptr'], returns: 'ptr' },
  GetBoundOutputValues: { at: 140, args: ['ptr', 'ptr', 'ptr', 'ptr'], returns: 'ptr' },
  AddRunConfigEntry: { at: 165, args: ['ptr', 'cstring', 'cstring'], returns: 'ptr' },
  SessionOptionsAppendExecutionProvider_CUDA_V2: { at: 204, args: ['ptr', 'ptr'], returns: 'ptr' },
  CreateCUDAProviderOptions: { at: 205, args: ['ptr'], returns: 'ptr' },
  UpdateCUDAProviderOptions: { at: 206, args: ['ptr', 'ptr', 'ptr', 'u64'], returns: 'ptr' },
  RunAsync: {
    at: 260,
    args: ['ptr', 'ptr', 'ptr', 'ptr', 'u64', 'ptr', 'u64', 'ptr', 'ptr', 'ptr'],
    returns: 'ptr',
  },
} as const

const libc = {
  memcpy: { args: ['ptr', 'ptr', 'u64'], returns: 'ptr' },
  malloc_trim: { args: ['u64'], returns: 'i32' },
  mallopt: { args: ['i32', 'i32'], returns: 'i32' },
  setenv: { args: ['cstring', 'cstring', 'i32'], returns: 'i32' },
} as const

/**
 * `M_MMAP_THRESHOLD` and `M_ARENA_MAX` of malloc.h: what is large goes back to the system when it is freed, and threads
 * share what is small. By default, 65 of 740 MB of a long transcription were free pieces between others.
 */
const mallocOptions = [
  [-3, 1_000_000],
  [-8, 1],
] as const

type Functions = ReturnType<typeof linkSymbols<typeof functions>>['symbols']
export type Status = ReturnType<Functions['Run']>

let opened: OrtApi | null = null

/** @throws Error when the library is missing, or older than the table that is asked of it; as `openOnnxRuntime` */
export function ortApi(): OrtApi {
  opened ??= openOnnxRuntime((path) => new OrtApi(path))
  return opened
}

/**
 * Has this library be the one of the process, before any session is wanted.
 * @throws Error when there is one already; as the constructor
 */
export function openOrtApi(path: string): OrtApi {
  if (opened !== null) throw new Error('this process has an ONNX Runtime already')
  return (opened = new OrtApi(path))
}

/** Shared by all sessions of the process; never released. */
export class OrtApi {
  readonly call: Functions
  /** Of `Run`, for other threads. */
  readonly runAddress: Pointer
  readonly libc: ReturnType<typeof dlopen<typeof libc>>['symbols']
  readonly version: string
  readonly env: Pointer
  /** Describes a tensor in the CPU's memory. */
  readonly cpuMemory: Pointer
  readonly allocator: Pointer
  /** Where graphs run by default. */
  readonly cpu: FfiDevice
  readonly #slot = new BigUint64Array(1)

  /** @param path of the library @throws Error if it is not ONNX Runtime, or lacks what is needed */
  constructor(path: string) {
    this.libc = dlopen('libc.so.6', libc).symbols
    // Unless this is set before it is loaded, ONNX Runtime for Linux logs the models that it runs in ~/.cache/Microsoft
    // and sends the log to its maker. An engine reports nothing to anyone.
    const overwrite = 1
    this.libc.setenv('ORT_DISABLE_TELEMETRY', '1', overwrite)
    const base = dlopen(path, { OrtGetApiBase: { args: [], returns: 'ptr' } }).symbols.OrtGetApiBase()
    const { GetApi, GetVersionString } = linkSymbols({
      GetApi: { args: ['u32'], returns: 'ptr', ptr: place(base, 0) },
      GetVersionString: { args: [], returns: 'cstring', ptr: place(base, 1) },
    }).symbols
    this.version = GetVersionString() ?? 'unknown'
    const table = GetApi(apiVersion)
    if (table === null) throw new Error(`ONNX Runtime ${this.version} has no version ${apiVersion} of its C API`)
    this.runAddress = place(table, functions.Run.at)
    const placed = Object.entries(functions).map(([name, { at, ...spec }]) => [
      name,
      { ...spec, ptr: place(table, at) },
    ])
    this.call = linkSymbols(Object.fromEntries(placed) as typeof functions).symbols
    for (const [option, value] of mallocOptions) this.libc.mallopt(option, value)
    // Failures become errors, in the same words.
    const fatal = 4
    const [arena, defaultMemory] = [1, 0]
    this.env = this.made((out) => this.call.CreateEnv(fatal, 'myna', out))
    this.cpuMemory = this.made((out) => this.call.CreateCpuMemoryInfo(arena, defaultMemory, out))
    this.allocator = this.made((out) => this.call.GetAllocatorWithDefaultOptions(out))
    this.cpu = {
      name: 'cpu',
      // Otherwise the second run with the same lengths has all that it needs beside what the first one left, in one
      // block: 170 MB for Whisper base's encoder, and as much processor time.
      prepare: (options) => this.check(this.call.DisableMemPattern(options)),
      memory: this.cpuMemory,
      shrinking: this.shrinkingOptions('cpu:0'),
      download: (target, address) => this.libc.memcpy(target, address, target.byteLength),
    }
  }

  /** @throws Error in ONNX Runtime's words; DeviceOutOfMemory, DeviceLost where they mean that */
  check(status: Status): void {
    if (status === null) return
    const message = this.call.GetErrorMessage(status) ?? 'ONNX Runtime failed without a message'
    this.call.ReleaseStatus(status)
    throw deviceError(message)
  }

  /**
   * Options of a run after which unused memory goes back to the system; otherwise it is kept for later runs.
   * @param arenas as onnxruntime_run_options_config_keys.h defines them, such as `cpu:0;gpu:1`
   */
  shrinkingOptions(arenas: string): Pointer {
    const options = this.made((out) => this.call.CreateRunOptions(out))
    this.check(this.call.AddRunConfigEntry(options, 'memory.enable_memory_arena_shrinkage', arenas))
    return options
  }

  /** The result of a function of the form `create(..., T **out)`. @throws as `check` */
  made(create: (out: BigUint64Array) => Status): Pointer {
    return Number(this.told(create)) as Pointer
  }

  /** Gives freed memory back to the system, of which the C library would keep hundreds of megabytes; some 10 ms. */
  trim(): void {
    this.libc.malloc_trim(0)
  }

  /** The number that a function writes through its last argument. @throws as `check` */
  told(tell: (out: BigUint64Array) => Status): bigint {
    this.#slot[0] = 0n
    this.check(tell(this.#slot))
    return this.#slot[0]
  }
}

/** The pointer at this place of a table of pointers. */
const place = (table: Pointer | bigint | null, at: number): Pointer =>
  read.ptr(Number(table) as Pointer, 8 * at) as Pointer

/** Messages and timers have their turn before each run: one on the calling thread stops everything else. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
