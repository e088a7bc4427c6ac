/**
 * Knows which libraries ONNX Runtime's CUDA provider needs. The names that it gives the loader (DT_NEEDED) say most,
 * also which CUDA it was built for. It opens two more by itself when first needed, so that a lack of them would show
 * only in the middle of the work: cuDNN, without which convolutions fail, and NVRTC, with which cuDNN compiles some of
 * them. cuFFT, which it opens likewise, serves two operators that none of our graphs has.
 */
import type { ElfFacts } from './elf.ts'
import { RuntimeError } from './runtime-error.ts'
import type { FindLibrary } from './system-libraries.ts'

export const provider = 'libonnxruntime_providers_cuda.so'
export const onnxRuntimeLibrary = 'libonnxruntime.so.1'
const ownLibraries = [onnxRuntimeLibrary, 'libonnxruntime_providers_shared.so', provider]

/** Comes with the driver, never from us: another one than the driver's own is of no use. */
export const driverLibrary = 'libcuda.so.1'

/** Libraries of C and C++: without them neither this program nor ONNX Runtime on the CPU would run. */
const ofSystem = /^(ld-linux[\w-]*|libc|libm|libdl|librt|libpthread|libutil|libgcc_s|libstdc\+\+)\.so\b/

/**
 * cuDNN 9 opens its parts by name. Source: NVIDIA cuDNN, API overview, for the parts of version 9; later versions have
 * more, which are kept if present.
 */
const cudnn = 'libcudnn.so.9'
const cudnnParts = ['graph', 'ops', 'cnn', 'adv', 'heuristic', 'engines_precompiled', 'engines_runtime_compiled']

export interface CudaSet {
  cudaMajor: number
  /** Names, of the libraries given. */
  files: readonly string[]
  /** Libraries that the system provides instead. */
  system: readonly { name: string; path: string }[]
  missing: readonly { name: string; neededBy: string }[]
}

/**
 * @param libraries by the name under which the loader looks for them
 * @throws RuntimeError `libraries_missing` when the provider itself is not among them
 */
export function examineSet(libraries: ReadonlyMap<string, ElfFacts>, find: FindLibrary): CudaSet {
  const cudaMajor = cudaMajorOf(libraries.get(provider))
  const files = new Set<string>()
  const system = new Map<string, string>()
  const missing = new Map<string, string>()
  const open: { name: string; neededBy: string }[] = [
    ...ownLibraries.map((name) => ({ name, neededBy: 'Myna' })),
    ...openedLater(libraries, cudaMajor),
  ]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { name, neededBy } = next
    if (files.has(name) || system.has(name) || missing.has(name)) continue
    const facts = libraries.get(name)
    const path = facts === undefined && !ownLibraries.includes(name) ? find(name) : null
    if (facts !== undefined) {
      files.add(name)
      const needed = facts.needed.filter((other) => !ofSystem.test(other) && other !== driverLibrary)
      open.push(...needed.map((other) => ({ name: other, neededBy: name })))
    } else if (path !== null) system.set(name, path)
    else missing.set(name, neededBy)
  }
  return {
    cudaMajor,
    files: [...files].sort(),
    system: [...system].map(([name, path]) => ({ name, path })),
    missing: [...missing].map(([name, neededBy]) => ({ name, neededBy })).sort((a, b) => (a.name < b.name ? -1 : 1)),
  }
}

/** @throws RuntimeError if there is none, or it does not say */
function cudaMajorOf(facts: ElfFacts | undefined): number {
  if (facts === undefined) {
    throw new RuntimeError(
      'libraries_missing',
      `There is no ${provider}: give a CUDA build of ONNX Runtime (a wheel of onnxruntime-gpu, a release archive ` +
        'onnxruntime-linux-x64-gpu..., or a package Microsoft.ML.OnnxRuntime.Gpu.Linux).',
    )
  }
  const major = facts.needed.map((name) => /^libcudart\.so\.(\d+)/.exec(name)?.[1]).find((found) => found !== undefined)
  if (major !== undefined) return Number(major)
  throw new RuntimeError(
    'bad_library',
    `${provider} does not name a CUDA runtime (libcudart.so), so it is not for CUDA.`,
  )
}

function openedLater(
  libraries: ReadonlyMap<string, ElfFacts>,
  cudaMajor: number,
): { name: string; neededBy: string }[] {
  const given = [...libraries.keys()]
  const more = given.filter((name) => /^libcudnn_\w+\.so\.9$/.test(name))
  // If the system has cuDNN, it has all of it.
  const parts = libraries.has(cudnn) ? cudnnParts.map((part) => `libcudnn_${part}.so.9`) : []
  const builtins = given.filter((name) => name.startsWith(`libnvrtc-builtins.so.${cudaMajor}.`))
  const nvrtc = `libnvrtc.so.${cudaMajor}`
  const compilerParts =
    builtins.length > 0 || !libraries.has(nvrtc) ? builtins : [`libnvrtc-builtins.so.${cudaMajor}.x`]
  return [
    { name: cudnn, neededBy: provider },
    ...[...new Set([...parts, ...(libraries.has(cudnn) ? more : [])])].map((name) => ({ name, neededBy: cudnn })),
    { name: nvrtc, neededBy: cudnn },
    ...compilerParts.map((name) => ({ name, neededBy: nvrtc })),
  ]
}

/**
 * The Python package in which NVIDIA publishes a library.
 * @returns null for what is not NVIDIA's
 */
export function packageOf(library: string, cudaMajor: number): string | null {
  const stem = /^lib([a-zA-Z]+)/.exec(library)?.[1] ?? ''
  if (stem === 'cudnn') return `nvidia-cudnn-cu${cudaMajor}`
  const names: Readonly<Record<string, string>> = {
    cudart: 'nvidia-cuda-runtime',
    cublas: 'nvidia-cublas',
    cublasLt: 'nvidia-cublas',
    curand: 'nvidia-curand',
    nvrtc: 'nvidia-cuda-nvrtc',
    nvJitLink: 'nvidia-nvjitlink',
  }
  const name = names[stem]
  if (name === undefined) return null
  return cudaMajor < 13 ? `${name}-cu${cudaMajor}` : name
}

/** @throws RuntimeError `libraries_missing`: which, who wants them, and how to get them */
export function requireComplete({ missing, cudaMajor }: CudaSet, pulledMajor: number): void {
  if (missing.length === 0) return
  const named = missing.map(({ name, neededBy }) => `${name} (for ${neededBy})`).join(', ')
  const packages = [...new Set(missing.map(({ name }) => packageOf(name, cudaMajor)))].filter((name) => name !== null)
  const own = missing.some(({ name }) => ownLibraries.includes(name))
  const ways = [
    ...(own ? ['all files called libonnxruntime... must come from one build: give its whole archive'] : []),
    ...(cudaMajor === pulledMajor ? ['myna runtime pull cuda installs all of them'] : []),
    ...(packages.length === 0
      ? []
      : [
          `pip download --no-deps -d cuda ${packages.join(' ')} downloads them: import the folder cuda in the same ` +
            'command',
        ]),
  ]
  const what = missing.length === 1 ? 'One library is missing' : `${missing.length} libraries are missing`
  const how = ways.length === 0 ? '' : ` To fix it: ${ways.join('; or ')}.`
  throw new RuntimeError('libraries_missing', `${what} for CUDA ${cudaMajor}: ${named}.${how}`)
}
